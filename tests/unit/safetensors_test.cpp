// safetensors headers, indices and checkpoints of several files.
#include "import/safetensors.h"

#include <gtest/gtest.h>

#include "import/safetensors_names.h"

namespace vramgauge {
namespace {

std::string file_of(std::string_view json) {
  const uint64_t length =
      json.size();  // 64 bits on every target: it is shifted through all of them
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i)
    bytes.push_back(static_cast<char>(length >> (8 * i) & 0xFF));
  return bytes.append(json);
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  uint64_t begin, uint64_t end) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[" +
         std::string(shape) + "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

ErrorCode code_of(std::string_view json) {
  const auto header = read_safetensors_header(file_of(json));
  return header ? ErrorCode::api_internal : header.error().front().code;
}

TEST(SafetensorsHeader, IsReadInTheOrderOfItsData) {
  const std::string json = "{" + entry("b", "BF16", "2,3", 4, 16) + " , " +
                           entry("a", "F32", "", 0, 4) +
                           ",\n\"__metadata__\":{\"format\":\"pt\",\"odd\":\"}{,\\\"\"}}   ";
  const auto header = read_safetensors_header(file_of(json) + "data");
  ASSERT_TRUE(header);
  ASSERT_EQ(header->tensors.size(), 2U);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_EQ(header->tensors[0].elements, 1U);
  EXPECT_EQ(header->tensors[1].elements, 6U);
  EXPECT_EQ(header->data_offset, 8 + json.size());
  EXPECT_EQ(header->data_bytes, 16U);
  ASSERT_EQ(header->metadata.size(), 2U);
  EXPECT_EQ(header->metadata[1].second, "}{,\"");
  EXPECT_TRUE(check_safetensors_length(*header, header->data_offset + 16).empty());
  EXPECT_EQ(check_safetensors_length(*header, header->data_offset + 15).size(), 1U);
  EXPECT_EQ(check_safetensors_length(*header, header->data_offset + 17).size(), 1U);
}

// Element sizes of the format's types: safetensors/src/tensor.rs.
TEST(SafetensorsHeader, KnowsEveryType) {
  const std::pair<const char*, uint64_t> kBytesOf24[] = {
      {"BOOL", 24}, {"F4", 12},      {"F6_E2M3", 18}, {"F6_E3M2", 18}, {"U8", 24},
      {"I8", 24},   {"F8_E5M2", 24}, {"F8_E4M3", 24}, {"F8_E8M0", 24}, {"F8_E4M3FNUZ", 24},
      {"I16", 48},  {"U16", 48},     {"F16", 48},     {"BF16", 48},    {"F8_E5M2FNUZ", 24},
      {"I32", 96},  {"U32", 96},     {"F32", 96},     {"C64", 192},    {"F64", 192},
      {"I64", 192}, {"U64", 192},
  };
  for (const auto& [dtype, bytes] : kBytesOf24) {
    const auto header =
        read_safetensors_header(file_of("{" + entry("t", dtype, "4,6", 0, bytes) + "}"));
    EXPECT_TRUE(header) << dtype;
  }
}

TEST(SafetensorsHeader, NamesEachMistake) {
  EXPECT_EQ(code_of("[]"), ErrorCode::safetensors_bad_start);
  EXPECT_EQ(code_of("{"), ErrorCode::safetensors_bad_start);
  EXPECT_EQ(code_of("{} x"), ErrorCode::safetensors_bad_start);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "1", 0, 1) + ",}"), ErrorCode::safetensors_bad_start);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "1", 0, 1) + entry("b", "U8", "1", 1, 2) + "}"),
            ErrorCode::json_syntax);
  EXPECT_EQ(code_of("{\"a\":1}"), ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{\"a\":{}}"), ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}"),
            ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}"),
            ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}"),
            ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "4294967296,4294967296", 0, 0) + "}"),
            ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{" + entry("a", "F4", "3", 0, 1) + "}"), ErrorCode::safetensors_bad_entry);
  EXPECT_EQ(code_of("{" + entry("a", "F7", "1", 0, 1) + "}"), ErrorCode::safetensors_unknown_dtype);
  EXPECT_EQ(code_of("{" + entry("a", "F16", "3", 0, 5) + "}"), ErrorCode::safetensors_wrong_size);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "4", 0, 4) + "," + entry("b", "U8", "4", 3, 7) + "}"),
            ErrorCode::safetensors_overlap);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "4", 0, 4) + "," + entry("b", "U8", "4", 5, 9) + "}"),
            ErrorCode::safetensors_hole);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "4", 1, 5) + "}"), ErrorCode::safetensors_hole);
  EXPECT_EQ(code_of("{" + entry("a", "U8", "4", 0, 4) + "," + entry("a", "U8", "4", 4, 8) + "}"),
            ErrorCode::safetensors_duplicate);
  EXPECT_EQ(
      code_of("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"),
      ErrorCode::json_duplicate_key);
}

TEST(SafetensorsHeader, SaysHowMuchItNeeds) {
  const std::string file = file_of("{" + entry("a", "U8", "4", 0, 4) + "}");
  for (size_t length = 0; length < file.size(); ++length) {
    const auto header = read_safetensors_header(file.substr(0, length));
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().front().code, ErrorCode::safetensors_header_incomplete) << length;
  }
  EXPECT_EQ(safetensors_header_length(file).value(), file.size());
  EXPECT_EQ(safetensors_header_length("<!doctype html>").error().front().code,
            ErrorCode::safetensors_header_too_large);
  // 100,000,001 bytes of header: one more than the format allows.
  EXPECT_EQ(
      safetensors_header_length(std::string("\x01\xE1\xF5\x05\0\0\0\0", 8)).error().front().code,
      ErrorCode::safetensors_header_too_large);
  EXPECT_TRUE(safetensors_header_length(std::string("\x00\xE1\xF5\x05\0\0\0\0", 8)));
}

SafetensorsFile shard(std::string name, const std::vector<std::string>& tensors) {
  std::string json = "{";
  for (size_t i = 0; i < tensors.size(); ++i) {
    json += (i == 0 ? "" : ",") + entry(tensors[i], "BF16", "8,4", 64 * i, 64 * (i + 1));
  }
  return {std::move(name), read_safetensors_header(file_of(json + "}")).value()};
}

constexpr const char* kIndex =
    R"({"metadata":{"total_size":128},"weight_map":{"model.embed_tokens.weight":"model-1.safetensors",)"
    R"("lm_head.weight":"model-2.safetensors"}})";

TEST(SafetensorsIndex, ListsFilesAndTotal) {
  const auto index = read_safetensors_index(kIndex);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->total_bytes, 128U);
  EXPECT_EQ(index->files, (std::vector<std::string>{"model-1.safetensors", "model-2.safetensors"}));
  EXPECT_EQ(read_safetensors_index(R"({"metadata":{"total_size":128.0},"weight_map":{"a":"b"}})")
                ->total_bytes,
            128U);
  for (const char* wrong : {"{}", R"({"weight_map":{}})", R"({"weight_map":{"a":1}})", "[]",
                            R"({"weight_map":{"a":"b"},"metadata":{"total_size":-1}})",
                            R"({"weight_map":{"a":"b"},"metadata":{"total_size":1e300}})"}) {
    const auto read = read_safetensors_index(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().front().code, ErrorCode::safetensors_bad_index) << wrong;
  }
}

TEST(SafetensorsFiles, AreJoined) {
  const auto index = read_safetensors_index(kIndex).value();
  const auto joined =
      join_safetensors({shard("x/model-2.safetensors", {"lm_head.weight"}),
                        shard("model-1.safetensors", {"model.embed_tokens.weight"})},
                       &index);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->total_bytes, 128U);
  EXPECT_TRUE(joined->warnings.empty());
  EXPECT_EQ(joined->tensors[0].weight.role, TensorRole::output);
  EXPECT_EQ(joined->tensors[0].weight.rows, 8U);
  EXPECT_EQ(joined->tensors[0].weight.cols, 4U);
  EXPECT_EQ(joined->tensors[0].dtype, "BF16");
}

TEST(SafetensorsFiles, MustHoldWhatTheIndexSays) {
  const auto index = read_safetensors_index(kIndex).value();
  const auto code = [&](std::vector<SafetensorsFile> files) {
    const auto joined = join_safetensors(std::move(files), &index);
    return joined ? ErrorCode::api_internal : joined.error().front().code;
  };
  EXPECT_EQ(code({shard("model-1.safetensors", {"model.embed_tokens.weight"})}),
            ErrorCode::safetensors_shard_missing);
  EXPECT_EQ(code({shard("model-1.safetensors", {"model.embed_tokens.weight", "lm_head.weight"})}),
            ErrorCode::safetensors_shard_missing);
  EXPECT_EQ(code({shard("model-1.safetensors", {"model.embed_tokens.weight"}),
                  shard("model-2.safetensors", {"model.embed_tokens.weight"})}),
            ErrorCode::safetensors_duplicate);
}

std::vector<ErrorCode> warnings_of(const SafetensorsCheckpoint& checkpoint) {
  std::vector<ErrorCode> codes;
  for (const Diagnostic& warning : checkpoint.warnings)
    codes.push_back(warning.code);
  return codes;
}

TEST(SafetensorsFiles, SecondSetOfTheSameWeightsIsLeftOut) {
  const auto joined =
      join_safetensors({shard("consolidated.safetensors", {"tok_embeddings.weight"}),
                        shard("model.safetensors", {"model.embed_tokens.weight"})},
                       nullptr);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->total_bytes, 64U);
  EXPECT_EQ(warnings_of(*joined), std::vector{ErrorCode::safetensors_duplicates_ignored});
  const auto alone =
      join_safetensors({shard("consolidated.safetensors", {"tok_embeddings.weight"})}, nullptr);
  EXPECT_EQ(alone->total_bytes, 64U);
  EXPECT_TRUE(alone->warnings.empty());
}

TEST(SafetensorsFiles, TiedOutputIsNotLoaded) {
  const std::vector<std::string> both = {"model.embed_tokens.weight", "lm_head.weight"};
  const auto untied = join_safetensors({shard("m.safetensors", both)}, nullptr);
  EXPECT_EQ(untied->total_bytes, 128U);
  const auto tied = join_safetensors({shard("m.safetensors", both)}, nullptr, {0, true});
  EXPECT_EQ(tied->total_bytes, 64U);
  EXPECT_EQ(warnings_of(*tied), std::vector{ErrorCode::safetensors_tied_output});
}

TEST(SafetensorsFiles, IndexAndFilesMayDisagree) {
  const auto index =
      read_safetensors_index(R"({"metadata":{"total_size":1},"weight_map":{"a":"m"}})").value();
  const auto joined = join_safetensors({shard("m", {"a"})}, &index);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->total_bytes, 64U);
  EXPECT_EQ(warnings_of(*joined), std::vector{ErrorCode::safetensors_index_mismatch});
}

TEST(SafetensorsFiles, AdaptersAreFlagged) {
  const auto joined =
      join_safetensors({shard("adapter_model.safetensors",
                              {"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                               "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight"})},
                       nullptr);
  EXPECT_EQ(joined->num_adapter_tensors, 2U);
  EXPECT_EQ(warnings_of(*joined), std::vector{ErrorCode::safetensors_adapter});
}

TEST(SafetensorsFiles, LayersOfPredictionAreMarkedAsAWhole) {
  const std::vector<std::string> names = {"model.layers.0.mlp.up_proj.weight",
                                          "model.layers.1.mlp.up_proj.weight",
                                          "model.layers.1.eh_proj.weight"};
  const auto by_names = join_safetensors({shard("m", names)}, nullptr);
  EXPECT_EQ(by_names->tensors[0].weight.role, TensorRole::mlp_up);
  EXPECT_EQ(by_names->tensors[1].weight.role, TensorRole::mtp);
  EXPECT_EQ(by_names->tensors[2].weight.role, TensorRole::mtp);
  const auto by_count = join_safetensors({shard("m", {names[1]})}, nullptr, {1, false});
  EXPECT_EQ(by_count->tensors[0].weight.role, TensorRole::mtp);
}

struct NameCase {
  const char* name;
  TensorRole role;
  int64_t layer;
  bool is_weight;
};

// Names as the checkpoints on the hub have them.
constexpr NameCase kNames[] = {
    {"model.embed_tokens.weight", TensorRole::embedding, -1, true},
    {"transformer.wpe.weight", TensorRole::position_embedding, -1, true},
    {"lm_head.weight", TensorRole::output, -1, true},
    {"model.norm.weight", TensorRole::norm, -1, false},
    {"model.layers.12.self_attn.q_proj.weight", TensorRole::attention_q, 12, true},
    {"model.layers.12.self_attn.q_proj.bias", TensorRole::attention_q, 12, false},
    {"model.layers.12.self_attn.q_norm.weight", TensorRole::norm, 12, false},
    {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight", TensorRole::attention_k, 0, true},
    {"model.layers.0.self_attn.kv_b_proj.weight", TensorRole::attention_v, 0, true},
    {"model.layers.0.self_attn.kv_a_layernorm.weight", TensorRole::norm, 0, false},
    {"transformer.h.3.self_attention.query_key_value.weight", TensorRole::attention_qkv, 3, true},
    {"transformer.h.3.self_attention.dense.weight", TensorRole::attention_output, 3, true},
    {"transformer.h.3.mlp.dense_h_to_4h.weight", TensorRole::mlp_up, 3, true},
    {"transformer.h.3.attn.c_proj.weight", TensorRole::attention_output, 3, true},
    {"transformer.h.3.mlp.c_proj.weight", TensorRole::mlp_down, 3, true},
    {"model.layers.5.mlp.gate_up_proj.weight", TensorRole::mlp_up, 5, true},
    {"model.layers.5.mlp.down_proj.qweight", TensorRole::mlp_down, 5, true},
    {"model.layers.5.mlp.down_proj.scales", TensorRole::mlp_down, 5, false},
    {"model.layers.5.mlp.down_proj.weight_packed", TensorRole::mlp_down, 5, true},
    {"model.layers.5.mlp.down_proj.weight_scale_inv", TensorRole::mlp_down, 5, false},
    {"model.layers.5.mlp.gate.weight", TensorRole::router, 5, true},
    {"model.layers.5.mlp.gate.e_score_correction_bias", TensorRole::router, 5, false},
    {"model.layers.5.mlp.experts.17.gate_proj.weight", TensorRole::expert_gate, 5, true},
    {"model.layers.5.mlp.experts.gate_up_proj_blocks", TensorRole::expert_up, 5, true},
    {"model.layers.5.mlp.experts.gate_up_proj_scales", TensorRole::expert_up, 5, false},
    {"model.layers.5.mlp.experts.down_proj", TensorRole::expert_down, 5, true},
    {"model.layers.5.mlp.shared_experts.up_proj.weight", TensorRole::shared_expert_up, 5, true},
    {"model.layers.5.mlp.shared_expert_gate.weight", TensorRole::router, 5, true},
    {"model.layers.5.block_sparse_moe.experts.7.w2.weight", TensorRole::expert_down, 5, true},
    {"model.layers.5.linear_attn.in_proj_qkvz.weight", TensorRole::recurrent, 5, true},
    {"model.layers.5.linear_attn.out_proj.weight", TensorRole::recurrent, 5, true},
    {"backbone.layers.5.mixer.in_proj.weight", TensorRole::recurrent, 5, true},
    {"backbone.layers.5.mixer.out_proj.weight", TensorRole::recurrent, 5, true},
    {"backbone.layers.5.mixer.up_proj.weight", TensorRole::mlp_up, 5, true},
    {"backbone.embeddings.weight", TensorRole::embedding, -1, true},
    {"model.language_model.layers.5.self_attn.o_proj.weight", TensorRole::attention_output, 5,
     true},
    {"model.visual.blocks.3.attn.qkv.weight", TensorRole::vision, -1, true},
    {"vision_tower.encoder.layers.3.self_attn.q_proj.weight", TensorRole::vision, -1, true},
    {"multi_modal_projector.linear_1.weight", TensorRole::projector, -1, true},
    {"audio_tower.layers.0.fc1.weight", TensorRole::audio, -1, true},
    {"mtp.layers.0.self_attn.q_proj.weight", TensorRole::mtp, 0, true},
    {"something.unheard.of", TensorRole::other, -1, false},
};

TEST(SafetensorsNames, SayWhatATensorIsFor) {
  for (const NameCase& each : kNames) {
    const SafetensorsName name = read_safetensors_name(each.name);
    EXPECT_EQ(name.role, each.role) << each.name;
    EXPECT_EQ(name.layer, each.layer) << each.name;
    EXPECT_EQ(name.is_weight, each.is_weight) << each.name;
  }
}

}  // namespace
}  // namespace vramgauge

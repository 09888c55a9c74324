// What import_gguf reads from keys and tensors of headers made by hand, and what it refuses.
#include <gtest/gtest.h>

#include "import/gguf_model.h"
#include "import/gguf_tensors.h"

namespace vramgauge {
namespace {

GgufString text_of(std::string text) { return {text.size(), true, std::move(text)}; }

/// A header as the reader would have made it.
class Header {
 public:
  explicit Header(std::string arch) : arch_(std::move(arch)) {
    set("general.architecture", text_of(arch_));
  }

  Header& set(std::string key, GgufValue value) {
    header_.entries.push_back({std::move(key), std::move(value), 0});
    return *this;
  }
  Header& key(const std::string& name, uint64_t value) { return set(arch_ + "." + name, value); }
  Header& list(const std::string& name, const std::vector<bool>& values) {
    GgufArray array{GgufType::boolean, values.size(), true, false, ""};
    for (const bool value : values)
      array.raw.push_back(value ? 1 : 0);
    return set(arch_ + "." + name, array);
  }
  Header& tensor(std::string name, std::array<uint64_t, 4> dims) {
    GgufTensorInfo info;
    info.name = std::move(name);
    info.dims = dims;
    for (info.num_dims = 4; info.num_dims > 1 && dims[info.num_dims - 1] == 1;)
      --info.num_dims;
    header_.tensors.push_back(info);
    return *this;
  }
  Header& matrix(std::string name, uint64_t cols, uint64_t rows) {
    return tensor(std::move(name), {cols, rows, 1, 1});
  }
  Header& vector(std::string name, uint64_t elements) {
    return tensor(std::move(name), {elements, 1, 1, 1});
  }

  /// hidden 64, 4 query and 2 KV heads of 16.
  Header& dims(uint64_t num_layers) {
    return key("block_count", num_layers)
        .key("embedding_length", 64)
        .key("context_length", 4096)
        .key("attention.head_count", 4)
        .key("attention.head_count_kv", 2)
        .matrix("token_embd.weight", 64, 100)
        .vector("output_norm.weight", 64);
  }
  Header& attention(uint64_t layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    return vector(blk + "attn_norm.weight", 64)
        .matrix(blk + "attn_q.weight", 64, 64)
        .matrix(blk + "attn_k.weight", 64, 32)
        .matrix(blk + "attn_v.weight", 64, 32)
        .matrix(blk + "attn_output.weight", 64, 64);
  }
  Header& dense(uint64_t layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    return vector(blk + "ffn_norm.weight", 64)
        .matrix(blk + "ffn_gate.weight", 64, 128)
        .matrix(blk + "ffn_up.weight", 64, 128)
        .matrix(blk + "ffn_down.weight", 128, 64);
  }
  Header& decoder(uint64_t num_layers) {
    dims(num_layers);
    for (uint64_t layer = 0; layer < num_layers; ++layer)
      attention(layer).dense(layer);
    return *this;
  }

  GgufHeader& get() { return header_; }

 private:
  std::string arch_;
  GgufHeader header_;
};

ErrorCode code_of(Header header) {
  const auto model = import_gguf(header.get());
  return model ? ErrorCode::api_internal : model.error().front().code;
}

ModelSpec spec_of(Header header) { return import_gguf(header.get()).value().spec; }

const Attention& attention_of(const ModelSpec& spec, size_t layer) {
  return std::get<Attention>(spec.layers[layer].mixers.at(0));
}

TEST(GgufImport, ReadsAPlainDecoder) {
  const ModelSpec spec = spec_of(Header("llama").decoder(2));
  EXPECT_EQ(spec.model_type, "llama");
  EXPECT_EQ(spec.vocab_size, 100U);
  EXPECT_EQ(spec.max_context_tokens, 4096U);
  EXPECT_TRUE(spec.tie_word_embeddings);
  EXPECT_EQ(attention_of(spec, 1).num_kv_heads, 2U);
  EXPECT_EQ(attention_of(spec, 1).head_dim, 16U);
  EXPECT_EQ(std::get<DenseFfn>(spec.layers[1].ffn).intermediate_size, 128U);
  EXPECT_TRUE(std::get<DenseFfn>(spec.layers[1].ffn).is_gated);
  EXPECT_EQ(spec.layers[1].norms, (std::vector<uint64_t>{64, 64}));
}

TEST(GgufImport, RefusesWhatIsNoModelThatGenerates) {
  EXPECT_EQ(code_of(Header("brand-new").decoder(1)), ErrorCode::model_unknown_architecture);
  EXPECT_EQ(code_of(Header("bert").decoder(1)), ErrorCode::model_encoder_only);
  EXPECT_EQ(code_of(Header("clip")), ErrorCode::model_unsupported);
  EXPECT_EQ(code_of(Header("llama").decoder(1).set("general.type", text_of("adapter"))),
            ErrorCode::model_adapter);
  EXPECT_EQ(code_of(Header("llama").decoder(1).set("general.type", text_of("mmproj"))),
            ErrorCode::model_unsupported);
  EXPECT_EQ(import_gguf(GgufHeader()).error().front().code, ErrorCode::gguf_missing_key);
  Header part = Header("llama").decoder(1);
  part.get().split = GgufSplit{0, 2, 10};
  EXPECT_EQ(code_of(part), ErrorCode::gguf_shard_missing);
}

TEST(GgufImport, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(code_of(Header("llama").attention(0)), ErrorCode::gguf_missing_key);
  EXPECT_EQ(code_of(Header("llama").key("block_count", 0)), ErrorCode::gguf_bad_key);
  EXPECT_EQ(code_of(Header("llama").key("block_count", uint64_t{1} << 40)),
            ErrorCode::gguf_bad_key);
  EXPECT_EQ(code_of(Header("llama").key("block_count", 1)), ErrorCode::gguf_missing_tensor);
  EXPECT_EQ(code_of(Header("llama").decoder(1).attention(1)), ErrorCode::gguf_shape_conflict);
  EXPECT_EQ(code_of(Header("llama").dims(2).attention(0).dense(0)), ErrorCode::gguf_missing_tensor);
  EXPECT_EQ(code_of(Header("llama").dims(1).matrix("blk.0.attn_q.weight", 64, 48)),
            ErrorCode::gguf_shape_conflict);
  EXPECT_EQ(code_of(Header("llama").dims(1).matrix("blk.0.attn_q.weight", 64, 64)),
            ErrorCode::gguf_missing_tensor);
  EXPECT_EQ(code_of(Header("llama").dims(1).attention(0).tensor("blk.0.ffn_down_exps.weight",
                                                                {128, 64, 8, 1})),
            ErrorCode::gguf_missing_key);
}

TEST(GgufImport, UnknownTensorsAreNamed) {
  Header header = Header("llama").decoder(1).vector("blk.0.novelty.weight", 3);
  const auto model = import_gguf(header.get());
  ASSERT_TRUE(model);
  ASSERT_EQ(model->warnings.size(), 1U);
  EXPECT_EQ(model->warnings[0].code, ErrorCode::gguf_unknown_tensor);
}

std::vector<uint64_t> windows_of(const ModelSpec& spec) {
  std::vector<uint64_t> windows;
  for (size_t i = 0; i < spec.layers.size(); ++i)
    windows.push_back(attention_of(spec, i).window_tokens);
  return windows;
}

using Windows = std::vector<uint64_t>;

// The patterns that llama.cpp has in its code (src/models/).
TEST(GgufImport, WindowsFollowTheFamily) {
  const auto windows = [](const char* arch, uint64_t num_layers) {
    return windows_of(spec_of(Header(arch).decoder(num_layers).key("attention.sliding_window", 8)));
  };
  EXPECT_EQ(windows("llama", 2), (Windows{8, 8}));
  EXPECT_EQ(windows("gemma2", 4), (Windows{8, 0, 8, 0}));
  EXPECT_EQ(windows("gemma3", 7), (Windows{8, 8, 8, 8, 8, 0, 8}));
  EXPECT_EQ(windows("cohere2", 4), (Windows{8, 8, 8, 0}));
  EXPECT_EQ(windows("gpt-oss", 3), (Windows{8, 0, 8}));
  EXPECT_EQ(windows("exaone4", 4), (Windows{8, 8, 8, 0}));
  EXPECT_EQ(windows("smallthinker", 5), (Windows{0, 8, 8, 8, 0}));
  EXPECT_EQ(windows_of(spec_of(Header("gemma2").decoder(2))), (Windows{4096, 0}));
  EXPECT_EQ(windows_of(spec_of(Header("gemma3").decoder(2))), (Windows{0, 0}));
}

TEST(GgufImport, PatternKeysOverrideTheFamily) {
  const auto base = [](const char* arch) {
    return Header(arch).decoder(3).key("attention.sliding_window", 8);
  };
  EXPECT_EQ(windows_of(spec_of(base("gemma3").key("attention.sliding_window_pattern", 2))),
            (Windows{8, 0, 8}));
  EXPECT_EQ(windows_of(spec_of(
                base("gemma4").list("attention.sliding_window_pattern", {false, true, true}))),
            (Windows{0, 8, 8}));
  EXPECT_EQ(code_of(base("gemma4").list("attention.sliding_window_pattern", {true})),
            ErrorCode::gguf_bad_key)
      << "one item for three layers";
}

TEST(GgufImport, UnusedWindowIsAWarning) {
  Header header = Header("qwen3").decoder(1).key("attention.sliding_window", 8);
  const auto model = import_gguf(header.get());
  ASSERT_TRUE(model);
  ASSERT_EQ(model->warnings.size(), 1U);
  EXPECT_EQ(model->warnings[0].code, ErrorCode::model_not_exact);
}

TEST(GgufImport, ChunksOfLlama4) {
  const ModelSpec spec = spec_of(Header("llama4").decoder(5));
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(attention_of(spec, i).chunk_tokens, i == 3 ? 0U : 8192U) << i;
  EXPECT_EQ(attention_of(spec_of(Header("llama4").decoder(1).key("attention.sliding_window", 0)), 0)
                .chunk_tokens,
            0U);
}

TEST(GgufImport, LastLayersShareCaches) {
  const ModelSpec spec =
      spec_of(Header("gemma4")
                  .decoder(5)
                  .key("attention.sliding_window", 8)
                  .list("attention.sliding_window_pattern", {true, false, true, true, false})
                  .key("attention.shared_kv_layers", 2));
  EXPECT_FALSE(attention_of(spec, 2).cache_shared_with);
  EXPECT_EQ(attention_of(spec, 3).cache_shared_with, 2U) << "the last windowed layer that stores";
  EXPECT_EQ(attention_of(spec, 4).cache_shared_with, 1U) << "the last full layer that stores";
  EXPECT_EQ(code_of(Header("gemma4")
                        .decoder(2)
                        .key("attention.sliding_window", 8)
                        .list("attention.sliding_window_pattern", {true, false})
                        .key("attention.shared_kv_layers", 1)),
            ErrorCode::gguf_bad_key);
}

TEST(GgufImport, ExpertsListedOneByOne) {
  Header header =
      Header("llama").dims(1).attention(0).key("expert_count", 2).key("expert_used_count", 1);
  header.matrix("blk.0.ffn_gate_inp.weight", 64, 2);
  for (const std::string expert : {"0", "1"}) {
    header.matrix("blk.0.ffn_gate." + expert + ".weight", 64, 128)
        .matrix("blk.0.ffn_up." + expert + ".weight", 64, 128)
        .matrix("blk.0.ffn_down." + expert + ".weight", 128, 64);
  }
  const ModelSpec spec = spec_of(header);
  const auto& moe = std::get<MoeFfn>(spec.layers[0].ffn);
  EXPECT_EQ(moe.num_experts, 2U);
  EXPECT_EQ(moe.moe_intermediate_size, 128U);
  EXPECT_TRUE(moe.is_gated);
  EXPECT_TRUE(spec.layers[0].extras.empty());
  EXPECT_EQ(read_gguf_tensor_name("blk.0.ffn_down.1.weight").role, TensorRole::expert_down);
}

// Kimi Linear: layers of delta attention have convolutions of their own for queries, keys, values.
TEST(GgufImport, KimiDelta) {
  Header header = Header("kimi-linear").dims(1).key("kda.head_dim", 16).key("ssm.conv_kernel", 4);
  for (const std::string name : {"attn_q", "attn_k", "attn_v", "attn_output"})
    header.matrix("blk.0." + name + ".weight", 64, 64);
  for (const std::string name : {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"})
    header.tensor("blk.0." + name + ".weight", {4, 1, 64, 1});
  const ModelSpec spec = spec_of(header.dense(0));
  ASSERT_EQ(spec.layers[0].mixers.size(), 1U);
  const auto& delta = std::get<GatedDelta>(spec.layers[0].mixers[0]);
  EXPECT_TRUE(delta.is_channel_wise);
  EXPECT_EQ(delta.num_v_heads, 4U);
  EXPECT_EQ(delta.d_conv, 4U);
}

TEST(GgufTensorNames, SayWhatATensorIsFor) {
  EXPECT_EQ(read_gguf_tensor_name("blk.3.attn_q.weight").name, "self_attn.q_proj");
  EXPECT_EQ(read_gguf_tensor_name("blk.3.attn_q.weight").layer, 3);
  EXPECT_EQ(read_gguf_tensor_name("blk.3.attn_q.bias").name, "self_attn.q_proj.bias");
  EXPECT_FALSE(read_gguf_tensor_name("blk.3.attn_q.bias").is_matrix);
  EXPECT_EQ(read_gguf_tensor_name("token_embd.weight").role, TensorRole::embedding);
  EXPECT_EQ(read_gguf_tensor_name("output.weight").role, TensorRole::output);
  EXPECT_EQ(read_gguf_tensor_name("v.blk.0.attn_q.weight").role, TensorRole::vision);
  EXPECT_EQ(read_gguf_tensor_name("mm.0.weight").role, TensorRole::projector);
  EXPECT_EQ(read_gguf_tensor_name("blk.1.nextn.eh_proj.weight").role, TensorRole::mtp);
  for (const char* unknown : {"blk.x.attn_q.weight", "blk.99999999999999999999.attn_q.weight",
                              "blk.1", "blk.", "blk.1.novelty.weight", "novelty"}) {
    EXPECT_FALSE(read_gguf_tensor_name(unknown).is_known) << unknown;
  }
}

}  // namespace
}  // namespace vramgauge

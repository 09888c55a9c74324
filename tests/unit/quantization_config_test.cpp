// quantization_config in its dialects: what is stored how, in bytes derived by hand.
#include "import/quantization_config.h"

#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "units/name_pattern.h"

namespace vramgauge {
namespace {

WeightTensor matrix(std::string name, TensorRole role, uint64_t rows, uint64_t cols,
                    uint64_t count = 1) {
  WeightTensor tensor;
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.layer = tensor.name.find("layers.") == std::string::npos ? -1 : 0;
  tensor.rows = rows;
  tensor.cols = cols;
  tensor.count = count;
  return tensor;
}

/// One layer with a projection of 256 x 512, a down projection of 512 x 1024, a router, four
/// experts of 128 x 512, a norm, a vision matrix, an embedding and a head of 1000 x 512.
std::vector<WeightTensor> small_model() {
  std::vector<WeightTensor> tensors;
  tensors.push_back(matrix("model.embed_tokens", TensorRole::embedding, 1000, 512));
  tensors.push_back(matrix("model.layers.0.self_attn.q_proj", TensorRole::attention_q, 256, 512));
  tensors.push_back(matrix("model.layers.0.mlp.down_proj", TensorRole::mlp_down, 512, 1024));
  tensors.push_back(matrix("model.layers.0.mlp.gate", TensorRole::router, 4, 512));
  tensors.push_back(
      matrix("model.layers.0.mlp.experts.up_proj", TensorRole::expert_up, 128, 512, 4));
  tensors.push_back(matrix("model.layers.0.input_layernorm", TensorRole::norm, 1, 512));
  tensors.back().is_matrix = false;
  tensors.push_back(matrix("vision_tower.blocks.attn.qkv", TensorRole::vision, 64, 64));
  tensors.push_back(matrix("lm_head", TensorRole::output, 1000, 512));
  return tensors;
}

constexpr uint64_t kEmbedding = 1000 * 512 * 2;
constexpr uint64_t kQuery = 256 * 512;
constexpr uint64_t kDown = 512 * 1024;
constexpr uint64_t kRouter = 4 * 512 * 2;
constexpr uint64_t kExpert = 128 * 512;
constexpr uint64_t kNorm = 512 * 2;
constexpr uint64_t kVision = 64 * 64 * 2;
/// Embedding, router, norm, vision and head at 16 bits.
constexpr uint64_t kPlain = 2 * kEmbedding + kRouter + kNorm + kVision;

ModelSpec small_spec() {
  ModelSpec spec;
  spec.dtype = "bfloat16";
  spec.layers.resize(1);
  return spec;
}

Result<std::optional<QuantizationConfig>> read(const std::string& text) {
  const auto config = json::parse("{\"quantization_config\":" + text + "}");
  if (!config) return fail(config.error());
  return read_quantization(*config, nullptr);
}

Result<FormattedWeights> sized(const QuantizationConfig& quantization) {
  const std::vector<WeightTensor> tensors = small_model();
  return format_resolved(tensors, small_spec(),
                         resolve_quantization(tensors, small_spec(), quantization));
}

Result<FormattedWeights> weights(const std::string& text) {
  auto config = read(text);
  if (!config) return fail(config.error());
  return sized(**config);
}

uint64_t bytes(const std::string& text) {
  const auto result = weights(text);
  if (result) return result->total.count();
  ADD_FAILURE() << text << ": " << message_of(result.error().front());
  return 0;
}

ErrorCode error_of(const std::string& text) {
  const auto result = weights(text);
  if (!result) return result.error().front().code;
  ADD_FAILURE() << text << " was read";
  return ErrorCode::api_internal;
}

/// GPTQ g128: codes / 2, per group and output 2 bytes of scale and half a byte of zero, 4 bytes of
/// index per input.
constexpr uint64_t gptq_bytes(uint64_t rows, uint64_t cols) {
  return rows * cols / 2 + rows * (cols / 128) * 5 / 2 + cols * 4;
}
constexpr uint64_t awq_bytes(uint64_t rows, uint64_t cols) {
  return gptq_bytes(rows, cols) - cols * 4;
}

TEST(QuantizationConfig, Gptq) {
  const uint64_t expected =
      kPlain + gptq_bytes(256, 512) + gptq_bytes(512, 1024) + 4 * gptq_bytes(128, 512);
  for (const std::string order : {"true", "false"}) {
    EXPECT_EQ(
        bytes(R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":)" + order + "}"),
        expected);
  }
}

/// One group per row: scales and zeros once per output.
// vLLM keeps the group index of reordered activations, and no zeros of symmetric weights.
TEST(QuantizationConfig, GptqOrderAndSymmetry) {
  const auto scheme_of = [](const std::string& keys) {
    const auto config = read(R"({"quant_method":"gptq","bits":4,"group_size":128)" + keys + "}");
    return config.value().value().rules.front().scheme;
  };
  EXPECT_FALSE(scheme_of("").is_act_ordered);
  EXPECT_TRUE(scheme_of("").is_symmetric);
  EXPECT_TRUE(scheme_of(R"(,"desc_act":true)").is_act_ordered);
  EXPECT_FALSE(scheme_of(R"(,"sym":false)").is_symmetric);
}

TEST(QuantizationConfig, GptqWholeRow) {
  const auto row_bytes = [](uint64_t rows, uint64_t cols) {
    return rows * cols / 2 + rows * 5 / 2 + cols * 4;
  };
  EXPECT_EQ(bytes(R"({"quant_method":"gptq","bits":4,"group_size":-1})"),
            kPlain + row_bytes(256, 512) + row_bytes(512, 1024) + 4 * row_bytes(128, 512));
}

TEST(QuantizationConfig, GptqExceptions) {
  EXPECT_EQ(bytes(R"({"quant_method":"gptq","bits":4,"group_size":128,
                      "dynamic":{"-:.*attn.*":{},"-:.*experts\\.\\d+\\..*":{}}})"),
            kPlain + 2 * kQuery + gptq_bytes(512, 1024) + 4 * 2 * kExpert);
  // 8 bits: codes whole, a byte of zero.
  EXPECT_EQ(bytes(R"({"quant_method":"gptq","bits":4,"group_size":128,
                      "dynamic":{"+:.*down_proj":{"bits":8}}})"),
            kPlain + gptq_bytes(256, 512) + 4 * gptq_bytes(128, 512) + kDown +
                512 * (1024 / 128) * 3 + 1024 * 4);
}

TEST(QuantizationConfig, Awq) {
  EXPECT_EQ(bytes(R"({"quant_method":"awq","bits":4,"group_size":128,"version":"gemm",
                      "modules_to_not_convert":["self_attn"]})"),
            kPlain + 2 * kQuery + awq_bytes(512, 1024) + 4 * awq_bytes(128, 512));
}

/// Vision layers count, unless they are skipped.
TEST(QuantizationConfig, Bitsandbytes) {
  const auto flat = [](uint64_t elements) { return elements / 2 + elements / 64 * 4; };
  EXPECT_EQ(bytes(R"({"quant_method":"bitsandbytes","load_in_4bit":true,"load_in_8bit":false})"),
            2 * kEmbedding + kRouter + kNorm + flat(kQuery) + flat(kDown) + 4 * flat(kExpert) +
                flat(64 * 64));
  const auto nested = [](uint64_t elements) {
    return elements / 2 + elements / 64 + (elements / 64 + 255) / 256 * 4;
  };
  EXPECT_EQ(bytes(R"({"quant_method":"bitsandbytes","load_in_4bit":true,
                      "bnb_4bit_use_double_quant":true,
                      "llm_int8_skip_modules":["vision_tower","lm_head"]})"),
            kPlain + nested(kQuery) + nested(kDown) + 4 * nested(kExpert));
  EXPECT_EQ(error_of(R"({"quant_method":"bitsandbytes"})"), ErrorCode::format_refused);
}

TEST(QuantizationConfig, Fp8) {
  // 128 x 128: 2 x 4, 4 x 8 and 1 x 4 scales.
  EXPECT_EQ(bytes(R"({"quant_method":"fp8","weight_block_size":[128,128]})"),
            kPlain + kQuery + 8 * 4 + kDown + 32 * 4 + 4 * (kExpert + 4 * 4));
  // A scale and one for the inputs.
  EXPECT_EQ(bytes(R"({"quant_method":"fp8","activation_scheme":"static","weight_block_size":null,
                      "modules_to_not_convert":["model.vision_tower","lm_head"]})"),
            kPlain + kQuery + kDown + 4 * kExpert + 6 * 8);
  EXPECT_EQ(bytes(R"({"quant_method":"fbgemm_fp8","modules_to_not_convert":["down_proj"]})"),
            kPlain + kQuery + 256 * 4 + 2 * kDown + 4 * (kExpert + 128 * 4));
}

TEST(QuantizationConfig, CompressedTensors) {
  const std::string head = R"({"quant_method":"compressed-tensors","format":"pack-quantized",
      "ignore":["lm_head","re:.*self_attn.*"],"config_groups":{"group_0":{"targets":["Linear"],)";
  const uint64_t down = kDown / 2 + 512 * (1024 / 32) * 2;
  const uint64_t expert = kExpert / 2 + 128 * (512 / 32) * 2;
  EXPECT_EQ(bytes(head + R"("weights":{"num_bits":4,"type":"int","strategy":"group",
                      "group_size":32,"symmetric":true}}}})"),
            kPlain + 2 * kQuery + down + 4 * expert);
  // Zeros: 4 bits per group and output.
  EXPECT_EQ(bytes(head + R"("weights":{"num_bits":4,"type":"int","strategy":"group",
                      "group_size":32,"symmetric":false}}}})"),
            kPlain + 2 * kQuery + down + 512 * 32 / 2 + 4 * (expert + 128 * 16 / 2));
}

/// A head that is not ignored is quantised; two groups by pattern, one FP8 in blocks, one NVFP4.
TEST(QuantizationConfig, CompressedTensorsGroups) {
  EXPECT_EQ(
      bytes(R"({"quant_method":"compressed-tensors","format":"mixed-precision","ignore":[],
      "config_groups":{
       "group_0":{"format":"float-quantized","targets":["re:.*attn.*(q|k)_proj$"],
         "weights":{"num_bits":8,"type":"float","strategy":"block","block_structure":[128,128]}},
       "group_1":{"format":"nvfp4-pack-quantized","targets":["re:.*mlp.*(up|down)_proj$"],
         "input_activations":{"num_bits":4,"type":"float"},
         "weights":{"num_bits":4,"type":"float","strategy":"tensor_group","group_size":16}}}})"),
      kPlain + kQuery + 8 * 2 + kDown / 2 + kDown / 16 + 8 + 4 * (kExpert / 2 + kExpert / 16 + 8));
  EXPECT_EQ(bytes(R"({"quant_method":"compressed-tensors","format":"int-quantized",
      "config_groups":{"group_0":{"targets":["Linear"],
         "weights":{"num_bits":8,"type":"int","strategy":"channel"}}}})"),
            kPlain - kEmbedding + 1000 * 514 + kQuery + 256 * 2 + kDown + 512 * 2 +
                4 * (kExpert + 128 * 2));
}

TEST(QuantizationConfig, CompressedTensorsRefusals) {
  const std::string head = R"({"quant_method":"compressed-tensors","config_groups":{"g":{
      "targets":["Linear"],"weights":{"num_bits":4,"type":"int","strategy":"channel"}}},)";
  EXPECT_EQ(error_of(head + R"("format":"marlin-24"})"), ErrorCode::format_unknown_quantization);
  EXPECT_EQ(error_of(head + R"("sparsity_config":{"format":"sparse-24-bitmask"}})"),
            ErrorCode::format_refused);
  EXPECT_EQ(error_of(head + R"("ignore":["re:^(?!.*experts).*"]})"),
            ErrorCode::format_unsupported_pattern);
}

TEST(QuantizationConfig, Modelopt) {
  const auto nvfp4 = [](uint64_t elements) { return elements / 2 + elements / 16; };
  EXPECT_EQ(bytes(R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":16,
                      "exclude_modules":["lm_head","model.layers.0.self_attn*"]})"),
            kPlain + 2 * kQuery + nvfp4(kDown) + 8 + 4 * (nvfp4(kExpert) + 8));
  EXPECT_EQ(bytes(R"({"quant_method":"modelopt","quant_algo":"MIXED_PRECISION","ignore":["mtp*"],
      "quantized_layers":{"model.language_model.layers.0.self_attn.q_proj":{"quant_algo":"FP8"},
       "model.language_model.layers.0.mlp.experts":{"quant_algo":"W4A16_NVFP4","group_size":16}}})"),
            kPlain + kQuery + 8 + 2 * kDown + 4 * (nvfp4(kExpert) + 4));
  EXPECT_EQ(error_of(R"({"quant_method":"modelopt","quant_algo":"MIXED_PRECISION"})"),
            ErrorCode::format_refused);
}

/// hf_quant_config.json; one without a list says so.
TEST(QuantizationConfig, ModeloptBeside) {
  const auto config = json::parse("{}");
  const auto beside =
      json::parse(R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"FP8"}})");
  const auto quantization = read_quantization(*config, &*beside);
  ASSERT_TRUE(quantization.has_value() && quantization->has_value());
  const auto result = sized(**quantization);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->total.count(), kPlain + kQuery + kDown + 4 * kExpert + 6 * 8);
  ASSERT_EQ(result->warnings.size(), 1U);
  EXPECT_EQ(result->warnings.front().code, ErrorCode::format_no_module_list);
}

TEST(QuantizationConfig, Mxfp4) {
  EXPECT_EQ(bytes(R"({"quant_method":"mxfp4","modules_to_not_convert":
                      ["model.layers.*.self_attn","model.layers.*.mlp.router","lm_head"]})"),
            kPlain + 2 * kQuery + 2 * kDown + 4 * (kExpert / 2 + kExpert / 32));
}

TEST(QuantizationConfig, TorchaoHqqQuarkMlx) {
  const auto affine = [](uint64_t elements, uint64_t group) {
    return elements / 2 + elements / group * 4;
  };
  EXPECT_EQ(bytes(R"({"quant_method":"torchao","quant_type":"int4_weight_only",
                      "quant_type_kwargs":{"group_size":64},
                      "modules_to_not_convert":["vision_tower","mlp.gate"]})"),
            kPlain + affine(kQuery, 64) + affine(kDown, 64) + 4 * affine(kExpert, 64));
  EXPECT_EQ(bytes(R"({"quant_method":"hqq","quant_config":{"weight_quant_params":
                      {"nbits":4,"group_size":64}},"skip_modules":["vision_tower","gate","lm_head"]})"),
            kPlain + affine(kQuery, 64) + affine(kDown, 64) + 4 * affine(kExpert, 64));
  EXPECT_EQ(bytes(R"({"quant_method":"quark","exclude":["lm_head","re:.*self_attn.*"],
                      "global_quant_config":{"weight":{"dtype":"fp4","qscheme":"per_group",
                      "group_size":32,"scale_format":"e8m0"}}})"),
            kPlain + 2 * kQuery + kDown / 2 + kDown / 32 + 4 * (kExpert / 2 + kExpert / 32));
  EXPECT_EQ(bytes(R"({"group_size":64,"bits":4})"),
            2 * affine(1000 * 512, 64) + affine(4 * 512, 64) + affine(64 * 64, 64) + kNorm +
                affine(kQuery, 64) + affine(kDown, 64) + 4 * affine(kExpert, 64));
}

/// Trellis: codes and two bytes per input and output, padded to 128; the head at 6 bits.
TEST(QuantizationConfig, Exl) {
  const auto trellis = [](uint64_t rows, uint64_t cols, uint64_t bits) {
    return rows * cols * bits / 8 + 2 * (rows + cols);
  };
  EXPECT_EQ(bytes(R"({"quant_method":"exl3","bits":4.0,"head_bits":6})"),
            kPlain - kEmbedding + trellis(1024, 512, 6) + trellis(256, 512, 4) +
                trellis(512, 1024, 4) + 4 * trellis(128, 512, 4));
  EXPECT_EQ(error_of(R"({"quant_method":"exl3","bits":3.5})"), ErrorCode::format_refused);
  EXPECT_EQ(error_of(R"({"quant_method":"exl2","bits":4.0})"), ErrorCode::format_refused);
}

TEST(QuantizationConfig, UnknownAndAbsent) {
  EXPECT_EQ(error_of(R"({"quant_method":"vptq"})"), ErrorCode::format_unknown_quantization);
  EXPECT_EQ(error_of(R"({})"), ErrorCode::format_unknown_quantization);
  const auto none = json::parse("{}");
  EXPECT_FALSE(read_quantization(*none, nullptr)->has_value());
}

TEST(QuantizationConfig, NamesThatMeanNothingAreReported) {
  const auto result =
      weights(R"({"quant_method":"fp8","modules_to_not_convert":["lm_head","nowhere"]})");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->warnings.size(), 1U);
  EXPECT_EQ(result->warnings.front().code, ErrorCode::format_unmatched_modules);
  EXPECT_NE(message_of(result->warnings.front()).find("nowhere"), std::string::npos);
}

/// Experts of a layer are one entry; a list that treats them differently has no one answer.
TEST(QuantizationConfig, ExpertsThatDiffer) {
  EXPECT_EQ(error_of(R"({"quant_method":"fp8","modules_to_not_convert":
                         ["model.layers.0.mlp.experts.3.up_proj"]})"),
            ErrorCode::format_refused);
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto compiled = NamePattern::expression(pattern);
  EXPECT_TRUE(compiled.has_value()) << pattern;
  return compiled && compiled->matches(name);
}

/// Checked against Python's re.match.
TEST(NamePattern, Expressions) {
  EXPECT_TRUE(matches(".*self_attn.*", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(matches(".*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.up_proj"));
  EXPECT_FALSE(
      matches(".*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.experts.0.up_proj"));
  EXPECT_TRUE(matches("model", "model.layers"));
  EXPECT_FALSE(matches("layers", "model.layers"));
  EXPECT_FALSE(matches(".*\\.mlp\\.gate$", "model.layers.0.mlp.gate_proj"));
  EXPECT_TRUE(matches("^model\\.layers\\.[0-3]\\..*", "model.layers.2.x"));
  EXPECT_FALSE(matches("model\\.layers\\.[^0-3]\\.", "model.layers.2.x"));
  EXPECT_TRUE(matches("layers\\.\\d{2}\\.", "layers.12.x"));
  EXPECT_FALSE(matches("layers\\.\\d{2}\\.", "layers.1.x"));
  EXPECT_TRUE(matches("a(?:bc)+d?$", "abcbc"));
  EXPECT_FALSE(matches("a(?:bc)+d?$", "abcb"));
  EXPECT_TRUE(matches("(a*)*b", "aaab"));
}

TEST(NamePattern, WhatIsNotUnderstood) {
  for (const std::string_view pattern :
       {"(?!a)", "(?<=a)b", "\\bq", "a**", "(a", "a)", "[a", "a{2000}", "\\1"})
    EXPECT_FALSE(NamePattern::expression(pattern).has_value()) << pattern;
  std::string deep(40, '(');
  EXPECT_FALSE(NamePattern::expression(deep).has_value());
  // 64^3 copies would not fit.
  EXPECT_FALSE(NamePattern::expression("(((a{64}){64}){64})").has_value());
}

TEST(NamePattern, FileNames) {
  const auto pattern = NamePattern::file_name("model.layers.1*");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_TRUE(pattern->matches("model.layers.1.mlp"));
  EXPECT_TRUE(pattern->matches("model.layers.12.mlp"));
  EXPECT_FALSE(pattern->matches("model.layers.2.mlp"));
  const auto middle = NamePattern::file_name("model.layers.*.self_attn");
  EXPECT_TRUE(middle->matches("model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(middle->matches("model.layers.0.self_attn_norm"));
}

}  // namespace
}  // namespace vramgauge

#include "model/weight_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace vramgauge {
namespace {

json::Value parse_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str()).value();
}

std::vector<WeightFormat> all_formats() {
  const json::Value document = parse_file(VRAMGAUGE_PRESET_DIR "/formats.json");
  std::vector<WeightFormat> formats;
  for (const json::Value& entry : *document.find("formats")->as_array()) {
    formats.push_back(parse_weight_format(entry).value());
  }
  EXPECT_TRUE(resolve_part_formats(formats).empty());
  return formats;
}

WeightFormat format_named(const std::string& id) {
  for (WeightFormat& format : all_formats()) {
    if (format.id == id) return format;
  }
  ADD_FAILURE() << "no format " << id;
  return {};
}

WeightTensor tensor(TensorRole role, uint64_t rows, uint64_t cols, uint64_t count = 1) {
  WeightTensor result;
  result.name = "model.layers.0.weight";
  result.role = role;
  result.layer = 0;
  result.rows = rows;
  result.cols = cols;
  result.count = count;
  result.is_matrix = rows > 1;
  return result;
}

ModelSpec bf16_spec() {
  ModelSpec spec;
  spec.model_type = "test";
  spec.dtype = "bfloat16";
  return spec;
}

Result<FormattedWeights> formatted(const std::string& id,
                                   const std::vector<WeightTensor>& tensors) {
  return format_weights(tensors, bf16_spec(), format_named(id));
}

/// Llama-3.1-8B: hidden 4096, 32 layers, 32 heads and 8 KV heads of 128, feed-forward 14336,
/// vocabulary 128256, head apart.
std::vector<WeightTensor> llama_8b() {
  using Role = TensorRole;
  std::vector<WeightTensor> tensors = {tensor(Role::embedding, 128256, 4096),
                                       tensor(Role::output, 128256, 4096),
                                       tensor(Role::norm, 1, 4096)};
  for (int layer = 0; layer < 32; ++layer) {
    tensors.push_back(tensor(Role::norm, 1, 4096));
    tensors.push_back(tensor(Role::norm, 1, 4096));
    tensors.push_back(tensor(Role::attention_q, 4096, 4096));
    tensors.push_back(tensor(Role::attention_k, 1024, 4096));
    tensors.push_back(tensor(Role::attention_v, 1024, 4096));
    tensors.push_back(tensor(Role::attention_output, 4096, 4096));
    tensors.push_back(tensor(Role::mlp_gate, 14336, 4096));
    tensors.push_back(tensor(Role::mlp_up, 14336, 4096));
    tensors.push_back(tensor(Role::mlp_down, 4096, 14336));
  }
  return tensors;
}

uint64_t mlp_bytes(const std::string& id, uint64_t rows, uint64_t cols) {
  return formatted(id, {tensor(TensorRole::mlp_up, rows, cols)}).value().total.count();
}

// One 4096 x 4096 matrix (16,777,216 weights), by hand.
TEST(GroupedLayouts, BytesOfASquareMatrix) {
  constexpr uint64_t kN = 4096 * 4096;
  constexpr uint64_t kCodes4 = kN / 2;
  const auto bytes = [](const char* id) { return mlp_bytes(id, 4096, 4096); };
  // codes, fp16 scale per group, zeros of 4 bits packed by 8 into words
  EXPECT_EQ(bytes("awq-4bit-g128"), kCodes4 + kN / 128 * 2 + 32 * 512 * 4);
  // the same, and a 4-byte group index per input row
  EXPECT_EQ(bytes("gptq-4bit-g128"), kCodes4 + kN / 128 * 2 + 32 * 512 * 4 + 4096 * 4);
  // 3 bits: 12 words of 32 bits hold 128 codes
  EXPECT_EQ(bytes("gptq-3bit-g128"), 4096 * 32 * 12 * 4 + kN / 128 * 2 + 32 * 384 * 4 + 4096 * 4);
  // fp32 maximum per 64 weights
  EXPECT_EQ(bytes("bnb-4bit"), kCodes4 + kN / 64 * 4);
  // int8 maximum per 64 weights, fp32 per 256 of those
  EXPECT_EQ(bytes("bnb-4bit-double"), kCodes4 + kN / 64 + kN / 64 / 256 * 4);
  EXPECT_EQ(bytes("bnb-int8"), kN + 4096 * 4);
  EXPECT_EQ(bytes("fp8-per-tensor"), kN + 4);
  EXPECT_EQ(bytes("fp8-per-channel"), kN + 4096 * 2);
  EXPECT_EQ(bytes("fp8-block-128"), kN + 32 * 32 * 4);
  EXPECT_EQ(bytes("nvfp4"), kCodes4 + kN / 16 + 4);
  EXPECT_EQ(bytes("mxfp8"), kN + kN / 32);
  EXPECT_EQ(bytes("ct-w4a16-g128"), kCodes4 + kN / 128 * 2);
  EXPECT_EQ(bytes("ct-w4a16-g128-asym"), kCodes4 + kN / 128 * 2 + 32 * 512 * 4);
  EXPECT_EQ(bytes("hqq-4bit-g64"), kCodes4 + kN / 64 * 4);
  EXPECT_EQ(bytes("hqq-2bit-g16"), kN / 4 + kN / 16 * 4);
  EXPECT_EQ(bytes("exl3-3bit"), kN / 8 * 3 + 4096 * 2 + 4096 * 2);
  // one 16-bit code per 8 weights, a scale per row, a codebook of 1 MiB
  EXPECT_EQ(bytes("aqlm-1x16-g8"), kN / 8 * 2 + 4096 * 2 + 1048576);
  EXPECT_EQ(bytes("torchao-int4-g128"), kCodes4 + kN / 128 * 4);
  EXPECT_EQ(bytes("mlx-6bit-g64"), kN / 4 * 3 + kN / 64 * 4);
  EXPECT_EQ(bytes("bitnet-2bit"), kN / 4 + 2);
  EXPECT_EQ(bytes("fp32"), kN * 4);
}

// Edges that do not fill a group, tile or word have one all the same.
TEST(GroupedLayouts, RaggedEdgesRoundUp) {
  // DeepSeek-V3's kv_a_proj_with_mqa: 576 rows are 4.5 tiles of 128, 7168 columns are 56
  EXPECT_EQ(mlp_bytes("fp8-block-128", 576, 7168), 576U * 7168 + 5 * 56 * 4);
  // gpt-oss: 2880 columns are 90 groups of 32
  const auto expert = formatted("mxfp4", {tensor(TensorRole::expert_up, 2880, 2880, 32)});
  EXPECT_EQ(expert.value().total.count(), 32U * (2880 * 1440 + 2880 * 90));
  // flat groups ignore rows: 3 x 50 = 150 weights are three groups of 64
  EXPECT_EQ(mlp_bytes("bnb-4bit", 3, 50), 75U + 3 * 4);
  // four rows a byte along the outputs: 6 rows need 2 bytes per column
  EXPECT_EQ(mlp_bytes("bitnet-2bit", 6, 10), 2U * 10 + 2);
  // words of 32 bits hold 8 codes: 20 columns need 3
  EXPECT_EQ(mlp_bytes("ct-w4a16-channel", 2, 20), 2U * 3 * 4 + 2 * 2);
}

// Linear weights: 32 x (2 x 4096 x 4096 + 2 x 1024 x 4096 + 3 x 14336 x 4096) = 6,979,321,856,
// at 4.15625 bits 3,625,975,808 B; embedding and head 2 x 128256 x 4096 x 2 B; 65 norms of 8192 B.
TEST(WeightFormats, WholeModelInAwq) {
  const FormattedWeights weights = formatted("awq-4bit-g128", llama_8b()).value();
  EXPECT_EQ(weights.total.count(), uint64_t{3'625'975'808} + 2'101'346'304 + 65 * 8192);
  EXPECT_EQ(weights.elements, 8'030'261'248U);
  EXPECT_EQ(weights.lines.size(), 2U);
  const auto of = [&weights](RoleGroup group) {
    return weights.bytes_by_group[static_cast<size_t>(group)].count();
  };
  EXPECT_EQ(of(RoleGroup::embedding), 1'050'673'152U);
  EXPECT_EQ(of(RoleGroup::output), 1'050'673'152U);
  EXPECT_EQ(of(RoleGroup::norm), 532'480U);
  EXPECT_EQ(weights.basis, Basis::exact);
}

TEST(WeightFormats, LinesAddUpToTheTotal) {
  for (const char* id : {"bf16", "awq-4bit-g128", "mlx-4bit-g64", "Q4_K_M", "ideal-4bit"}) {
    const FormattedWeights weights = formatted(id, llama_8b()).value();
    uint64_t lines = 0;
    uint64_t groups = 0;
    for (const StorageLine& line : weights.lines)
      lines += line.bytes.count();
    for (const Bytes bytes : weights.bytes_by_group)
      groups += bytes.count();
    EXPECT_EQ(lines, weights.total.count()) << id;
    EXPECT_EQ(groups, weights.total.count()) << id;
  }
}

TEST(WeightFormats, PlainDtypes) {
  EXPECT_EQ(formatted("bf16", llama_8b()).value().total.count(), 16'060'522'496U);
  EXPECT_EQ(formatted("fp32", llama_8b()).value().total.count(), 32'121'044'992U);
}

// What is left alone keeps the checkpoint's dtype.
TEST(WeightFormats, Float32CheckpointsKeepFourBytes) {
  ModelSpec spec = bf16_spec();
  spec.dtype = "float32";
  const auto weights =
      format_weights({tensor(TensorRole::norm, 1, 100)}, spec, format_named("awq-4bit-g128"));
  EXPECT_EQ(weights.value().total.count(), 400U);
}

TEST(WeightFormats, OnlyExpertsAreQuantisedWhereTheFormatSaysSo) {
  const std::vector<WeightTensor> tensors = {
      tensor(TensorRole::attention_q, 64, 64), tensor(TensorRole::shared_expert_up, 64, 64),
      tensor(TensorRole::router, 4, 64), tensor(TensorRole::expert_up, 64, 64, 4)};
  // 4 x (64 x 32 + 64 x 2 scales) beside 2-byte weights
  EXPECT_EQ(formatted("mxfp4", tensors).value().total.count(),
            (64U * 64 + 64 * 64 + 4 * 64) * 2 + 4 * (64 * 32 + 64 * 2));
}

TEST(WeightFormats, MlxQuantisesEmbeddingAndHead) {
  const std::vector<WeightTensor> tensors = {tensor(TensorRole::embedding, 100, 128),
                                             tensor(TensorRole::output, 100, 128)};
  EXPECT_EQ(formatted("mlx-4bit-g64", tensors).value().total.count(), 2U * 100 * (64 + 2 * 4));
}

TEST(WeightFormats, PartsInAnotherFormat) {
  const std::vector<WeightTensor> tensors = {tensor(TensorRole::output, 256, 128),
                                             tensor(TensorRole::mlp_up, 256, 128)};
  // the head at 6 bits, the matrix at 4, two fp16 vectors beside each
  EXPECT_EQ(formatted("exl3-4bit", tensors).value().total.count(),
            256U * 128 * 6 / 8 + 256 * 128 / 2 + 2 * (256 + 128) * 2);
}

TEST(WeightFormats, QuantisersRefuseOrKeepWhatDoesNotFit) {
  const std::vector<WeightTensor> ragged = {tensor(TensorRole::mlp_up, 64, 100)};
  const auto refused = formatted("awq-4bit-g128", ragged);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error()[0].code, ErrorCode::format_not_divisible);
  EXPECT_FALSE(formatted("gptq-4bit-g32", {tensor(TensorRole::mlp_up, 40, 64)}));
  EXPECT_TRUE(formatted("gptq-4bit-g32", {tensor(TensorRole::mlp_up, 64, 64)}));

  const FormattedWeights kept = formatted("mlx-4bit-g64", ragged).value();
  EXPECT_EQ(kept.total.count(), 64U * 100 * 2);
  ASSERT_EQ(kept.warnings.size(), 1U);
  EXPECT_EQ(kept.warnings[0].code, ErrorCode::format_fallback);
}

// EXL3 fills both sides up to 128: 200 x 100 is stored as 256 x 128.
TEST(WeightFormats, PaddedMatricesAreStoredWhole) {
  EXPECT_EQ(mlp_bytes("exl3-4bit", 200, 100), 256U * 128 / 2 + (256 + 128) * 2);
}

// The gate in front of a shared expert has one output feature.
TEST(WeightFormats, OneRowIsAVector) {
  WeightTensor gate = tensor(TensorRole::mtp, 1, 2048);
  gate.is_matrix = true;
  EXPECT_EQ(formatted("awq-4bit-g128", {gate}).value().total.count(), 2048U * 2);
}

TEST(WeightFormats, IdealNeedsOnlyAParameterCount) {
  ModelSpec spec;
  spec.num_parameters = 70'553'706'497;
  EXPECT_EQ(format_weights({}, spec, format_named("ideal-4bit")).value().total.count(),
            35'276'853'249U);
  EXPECT_EQ(format_weights({}, spec, format_named("Q4_K_M")).error()[0].code,
            ErrorCode::format_refused);
  EXPECT_EQ(format_weights({}, ModelSpec{}, format_named("ideal-4bit")).error()[0].code,
            ErrorCode::format_no_parameters);
}

TEST(WeightFormats, RowsWithoutALayoutAreRefusedByName) {
  for (const char* id : {"exl2", "pure-Q8_1", "pure-Q8_K"}) {
    const auto result = formatted(id, llama_8b());
    ASSERT_FALSE(result) << id;
    EXPECT_EQ(result.error()[0].code, ErrorCode::format_refused);
    EXPECT_NE(message_of(result.error()[0]).find(id), std::string::npos);
  }
}

// Everything else in the list gives this model a size between one bit and 32 bits a weight.
TEST(WeightFormats, EveryListedFormatGivesASize) {
  uint64_t num_sizes = 0;
  for (const WeightFormat& format : all_formats()) {
    const auto result = format_weights(llama_8b(), bf16_spec(), format);
    EXPECT_EQ(result.has_value(), !format.refused) << format.id;
    if (!result) continue;
    EXPECT_EQ(result->elements, 8'030'261'248U) << format.id;
    EXPECT_GT(result->total.count(), 8'030'261'248U / 8) << format.id;
    EXPECT_LE(result->total.count(), 8'030'261'248U * 4) << format.id;
    ++num_sizes;
  }
  EXPECT_GT(num_sizes, 120U);
}

TEST(WeightFormats, SizesBeyondTheApiAreErrors) {
  const auto huge = formatted("bf16", {tensor(TensorRole::mlp_up, uint64_t{1} << 40, 1 << 30)});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error()[0].code, ErrorCode::value_overflow);
  EXPECT_FALSE(formatted("awq-4bit-g128",
                         {tensor(TensorRole::mlp_up, uint64_t{1} << 40, uint64_t{1} << 40)}));
}

Diagnostics parse_errors(const std::string& text) {
  const auto result = parse_weight_format(json::parse(text).value(), "/formats/0");
  return result ? Diagnostics{} : result.error();
}

TEST(ParseWeightFormat, NamesWhatIsWrong) {
  const auto first = [](const std::string& text) {
    const Diagnostics errors = parse_errors(text);
    return errors.empty() ? std::string() : errors[0].path;
  };
  EXPECT_EQ(first(R"({"id":"a","kind":"weight","layout":{"bits":4,"colour":1}})"),
            "/formats/0/layout/colour");
  EXPECT_EQ(first(R"({"id":"a","kind":"weight","layout":{"group_size":4}})"),
            "/formats/0/layout/bits");
  EXPECT_EQ(first(R"({"id":"a","kind":"weight"})"), "/formats/0/layout");
  EXPECT_EQ(first(R"({"id":"a","kind":"magic","layout":{}})"), "/formats/0/kind");
  EXPECT_EQ(first(R"({"id":"a","kind":"gguf_mix","layout":{"mix":"Q9","base_type":"Q4_K"}})"),
            "/formats/0/layout/mix");
  EXPECT_EQ(first(R"({"id":"a","kind":"gguf_mix","layout":{"mix":"Q4_K_M","base_type":"Q5_K"}})"),
            "/formats/0/layout/base_type");
  EXPECT_EQ(first(R"({"id":"a","kind":"gguf_block",)"
                  R"("layout":{"ggml_type":"Q4_K","block_weights":256,"block_bytes":145}})"),
            "/formats/0/layout/block_bytes");
  EXPECT_EQ(first(R"({"id":"a","kind":"ideal","layout":{"bits":4},"left_unquantised":["soul"]})"),
            "/formats/0/left_unquantised");
  EXPECT_EQ(first(R"({"id":"a","kind":"weight","layout":{"bits":0}})"), "/formats/0/layout/bits");
}

TEST(ParseWeightFormat, PartsMustBeInAListedGroupedFormat) {
  std::vector<WeightFormat> formats = {
      parse_weight_format(json::parse(R"({"id":"a","kind":"weight","layout":{"bits":4},)"
                                      R"("role_formats":{"output":"b"}})")
                              .value())
          .value()};
  ASSERT_EQ(resolve_part_formats(formats).size(), 1U);
}

}  // namespace
}  // namespace vramgauge

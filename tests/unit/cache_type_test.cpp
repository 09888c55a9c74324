#include "specs/cache_type.h"

#include <gtest/gtest.h>

#include "../truth/preset_files.h"

namespace vramgauge {
namespace {

using test::cache_type_named;

struct RowCase {
  const char* id;
  /// Bytes of a row of 128 elements, from the block's own layout.
  uint64_t bytes;
};

class RowOf128 : public testing::TestWithParam<RowCase> {};

TEST_P(RowOf128, IsMadeOfWholeBlocks) {
  const auto bytes = row_bytes(cache_type_named(GetParam().id), 128, "/cache_type_k");
  ASSERT_TRUE(bytes) << test::first_message(bytes.error());
  EXPECT_EQ(*bytes, GetParam().bytes);
}

// ggml blocks of 32 (ggml-common.h): q8_0 = fp16 scale + 32; q5_1 = 2 fp16 + 4 + 16; q5_0 = fp16 +
// 4 + 16; q4_1 = 2 fp16 + 16; q4_0 and iq4_nl = fp16 + 16. A row of 128 has four.
INSTANTIATE_TEST_SUITE_P(
    Gguf, RowOf128,
    testing::Values(RowCase{"q8_0", 4 * (2 + 32)}, RowCase{"q5_1", 4 * (4 + 4 + 16)},
                    RowCase{"q5_0", 4 * (2 + 4 + 16)}, RowCase{"q4_1", 4 * (4 + 16)},
                    RowCase{"q4_0", 4 * (2 + 16)}, RowCase{"iq4_nl", 4 * (2 + 16)},
                    RowCase{"q6_0", 4 * (2 + 24)}));

INSTANTIATE_TEST_SUITE_P(Plain, RowOf128,
                         testing::Values(RowCase{"fp32", 512}, RowCase{"fp16", 256},
                                         RowCase{"bf16", 256}, RowCase{"fp8", 128},
                                         RowCase{"int8", 128}));

// nvfp4: head_dim / 2 data + head_dim / 16 fp8 scales. Per-token-head types: one fp32 scale a row;
// LMDeploy an fp16 scale and zero a row. exllamav3: n bits and an fp16 scale per 32. MLX: fp16
// scale and bias per 64.
INSTANTIATE_TEST_SUITE_P(
    Scaled, RowOf128,
    testing::Values(RowCase{"nvfp4", 64 + 8}, RowCase{"fp8_per_token_head", 128 + 4},
                    RowCase{"int8_per_token_head", 128 + 4}, RowCase{"lmdeploy_int8", 128 + 4},
                    RowCase{"lmdeploy_int4", 64 + 4}, RowCase{"exl3_3bit", 4 * (12 + 2)},
                    RowCase{"exl3_8bit", 4 * (32 + 2)}, RowCase{"mlx_4bit", 2 * (32 + 4)},
                    RowCase{"mlx_8bit", 2 * (64 + 4)}));

// Slots at head_dim 128 as vLLM's turboquant/config.py computes them: 196, 134, 118 and 102 bytes.
TEST(CacheType, PackedSlotsHoldKeyAndValue) {
  EXPECT_EQ(slot_bytes(cache_type_named("turboquant_k8v4"), 128, 128).value(), 196U);
  EXPECT_EQ(slot_bytes(cache_type_named("turboquant_4bit_nc"), 128, 128).value(), 134U);
  EXPECT_EQ(slot_bytes(cache_type_named("turboquant_k3v4_nc"), 128, 128).value(), 118U);
  EXPECT_EQ(slot_bytes(cache_type_named("turboquant_3bit_nc"), 128, 128).value(), 102U);
}

TEST(CacheType, PackedSlotsRoundUpToTheirAlignment) {
  // head_dim 74: key ceil(74 x 3 / 8) + 2 = 30, value ceil(74 x 4 / 8) + 4 = 41; 71 -> 72.
  EXPECT_EQ(slot_bytes(cache_type_named("turboquant_k3v4_nc"), 74, 74).value(), 72U);
}

TEST(CacheType, RefusesARowThatSplitsABlock) {
  const auto bytes = row_bytes(cache_type_named("q8_0"), 80, "/cache_type_v");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().front().code, ErrorCode::cache_row_not_divisible);
  EXPECT_EQ(bytes.error().front().path, "/cache_type_v");
  EXPECT_EQ(message_of(bytes.error().front()),
            "q8_0 packs blocks of 32 elements; a row of 80 is not a multiple.");
}

TEST(CacheType, EveryPresetEntryIsRead) {
  const json::Value document = test::read_json(VRAMGAUGE_PRESET_DIR "/cache_types.json");
  const json::Value::Array& entries = *document.find("cache_types")->as_array();
  EXPECT_GE(entries.size(), 30U);
  for (const json::Value& entry : entries) {
    const auto type = parse_cache_type(entry);
    ASSERT_TRUE(type) << json::write(entry) << test::first_message(type.error());
    EXPECT_EQ(type->refused.empty(), entry.find("refused") == nullptr) << type->id;
  }
}

ErrorCode code_of(std::string_view entry) {
  const auto type = parse_cache_type(test::parse_or_throw(entry, "entry"));
  return type ? ErrorCode::api_internal : type.error().front().code;
}

TEST(CacheType, RefusesABrokenEntry) {
  EXPECT_EQ(code_of(R"(7)"), ErrorCode::json_wrong_type);
  EXPECT_EQ(code_of(R"({"id":"x","name":"X","source":"s"})"), ErrorCode::json_missing_key);
  EXPECT_EQ(code_of(R"({"id":"x","name":"X","block_elements":1,"block_bytes":2})"),
            ErrorCode::json_missing_key);
  EXPECT_EQ(code_of(R"({"id":"x","name":"X","source":"s","block_elements":0,"block_bytes":2})"),
            ErrorCode::value_out_of_range);
  EXPECT_EQ(
      code_of(R"({"id":"x","name":"X","source":"s","block_elements":1,"block_bytes":2,"bits":3})"),
      ErrorCode::catalogue_bad_entry);
  EXPECT_EQ(
      code_of(
          R"({"id":"x","name":"X","source":"s","key":{"bits":3},"value":{"bits":3,"extra_bytes":4},)"
          R"("slot_align_bytes":2})"),
      ErrorCode::json_missing_key);
}

}  // namespace
}  // namespace vramgauge

// vLLM's KV planner and profile on small models whose pages are worked out by hand.
#include <gtest/gtest.h>

#include "engine/vllm.h"
#include "engine/vllm_kv_planner.h"
#include "import/largest_image.h"
#include "units/json.h"

namespace vramgauge {
namespace {

constexpr uint64_t kKeyBytes = 2 * 128 * 2;

/// One KV head of 128 elements: 512 B of keys and values per token at 16 bit.
Attention attention(uint64_t window = 0, uint64_t kv_heads = 1) {
  Attention out;
  out.num_heads = 8;
  out.num_kv_heads = kv_heads;
  out.head_dim = 128;
  out.v_head_dim = 128;
  out.window_tokens = window;
  return out;
}

/// A state of 4 heads x 64 x 64, fp32, and a convolution of 3 x (256 + 2 x 64), 16 bit: 67,840 B.
Mamba2 state_space() {
  Mamba2 out;
  out.num_heads = 4;
  out.head_dim = 64;
  out.num_groups = 1;
  out.d_state = 64;
  out.d_conv = 4;
  return out;
}

ModelSpec model_of(const std::vector<Mixer>& mixers) {
  ModelSpec spec;
  spec.hidden_size = 1024;
  spec.vocab_size = 32000;
  for (const Mixer& mixer : mixers) {
    Layer layer;
    layer.mixers = {mixer};
    spec.layers.push_back(layer);
  }
  return spec;
}

std::vector<Mixer> repeated(const Mixer& mixer, size_t count) {
  return std::vector<Mixer>(count, mixer);
}

std::vector<Mixer> joined(std::vector<Mixer> first, const std::vector<Mixer>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

VllmKvSettings settings(uint64_t max_model_len = 4096) {
  VllmKvSettings out;
  out.cache_type = sixteen_bit_cache();
  out.max_model_len = max_model_len;
  out.max_num_batched_tokens = 2048;
  return out;
}

VllmKvPlan plan_of(const std::vector<Mixer>& mixers, const VllmKvSettings& with = settings(),
                   const ParallelPlan& parallel = {}, const VllmKvRules& rules = {}) {
  const ModelSpec spec = model_of(mixers);
  auto plan = vllm_kv_plan(spec, parallel, with, rules);
  EXPECT_TRUE(plan.has_value());
  return plan ? *plan : VllmKvPlan{};
}

VllmKvPool pool_of(const VllmKvPlan& plan, int64_t bytes) {
  const std::vector<BytesDelta> available(plan.stage_block_bytes.size(), BytesDelta(bytes));
  auto pool = vllm_kv_pool(plan, available);
  EXPECT_TRUE(pool.has_value());
  return pool ? *pool : VllmKvPool{};
}

TEST(VllmPlanner, EqualLayersShareOneTable) {
  const VllmKvPlan plan = plan_of(repeated(attention(), 4));
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.stage_block_bytes, std::vector<uint64_t>{4 * 16 * kKeyBytes});
  EXPECT_EQ(vllm_blocks_per_request(plan, 4096), CheckedU64(uint64_t{256}));
  EXPECT_EQ(vllm_blocks_per_request(plan, 4097), CheckedU64(uint64_t{257}));
  // 1,000 blocks and a byte less: 999 of them.
  const VllmKvPool pool = pool_of(plan, 1000 * 4 * 16 * int64_t{kKeyBytes} - 1);
  EXPECT_EQ(pool.num_blocks, 999U);
  EXPECT_EQ(pool.token_line, 999U * 16);
  EXPECT_EQ(pool.concurrency_hundredths(), 390U);
}

// Full attention of different widths needs the same slots: one table, the sum of the pages.
TEST(VllmPlanner, WidthsMayDifferInOneTable) {
  const VllmKvPlan plan =
      plan_of(joined(repeated(attention(0, 1), 2), repeated(attention(0, 2), 3)));
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.model_block_bytes, (2 + 3 * 2) * 16 * kKeyBytes);
}

// 2 full and 6 windowed layers: groups of 2, one full and three windowed.
TEST(VllmPlanner, TheRarestKindSetsTheGroup) {
  const VllmKvPlan plan = plan_of(joined(repeated(attention(), 2), repeated(attention(512), 6)));
  ASSERT_EQ(plan.groups.size(), 4U);
  EXPECT_EQ(plan.padding_layers, 0U);
  EXPECT_EQ(plan.model_block_bytes, 2 * 16 * kKeyBytes);
  // Full: 4,096 / 16. Window: (511 + 2,048) / 16 rounded up, and one for where it begins.
  EXPECT_EQ(vllm_blocks_per_request(plan, 4096), CheckedU64(uint64_t{256 + 3 * (160 + 1)}));
  // While it generates: the window alone, 512 / 16 and one more.
  EXPECT_EQ(vllm_steady_blocks_per_request(plan, 4096), CheckedU64(uint64_t{256 + 3 * (32 + 1)}));
  // A short request never has more than its own tokens.
  EXPECT_EQ(vllm_blocks_per_request(plan, 160), CheckedU64(uint64_t{10 + 3 * (10 + 1)}));
}

// 12 and 13 layers: less than half as many again, so the larger number, with a layer of padding.
TEST(VllmPlanner, AlmostEqualKindsAreFilledUp) {
  const VllmKvPlan plan = plan_of(joined(repeated(attention(), 13), repeated(attention(512), 12)));
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.padding_layers, 1U);
  EXPECT_EQ(plan.model_block_bytes, 13 * 16 * kKeyBytes);
}

// Pages of one and two heads: the block of the narrow layers holds twice the tokens.
TEST(VllmPlanner, SmallerPagesHoldMoreTokens) {
  const VllmKvPlan plan =
      plan_of(joined(repeated(attention(0, 1), 2), repeated(attention(512, 2), 2)));
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].block_tokens, 32U);
  EXPECT_EQ(plan.groups[1].block_tokens, 16U);
  EXPECT_EQ(plan.model_block_bytes, 2 * 16 * 2 * kKeyBytes);
}

TEST(VllmPlanner, PagesThatDoNotDivideAreRefused) {
  const ModelSpec spec =
      model_of(joined(repeated(attention(0, 2), 2), repeated(attention(512, 3), 2)));
  const auto plan = vllm_kv_plan(spec, {}, settings(), {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().front().code, ErrorCode::model_unsupported);
}

// Before 0.9.2, and with the manager switched off, windows are kept in full.
TEST(VllmPlanner, WithoutTheManagerWindowsAreFull) {
  VllmKvRules rules;
  rules.has_hybrid_manager = false;
  const VllmKvPlan plan =
      plan_of(joined(repeated(attention(), 2), repeated(attention(512), 6)), settings(), {}, rules);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.model_block_bytes, 8 * 16 * kKeyBytes);
}

// 67,840 B / 512 B = 132.5 tokens, so blocks of 144; a state per group and request.
TEST(VllmPlanner, BlocksAreRaisedToHoldAState) {
  const std::vector<Mixer> mixers = joined(repeated(attention(), 2), repeated(state_space(), 6));
  const VllmKvPlan plan = plan_of(mixers);
  ASSERT_EQ(plan.groups.size(), 4U);
  EXPECT_EQ(plan.raised_block_tokens, 144U);
  EXPECT_EQ(plan.model_block_bytes, 2 * 144 * kKeyBytes);
  EXPECT_EQ(vllm_blocks_per_request(plan, 4096), CheckedU64(uint64_t{29 + 3}));

  VllmKvSettings with = settings();
  with.state_mode = VllmStateMode::align;
  EXPECT_EQ(vllm_blocks_per_request(plan_of(mixers, with), 4096), CheckedU64(uint64_t{29 + 3 * 2}));

  // Three drafted tokens: as many states more, and a convolution of 6 tokens, 70,144 B: 137 -> 144.
  with.state_mode = VllmStateMode::none;
  with.draft_tokens = 3;
  EXPECT_EQ(vllm_blocks_per_request(plan_of(mixers, with), 4096), CheckedU64(uint64_t{29 + 3 * 4}));
}

// Four layers over two stages, and the pools of the stages differ: the smaller one counts.
TEST(VllmPlanner, TheSmallestWorkerSetsTheBlocks) {
  ParallelPlan parallel;
  parallel.pipeline_stages = 2;
  const VllmKvPlan plan = plan_of(repeated(attention(), 4), settings(), parallel);
  const int64_t block = 2 * 16 * int64_t{kKeyBytes};
  EXPECT_EQ(plan.stage_block_bytes, (std::vector<uint64_t>(2, 2 * 16 * kKeyBytes)));
  const auto pool = vllm_kv_pool(plan, {BytesDelta(500 * block), BytesDelta(300 * block)});
  ASSERT_TRUE(pool.has_value());
  EXPECT_EQ(pool->num_blocks, 300U);
}

// vllm issue 7039: 1,650 blocks on two stages of the first engine took prompts up to 13k.
TEST(VllmPlanner, TheFirstEngineSplitsBlocksOverStages) {
  ParallelPlan parallel;
  parallel.pipeline_stages = 2;
  VllmKvRules rules;
  rules.splits_blocks_over_stages = true;
  const VllmKvPlan plan = plan_of(repeated(attention(), 4), settings(131'072), parallel, rules);
  const VllmKvPool pool = pool_of(plan, 1650 * 2 * 16 * int64_t{kKeyBytes});
  EXPECT_EQ(pool.num_blocks, 1650U);
  EXPECT_EQ(pool.max_len, 825U * 16);
}

TEST(VllmPlanner, RefusesWhatTheEngineRefuses) {
  const VllmKvPlan plan = plan_of(repeated(attention(), 4));
  const int64_t block = 4 * 16 * int64_t{kKeyBytes};
  EXPECT_EQ(pool_of(plan, -1).refusal, VllmRefusal::no_memory);
  EXPECT_EQ(pool_of(plan, 0).refusal, VllmRefusal::no_memory);
  const VllmKvPool shorter = pool_of(plan, 255 * block);
  EXPECT_EQ(shorter.refusal, VllmRefusal::too_long);
  EXPECT_EQ(shorter.max_len, 255U * 16);
  EXPECT_EQ(shorter.needed.count(), 256U * static_cast<uint64_t>(block));
  EXPECT_EQ(pool_of(plan, 256 * block).refusal, VllmRefusal::none);
}

TEST(VllmPlanner, ContextRanksDivideAndMultiply) {
  VllmKvSettings with = settings();
  with.context_ranks = 4;
  const VllmKvPlan plan = plan_of(repeated(attention(), 4), with);
  EXPECT_EQ(vllm_blocks_per_request(plan, 4096), CheckedU64(uint64_t{64}));
  EXPECT_EQ(pool_of(plan, 100 * 4 * 16 * int64_t{kKeyBytes}).token_line, 100U * 16 * 4);
}

TEST(VllmPlanner, ModelsWithoutACacheStart) {
  ModelSpec spec = model_of({});
  spec.layers.resize(2);
  const auto plan = vllm_kv_plan(spec, {}, settings(), {});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(pool_of(*plan, 1 << 20).refusal, VllmRefusal::none);
}

TEST(VllmPlanner, HugeHeadsAreNotCounted) {
  const ModelSpec spec = model_of({attention(0, uint64_t{1} << 50)});
  const auto plan = vllm_kv_plan(spec, {}, settings(), {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().front().code, ErrorCode::value_overflow);
}

TEST(VllmProfile, Versions) {
  EXPECT_EQ(release_number("0.19.1rc1.dev88"), 19'001U);
  EXPECT_EQ(release_number("0.9"), 9'000U);
  EXPECT_EQ(release_number("1.2.3"), 1'002'003U);
  EXPECT_FALSE(release_number("V0 (Dec 2024)"));
  EXPECT_FALSE(release_number("0"));
  EXPECT_FALSE(release_number("0.99999"));
}

TEST(VllmProfile, AMissingConstantIsNamed) {
  const auto entry = json::parse(R"({"constants": []})");
  ASSERT_TRUE(entry.has_value());
  const auto profile = vllm_profile(*entry, 19'000);
  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().front().code, ErrorCode::json_missing_key);
}

TEST(LargestImage, OfFamilies) {
  const auto item = [](const char* text) {
    const auto config = json::parse(text);
    return config ? largest_image(*config) : std::nullopt;
  };
  // Gemma 3: (896 / 14)^2 patches pooled to 256 tokens.
  const auto gemma = item(R"({"mm_tokens_per_image": 256, "vision_config": {
    "model_type": "siglip_vision_model", "image_size": 896, "patch_size": 14,
    "hidden_size": 1152, "intermediate_size": 4304}})");
  ASSERT_TRUE(gemma.has_value());
  EXPECT_EQ(gemma->tokens, 256U);
  EXPECT_EQ(gemma->patches, 4096U);
  EXPECT_EQ(gemma->input_elements, 3U * 896 * 896);
  // Pixtral: 1,540 / 28 = 55 rows of 55 tokens and a break each.
  const auto pixtral = item(R"({"spatial_merge_size": 2, "vision_config": {
    "model_type": "pixtral", "image_size": 1540, "patch_size": 14, "hidden_size": 1024,
    "intermediate_size": 4096}})");
  ASSERT_TRUE(pixtral.has_value());
  EXPECT_EQ(pixtral->tokens, 55U * 56);
  EXPECT_FALSE(item("{}"));
  EXPECT_FALSE(item(R"({"vision_config": {"model_type": "unheard_of"}})"));
}

}  // namespace
}  // namespace vramgauge

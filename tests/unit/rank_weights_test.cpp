// Weights per GPU. Expected numbers are derived beside them.
#include "model/rank_weights.h"

#include <gtest/gtest.h>

#include "hf_import_helpers.h"
#include "model/weights.h"

namespace vramgauge::test {
namespace {

/// 8 query and 2 KV heads of 32; every width a multiple of 128.
constexpr const char* kDense = R"({"model_type":"llama","vocab_size":128,"hidden_size":256,
  "intermediate_size":512,"num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2,
  "head_dim":32,"max_position_embeddings":64,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

constexpr const char* kExperts = R"({"model_type":"mixtral","vocab_size":128,"hidden_size":128,
  "intermediate_size":256,"num_hidden_layers":1,"num_attention_heads":8,"num_key_value_heads":8,
  "num_local_experts":6,"num_experts_per_tok":2,"max_position_embeddings":64,
  "tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

struct Model {
  explicit Model(const char* config) : spec(imported(config).spec), tensors(weight_tensors(spec)) {}

  StoredTensors stored(const WeightFormat& format) const {
    StoredTensors result;
    result.spec = &spec;
    result.tensors = &tensors;
    result.layouts = tensor_layouts(tensors, spec, format).value();
    return result;
  }

  ModelSpec spec;
  std::vector<WeightTensor> tensors;
};

WeightFormat format_of(const WeightLayout& layout) {
  WeightFormat format;
  format.id = "test";
  format.layout = layout;
  for (const FormatPart part : {FormatPart::embedding, FormatPart::output, FormatPart::norm})
    format.left_unquantised[static_cast<size_t>(part)] = true;
  return format;
}

/// 4-bit codes in 32-bit words, a 16-bit scale and a packed zero per 128 inputs.
WeightFormat int4() {
  GroupedLayout layout;
  layout.bits = 4;
  layout.group_size = 128;
  layout.scale_bits = 16;
  layout.zero_bits = 4;
  layout.word_bits = 32;
  return format_of(layout);
}

WeightFormat half() {
  GroupedLayout layout;
  layout.bits = 16;
  return format_of(layout);
}

ParallelPlan plan_of(uint64_t tensor_ranks, uint64_t stages = 1) {
  ParallelPlan plan;
  plan.tensor_ranks = tensor_ranks;
  plan.pipeline_stages = stages;
  return plan;
}

// Per rank of two, in bytes:
//   embedding, output    64 rows x 256 x 2 = 32,768 each; final norm 512
//   q     128 x 256      codes 16,384; scales 128 x 2 groups x 2 = 512; zeros 2 x 64 = 128
//   k, v  32 x 256       codes 4,096; scales 128; zeros 2 x 16 = 32
//   o     256 x 128      codes 16,384; scales 256 x 2 = 512; zeros 128
//   gate, up  256 x 256  codes 32,768; scales 1,024; zeros 2 x 128 = 256
//   down  256 x 256      the same
// A layer: 17,024 + 2 x 4,256 + 17,024 + 3 x 34,048 = 144,704, and two norms of 512.
TEST(RankWeights, GroupsStayWholeOnTwoRanks) {
  const Model model(kDense);
  const auto rank = rank_weights(model.stored(int4()), plan_of(2), {0, 1, 0});
  ASSERT_TRUE(rank.has_value());
  EXPECT_EQ(rank->device.count(), 2U * 32768 + 512 + 2U * (144704 + 1024));
  EXPECT_EQ(rank->host.count(), 0U);
  EXPECT_EQ(rank->device_by_group[static_cast<size_t>(RoleGroup::embedding)].count(), 32768U);
  EXPECT_EQ(rank->device_by_group[static_cast<size_t>(RoleGroup::mlp)].count(), 2U * 3 * 34048);
}

// 256 inputs of the output projection over four ranks: 64, half a group.
TEST(RankWeights, ACutGroupIsNamed) {
  const Model model(kDense);
  const auto plan = plan_weights(model.stored(int4()), plan_of(4));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().front().code, ErrorCode::engine_not_divisible);
  const std::string message = message_of(plan.error().front());
  EXPECT_NE(message.find("model.layers.0.self_attn.o_proj in groups of 128"), std::string::npos)
      << message;
  EXPECT_TRUE(plan_weights(model.stored(half()), plan_of(2)).has_value());
}

// FP8 in tiles of 128 x 128: two KV heads of 32 are half a tile on one rank already, but only what
// is split has to be whole: 64 outputs of k over two ranks.
TEST(RankWeights, ACutTileIsNamed) {
  GroupedLayout tiles;
  tiles.bits = 8;
  tiles.block_rows = tiles.block_cols = 128;
  tiles.scale_bits = 32;
  const Model model(kDense);
  EXPECT_TRUE(plan_weights(model.stored(format_of(tiles)), plan_of(1)).has_value());
  const auto plan = plan_weights(model.stored(format_of(tiles)), plan_of(2));
  ASSERT_FALSE(plan.has_value());
  EXPECT_NE(message_of(plan.error().front()).find("k_proj in groups of 128"), std::string::npos);
}

// A scale per row needs no whole rows: each rank has one for its part. q is split by outputs, o by
// inputs: 128 rows with a scale against 256.
TEST(RankWeights, RowScalesFollowTheRows) {
  GroupedLayout rows;
  rows.bits = 8;
  rows.per_row_bits = 32;
  const Model model(kDense);
  const auto rank = rank_weights(model.stored(format_of(rows)), plan_of(2), {});
  ASSERT_TRUE(rank.has_value());
  const uint64_t attention = 128 * 256 + 128 * 4 + 2 * (32 * 256 + 32 * 4) + 256 * 128 + 256 * 4;
  EXPECT_EQ(rank->device_by_group[static_cast<size_t>(RoleGroup::attention)].count(),
            2 * attention);
}

// Q8_0: 34 bytes per 32 inputs. On two ranks down is 256 x 256: 256 x 8 x 34.
TEST(RankWeights, BlocksOfGgufTypesStayWhole) {
  const Model model(kDense);
  WeightFormat format;
  format.id = "Q8_0";
  format.layout = GgufBlockLayout{GgmlType::q8_0};
  const auto rank = rank_weights(model.stored(format), plan_of(2), {});
  ASSERT_TRUE(rank.has_value());
  EXPECT_EQ(rank->device_by_group[static_cast<size_t>(RoleGroup::mlp)].count(),
            2U * 3 * 256 * 8 * 34);
  // Blocks of 256 inputs: the output projection has 128 on each of two ranks.
  format.layout = GgufBlockLayout{GgmlType::q4_k};
  const auto cut = plan_weights(model.stored(format), plan_of(2));
  ASSERT_FALSE(cut.has_value());
  EXPECT_NE(message_of(cut.error().front()).find("o_proj in groups of 256"), std::string::npos);
}

// 16 bits, elements of a layer: q and o 256 x 256 each, k and v 64 x 256 each, three matrices of
// 512 x 256, two norms of 256: 557,568.
TEST(RankWeights, UnevenStagesNameTheWorst) {
  const Model model(kDense);
  constexpr uint64_t kLayer = (2 * 65536 + 2 * 16384 + 3 * 131072 + 2 * 256) * 2;
  constexpr uint64_t kTable = 128 * 256 * 2;
  const auto even = plan_weights(model.stored(half()), plan_of(1, 2));
  ASSERT_TRUE(even.has_value());
  ASSERT_EQ(even->ranks.size(), 2U);
  EXPECT_EQ(even->ranks[0].device.count(), kTable + kLayer);
  EXPECT_EQ(even->ranks[1].device.count(), kTable + kLayer + 512);
  // The final norm decides.
  EXPECT_EQ(even->worst, 1U);
  EXPECT_EQ(even->ranks[even->worst].rank.stage, 1U);
}

// Six experts over 2 x 2 ranks: two of them keep two, two keep one. A rank's half of everything
// else is the same.
TEST(RankWeights, ExpertsThatDoNotDivideMakeTwoKindsOfRanks) {
  const Model model(kExperts);
  ParallelPlan plan = plan_of(2);
  plan.data_ranks = 2;
  plan.is_expert_parallel = true;
  const auto weights = plan_weights(model.stored(half()), plan);
  ASSERT_TRUE(weights.has_value());
  ASSERT_EQ(weights->ranks.size(), 2U);
  constexpr uint64_t kExpert = 3 * 256 * 128 * 2;
  EXPECT_EQ(weights->ranks[0].num_ranks, 2U);
  EXPECT_EQ(weights->ranks[1].num_ranks, 2U);
  EXPECT_EQ(weights->ranks[1].rank.data_rank, 1U);
  EXPECT_EQ(weights->ranks[0].device.count() - weights->ranks[1].device.count(), kExpert);
  EXPECT_EQ(weights->worst, 0U);
}

// Offload takes the first weights of the layers until the budget is passed: q of 131,072 bytes
// passes one of 100,000, so that a norm (512) and q leave.
TEST(RankWeights, HostOffloadTakesWholeWeights) {
  const Model model(kDense);
  StoredTensors stored = model.stored(half());
  const uint64_t all = rank_weights(stored, plan_of(1), {})->device.count();
  stored.host_offload = Bytes(uint64_t{100000});
  const auto rank = rank_weights(stored, plan_of(1), {});
  ASSERT_TRUE(rank.has_value());
  EXPECT_GE(rank->host.count(), 100000U);
  EXPECT_LT(rank->host.count(), 100000U + 512 * 256 * 2);
  EXPECT_EQ(rank->device.count() + rank->host.count(), all);
  stored.host_offload = GiB(1);
  // What belongs to no layer stays: two tables and the final norm.
  EXPECT_EQ(rank_weights(stored, plan_of(1), {})->device.count(), 2U * 128 * 256 * 2 + 512);
}

TEST(RankWeights, APlanOfNothingIsRefused) {
  const Model model(kDense);
  EXPECT_FALSE(plan_weights(model.stored(half()), plan_of(0)).has_value());
  EXPECT_FALSE(plan_weights(model.stored(half()), plan_of(1, 0)).has_value());
  EXPECT_FALSE(plan_weights(model.stored(half()), plan_of(uint64_t{1} << 40)).has_value());
  EXPECT_FALSE(plan_weights(model.stored(half()), plan_of(1, 3)).has_value());
}

// A model that is only a number of parameters has no parts to place.
TEST(RankWeights, AParameterCountCannotBePlaced) {
  const auto layouts = tensor_layouts({}, ModelSpec{}, half());
  ASSERT_FALSE(layouts.has_value());
  EXPECT_EQ(layouts.error().front().code, ErrorCode::format_refused);
}

}  // namespace
}  // namespace vramgauge::test

// Placement of weights over ranks. Expected numbers follow from the rule beside them.
#include "model/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/torch_allocator.h"
#include "engine/vllm_weights.h"
#include "hf_import_helpers.h"
#include "model/weights.h"
#include "units/index.h"

namespace vramgauge::test {
namespace {

/// Two layers, 8 query and 2 KV heads of 16, biases on every projection, 100 tokens.
constexpr const char* kSmall = R"({"model_type":"llama","vocab_size":100,"hidden_size":128,
  "intermediate_size":256,"num_hidden_layers":5,"num_attention_heads":8,"num_key_value_heads":2,
  "head_dim":16,"attention_bias":true,"mlp_bias":true,"max_position_embeddings":64,
  "tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

constexpr const char* kTied = R"({"model_type":"llama","vocab_size":128,"hidden_size":128,
  "intermediate_size":256,"num_hidden_layers":4,"num_attention_heads":8,"num_key_value_heads":2,
  "head_dim":16,"max_position_embeddings":64,"tie_word_embeddings":true})";

constexpr const char* kExperts = R"({"model_type":"mixtral","vocab_size":128,"hidden_size":128,
  "intermediate_size":256,"num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2,
  "num_local_experts":64,"num_experts_per_tok":2,"max_position_embeddings":64})";

constexpr const char* kLatent = R"({"model_type":"deepseek_v2","vocab_size":128,"hidden_size":128,
  "intermediate_size":256,"moe_intermediate_size":64,"n_routed_experts":6,"n_shared_experts":2,
  "num_experts_per_tok":2,"first_k_dense_replace":1,"num_hidden_layers":3,"num_attention_heads":4,
  "num_key_value_heads":4,"q_lora_rank":32,"kv_lora_rank":16,"qk_nope_head_dim":16,
  "qk_rope_head_dim":8,"v_head_dim":16,"max_position_embeddings":64,"tie_word_embeddings":false})";

struct Model {
  explicit Model(const char* config) : spec(imported(config).spec), tensors(weight_tensors(spec)) {}
  ModelSpec spec;
  std::vector<WeightTensor> tensors;
};

using Placed = std::map<std::string, PlacedTensor>;

Placed placed(const Model& model, const ParallelPlan& plan, PlanRank rank) {
  const auto parts = place_tensors(model.tensors, model.spec, plan, rank);
  EXPECT_TRUE(parts.has_value());
  Placed by_name;
  if (!parts) return by_name;
  for (const PlacedTensor& part : *parts)
    by_name[model.tensors[index_of(part.index)].name] = part;
  return by_name;
}

uint64_t elements(const Placed& parts) {
  uint64_t sum = 0;
  for (const auto& [name, part] : parts)
    sum += part.rows * part.cols * part.count;
  return sum;
}

ParallelPlan plan_of(uint64_t tensor_ranks, uint64_t stages) {
  ParallelPlan plan;
  plan.tensor_ranks = tensor_ranks;
  plan.pipeline_stages = stages;
  return plan;
}

TEST(Placement, UnevenStagesGrowFromTheSecondToLast) {
  using Counts = std::vector<uint64_t>;
  EXPECT_EQ(stage_layer_counts(32, plan_of(1, 4)).value(), (Counts{8, 8, 8, 8}));
  EXPECT_EQ(stage_layer_counts(61, plan_of(1, 4)).value(), (Counts{15, 15, 16, 15}));
  EXPECT_EQ(stage_layer_counts(62, plan_of(1, 4)).value(), (Counts{15, 16, 16, 15}));
  EXPECT_EQ(stage_layer_counts(63, plan_of(1, 4)).value(), (Counts{16, 16, 16, 15}));
  EXPECT_FALSE(stage_layer_counts(3, plan_of(1, 4)).has_value());
  ParallelPlan own = plan_of(1, 2);
  own.stage_layers = {3, 2};
  EXPECT_EQ(stage_layer_counts(5, own).value(), (Counts{3, 2}));
  EXPECT_FALSE(stage_layer_counts(6, own).has_value());
}

TEST(Placement, TensorRanksSplitReplicateAndPad) {
  const Model model(kSmall);
  const Placed parts = placed(model, plan_of(4, 1), {});
  // 100 tokens are padded to 128.
  EXPECT_EQ(parts.at("model.embed_tokens").rows, 128U / 4);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.q_proj").rows, 128U / 4);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.q_proj.bias").cols, 128U / 4);
  // Two KV heads on four ranks: one head each, two ranks holding the same.
  EXPECT_EQ(parts.at("model.layers.0.self_attn.k_proj").rows, 16U);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.k_proj.bias").cols, 16U);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.o_proj").cols, 128U / 4);
  EXPECT_EQ(parts.at("model.layers.0.mlp.down_proj").cols, 256U / 4);
  // The bias of a sum over ranks is added once and held whole.
  EXPECT_EQ(parts.at("model.layers.0.mlp.down_proj.bias").cols, 128U);
  EXPECT_EQ(parts.at("model.layers.0.input_layernorm").cols, 128U);
}

TEST(Placement, LatentsAreWholeAndHeadsAreSplit) {
  const Model model(kLatent);
  const Placed parts = placed(model, plan_of(4, 1), {});
  EXPECT_EQ(parts.at("model.layers.0.self_attn.q_a_proj").rows, 32U);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.kv_a_proj_with_mqa").rows, 16U + 8U);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.q_b_proj").rows, 4U * 24U / 4);
  EXPECT_EQ(parts.at("model.layers.0.self_attn.kv_b_proj").rows, 4U * 32U / 4);
  EXPECT_EQ(parts.at("model.layers.1.mlp.gate").rows, 6U);
  EXPECT_EQ(parts.at("model.layers.1.mlp.experts.up_proj").rows, 64U / 4);
}

TEST(Placement, ExpertParallelismDealsOutWholeExperts) {
  const Model model(kExperts);
  ParallelPlan plan = plan_of(2, 1);
  plan.data_ranks = 3;
  plan.is_expert_parallel = true;
  std::vector<uint64_t> counts;
  for (uint64_t data = 0; data < 3; ++data) {
    for (uint64_t tensor = 0; tensor < 2; ++tensor) {
      const Placed parts = placed(model, plan, {0, tensor, data});
      const PlacedTensor& up = parts.at("model.layers.0.mlp.experts.up_proj");
      EXPECT_EQ(up.rows, 256U);
      counts.push_back(up.count);
    }
  }
  EXPECT_EQ(counts, (std::vector<uint64_t>{11, 11, 11, 11, 10, 10}));
}

TEST(Placement, EndsOfThePipeline) {
  const Model model(kSmall);
  const Placed first = placed(model, plan_of(1, 2), {0, 0, 0});
  const Placed last = placed(model, plan_of(1, 2), {1, 0, 0});
  EXPECT_TRUE(first.count("model.embed_tokens") == 1 && last.count("model.embed_tokens") == 0);
  EXPECT_TRUE(first.count("lm_head") == 0 && last.count("lm_head") == 1);
  EXPECT_TRUE(first.count("model.norm") == 0 && last.count("model.norm") == 1);
  EXPECT_TRUE(first.count("model.layers.2.mlp.up_proj") == 1);
  EXPECT_TRUE(last.count("model.layers.3.mlp.up_proj") == 1);
  const Model tied(kTied);
  EXPECT_EQ(placed(tied, plan_of(1, 3), {0, 0, 0}).count("model.embed_tokens"), 1U);
  EXPECT_EQ(placed(tied, plan_of(1, 3), {1, 0, 0}).count("model.embed_tokens"), 0U);
  EXPECT_EQ(placed(tied, plan_of(1, 3), {2, 0, 0}).count("model.embed_tokens"), 1U);
}

// vLLM refuses Qwen3-14B on five ranks: 151,936 rows of its vocabulary.
TEST(Placement, RefusesWhatDoesNotDivide) {
  const Model model(R"({"model_type":"qwen3","vocab_size":151936,"hidden_size":5120,
    "intermediate_size":17408,"num_hidden_layers":40,"num_attention_heads":40,
    "num_key_value_heads":8,"head_dim":128,"max_position_embeddings":40960,
    "tie_word_embeddings":false})");
  const auto parts = place_tensors(model.tensors, model.spec, plan_of(5, 1), {});
  ASSERT_FALSE(parts.has_value());
  EXPECT_EQ(parts.error().front().code, ErrorCode::engine_not_divisible);
  EXPECT_NE(message_of(parts.error().front()).find("vocab_size (151936)"), std::string::npos);
  const auto heads = place_tensors(Model(kSmall).tensors, Model(kSmall).spec, plan_of(3, 1), {});
  EXPECT_FALSE(heads.has_value());
}

// Nothing is lost, whatever the plan; ranks of one stage hold equally much; what is split adds up.
TEST(Placement, RanksTogetherHoldTheModel) {
  for (const char* config : {kSmall, kTied, kExperts, kLatent}) {
    const Model model(config);
    for (const uint64_t stages : {1U, 2U}) {
      for (const uint64_t ranks : {1U, 2U, 4U}) {
        const ParallelPlan plan = plan_of(ranks, stages);
        std::map<std::string, uint64_t> held;
        for (uint64_t stage = 0; stage < stages; ++stage) {
          const Placed reference = placed(model, plan, {stage, 0, 0});
          for (uint64_t rank = 0; rank < ranks; ++rank) {
            const Placed parts = placed(model, plan, {stage, rank, 0});
            EXPECT_EQ(elements(parts), elements(reference));
            for (const auto& [name, part] : parts)
              held[name] += part.rows * part.cols * part.count;
          }
        }
        for (const WeightTensor& tensor : model.tensors) {
          const uint64_t whole = tensor.rows * tensor.cols * tensor.count;
          EXPECT_GE(held[tensor.name], whole) << tensor.name << " over " << ranks;
          EXPECT_TRUE(held[tensor.name] == whole || held[tensor.name] % whole == 0 ||
                      tensor.role == TensorRole::embedding || tensor.role == TensorRole::output)
              << tensor.name;
        }
      }
    }
  }
}

TEST(TorchAllocator, RoundsAsTheCachingAllocator) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto held = [](std::initializer_list<uint64_t> requests) {
    TorchAllocator allocator;
    for (const uint64_t bytes : requests)
      allocator.allocate(bytes);
    return allocator.allocated_bytes().value_or(0);
  };
  EXPECT_EQ(held({0}), 0U);
  EXPECT_EQ(held({1}), 512U);
  EXPECT_EQ(held({513}), 1024U);
  // 129.5 MiB leave half a MiB of their 130: it stays with the block.
  EXPECT_EQ(held({259 * kMiB / 2}), 130 * kMiB);
  EXPECT_EQ(held({11 * kMiB}), 12 * kMiB);
  // 64.75 MiB leave 1.25 of 66: that is split off.
  EXPECT_EQ(held({259 * kMiB / 4}), 259 * kMiB / 4);
  // Two of 9.5 MiB share 20; the MiB that is left stays with the second.
  EXPECT_EQ(held({19 * kMiB / 2, 19 * kMiB / 2}), 20 * kMiB);
  TorchAllocator allocator;
  allocator.allocate(7 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes().value_or(0), 20 * kMiB);
}

TEST(TorchAllocator, FreeNeighboursJoin) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  TorchAllocator allocator;
  const auto first = allocator.allocate(4 * kMiB);
  const auto second = allocator.allocate(6 * kMiB);
  const auto third = allocator.allocate(8 * kMiB);
  allocator.release(first);
  allocator.release(third);
  allocator.release(second);
  EXPECT_EQ(allocator.allocated_bytes().value_or(1), 0U);
  // One block of 20 MiB again: 19 MiB fit without a new segment, and keep the rest.
  allocator.allocate(19 * kMiB);
  EXPECT_EQ(allocator.allocated_bytes().value_or(0), 20 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes().value_or(0), 20 * kMiB);
  allocator.allocate(CheckedU64::poisoned());
  EXPECT_FALSE(allocator.allocated_bytes().valid());
}

VllmModel plain(const Model& model) {
  VllmModel load;
  load.spec = &model.spec;
  load.tensors = &model.tensors;
  load.storage.resize(model.tensors.size());
  return load;
}

TEST(VllmWeights, WorstStageIsNamed) {
  // Five layers over two stages: three and two; the first has the embedding, the last the output.
  const Model model(kSmall);
  const auto worst = worst_vllm_stage(plain(model), plan_of(1, 2));
  ASSERT_TRUE(worst.has_value());
  EXPECT_EQ(worst->stage, 0U);
  ParallelPlan own = plan_of(1, 2);
  own.stage_layers = {1, 4};
  EXPECT_EQ(worst_vllm_stage(plain(model), own)->stage, 1U);
}

TEST(VllmWeights, HostOffloadTakesLayersUntilTheBudgetIsPassed) {
  const Model model(kSmall);
  VllmModel load = plain(model);
  const Bytes all = load_vllm_weights(load, plan_of(1, 1), {})->parameters;
  load.host_offload = Bytes(uint64_t{1});
  const auto one = load_vllm_weights(load, plan_of(1, 1), {});
  // The first weight of a layer, a norm of 128 elements, passes a budget of one byte.
  EXPECT_EQ(one->offloaded.count(), 256U);
  EXPECT_EQ(one->parameters.count() + 256U, all.count());
  // No budget takes the embedding, the final norm or the output.
  load.host_offload = GiB(1);
  const auto rest = load_vllm_weights(load, plan_of(1, 1), {});
  EXPECT_EQ(rest->parameters.count(), (2 * 128 * 128 + 128) * 2U);
}

/// Tables of a configuration that ends in `rope`.
std::vector<RotaryTable> tables_of(const std::string& model_type, const std::string& rope) {
  const std::string config = R"({"vocab_size":128,"hidden_size":128,"intermediate_size":256,
    "num_hidden_layers":6,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":16,
    "sliding_window":32,"sliding_window_pattern":6,"max_position_embeddings":1000,
    "tie_word_embeddings":true,"model_type":")" +
                             model_type + "\"" + rope + "}";
  return imported(config).spec.rotary_tables;
}

std::vector<uint64_t> table_rows(const std::string& model_type, const std::string& rope) {
  std::vector<uint64_t> rows;
  for (const RotaryTable& table : tables_of(model_type, rope))
    rows.push_back(table.rows);
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Widths of the tables of windowed and of other layers, heads being 16 wide.
std::pair<uint64_t, uint64_t> table_widths(const std::string& full) {
  std::pair<uint64_t, uint64_t> widths;
  for (const RotaryTable& table : tables_of("gemma3_text", R"(,"rope_parameters":{
      "sliding_attention":{"rope_type":"default"},"full_attention":{"rope_type":")" +
                                                               full + "}}"))
    (table.is_local ? widths.first : widths.second) = table.dim;
  return widths;
}

TEST(RotaryTables, RowsFollowTheScaling) {
  using Rows = std::vector<uint64_t>;
  EXPECT_EQ(table_rows("llama", ""), (Rows{1000}));
  EXPECT_EQ(table_rows("llama", R"(,"rope_scaling":{"rope_type":"llama3","factor":8,
    "original_max_position_embeddings":100})"),
            (Rows{1000}));
  EXPECT_EQ(table_rows("llama", R"(,"rope_scaling":{"type":"linear","factor":2.5})"), (Rows{2500}));
  EXPECT_EQ(table_rows("llama", R"(,"rope_scaling":{"type":"yarn","factor":4,
    "original_max_position_embeddings":300})"),
            (Rows{1200}));
  EXPECT_EQ(table_rows("llama", R"(,"rope_scaling":{"type":"longrope",
    "original_max_position_embeddings":300})"),
            (Rows{1300}));
  // Windowed layers with a base of their own are not scaled.
  EXPECT_EQ(table_rows("gemma3_text", R"(,"rope_local_base_freq":10000.0,
    "rope_scaling":{"rope_type":"linear","factor":8.0})"),
            (Rows{1000, 8000}));
  EXPECT_EQ(table_rows("gpt2", ""), Rows{});
}

// A part of the head is rotated where the setting of a layer says so; a proportional table holds
// the rest of the head as well.
TEST(RotaryTables, WidthsFollowTheSettingOfTheLayer) {
  using Widths = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(table_widths(R"(default")"), (Widths{16, 16}));
  EXPECT_EQ(table_widths(R"(default","partial_rotary_factor":0.5)"), (Widths{16, 8}));
  EXPECT_EQ(table_widths(R"(proportional","partial_rotary_factor":0.25)"), (Widths{16, 16}));
}

}  // namespace
}  // namespace vramgauge::test

// Memory surprises that people reported of vLLM: the figures as they were posted, with the issue.
#include <gtest/gtest.h>

#include <cmath>

#include "vllm_engine_support.h"

namespace vramgauge::test {
namespace {

VllmKvSettings settings_for(uint64_t max_model_len, uint64_t max_num_batched_tokens = 8192) {
  VllmKvSettings settings;
  settings.cache_type = cache_type_named("fp16");
  settings.max_model_len = max_model_len;
  settings.max_num_batched_tokens = max_num_batched_tokens;
  return settings;
}

ParallelPlan tensor_parallel(uint64_t ranks) {
  ParallelPlan plan;
  plan.tensor_ranks = ranks;
  return plan;
}

VllmKvPlan plan_of(const ModelSpec& spec, const std::string& version, const ParallelPlan& plan,
                   const VllmKvSettings& settings) {
  return value_or_throw(vllm_kv_plan(spec, plan, settings, vllm_profile_named(version).kv),
                        spec.name);
}

/// A pool of that size on every stage.
VllmKvPool pool_of(const VllmKvPlan& plan, double pool_gib) {
  const auto bytes = static_cast<int64_t>(pool_gib * (uint64_t{1} << 30));
  const std::vector<BytesDelta> available(plan.stage_block_bytes.size(), BytesDelta(bytes));
  return value_or_throw(vllm_kv_pool(plan, available), "pool");
}

double tokens(const VllmKvPool& pool) { return static_cast<double>(pool.token_line); }

// vllm issues 10927 and 15196: 35.42 GiB held 85,968 tokens before latents were cached, and
// 14.96 GiB 464,880 in 0.7.2, which padded them.
TEST(VllmSurprises, LatentsBeforeAndAfter) {
  const ModelSpec& spec = preset_spec("deepseek-ai__DeepSeek-V2-Lite-Chat");
  const auto at = [&spec](const char* version, double pool_gib) {
    return tokens(pool_of(plan_of(spec, version, {}, settings_for(8192)), pool_gib));
  };
  EXPECT_NEAR(at("0.6.3", 35.42), 85'968, 32);
  EXPECT_NEAR(at("0.7.2", 14.96), 464'880, 232);
  const VllmKvPlan now = plan_of(spec, "0.19", {}, settings_for(8192));
  EXPECT_EQ(vllm_bytes_per_token(now, 0).count(), 27U * 576 * 2);
}

// tenstorrent/vllm issue 50, huggingface/transformers issue 48307: heads are replicated, so eight
// ranks of four KV heads cost each what four ranks do.
TEST(VllmSurprises, MoreRanksThanHeads) {
  const ModelSpec& spec = preset_spec("Qwen__Qwen3-235B-A22B");
  const auto at = [&spec](uint64_t ranks) {
    return vllm_bytes_per_token(
               plan_of(spec, "0.10.2", tensor_parallel(ranks), settings_for(32768)), 0)
        .count();
  };
  EXPECT_EQ(at(2), 96'256U);
  EXPECT_EQ(at(4), 48'128U);
  EXPECT_EQ(at(8), 48'128U);
}

// vllm issues 32105 and 34076: a worker was asked for the cache of all stages.
TEST(VllmSurprises, PipelineStagesInTheCheck) {
  const ModelSpec& spec = preset_spec("Qwen__Qwen3-VL-30B-A3B-Instruct");
  ParallelPlan plan;
  plan.pipeline_stages = 3;
  const auto needed = [&](const char* version) {
    return gib(pool_of(plan_of(spec, version, plan, settings_for(262'144)), 9.05).needed);
  };
  EXPECT_DOUBLE_EQ(needed("0.13"), 8.0);
  EXPECT_DOUBLE_EQ(needed("0.14"), 24.0);
  EXPECT_DOUBLE_EQ(needed("0.16"), 8.0);

  plan.pipeline_stages = 2;
  plan.stage_layers = {16, 32};
  const auto longest = [&](const char* version) {
    const VllmKvPlan split = plan_of(spec, version, plan, settings_for(262'144));
    const auto gib_delta = [](double value) {
      return BytesDelta(static_cast<int64_t>(value * (uint64_t{1} << 30)));
    };
    return value_or_throw(vllm_kv_pool(split, {gib_delta(3.18), gib_delta(12)}), "pool").max_len;
  };
  EXPECT_NEAR(static_cast<double>(longest("0.15")), 34'736, 32);
  EXPECT_NEAR(static_cast<double>(longest("0.16")), 104'000, 500);
}

// vllm issue 43308: the pool of 50 GiB did not shrink, the line changed its meaning. The length is
// not stated; half the model's own gives the newer figure.
TEST(VllmSurprises, TheTokenLineOfHybridsChanged) {
  const ModelSpec& spec = preset_spec("google__gemma-4-31B-it");
  const auto at = [&spec](const char* version) {
    return tokens(pool_of(plan_of(spec, version, {}, settings_for(131'072, 2048)), 50));
  };
  EXPECT_NEAR(at("0.20"), 55'000, 0.02 * 55'000);
  EXPECT_NEAR(at("0.21"), 525'000, 0.05 * 525'000);
}

// vllm issue 19996: the cache of a draft layer comes on top of the 32 layers of the model.
TEST(VllmSurprises, DraftLayersCacheToo) {
  ModelSpec spec = preset_spec("meta-llama__Llama-3.1-8B-Instruct");
  spec.mtp_layers = {spec.layers.front()};
  VllmKvSettings settings = settings_for(32'768);
  settings.loads_draft_layers = true;
  const VllmKvPlan plan = plan_of(spec, "0.9.1", {}, settings);
  EXPECT_EQ(vllm_bytes_per_token(plan, 0).count(), 135'168U);
  EXPECT_NEAR(tokens(pool_of(plan, 51.63)), 410'128, 64);
}

// Kimi-K2, public log: eight ranks hold what one does; context parallelism spreads it.
TEST(VllmSurprises, ContextParallelismSpreadsLatents) {
  const ModelSpec& spec = preset_spec("moonshotai__Kimi-K2-Instruct");
  VllmKvSettings settings = settings_for(131'072);
  const double pool = gib(715'072.0 * 70'272);
  EXPECT_NEAR(tokens(pool_of(plan_of(spec, "0.11", tensor_parallel(8), settings), pool)), 715'072,
              16);
  settings.context_ranks = 8;
  const VllmKvPool spread = pool_of(plan_of(spec, "0.11", tensor_parallel(8), settings), pool);
  EXPECT_NEAR(tokens(spread), 5'721'088, 1'024);
}

// vllm issue 44376: DeepSeek-V4-Flash in the LLM class, whose default is 16,384 tokens.
TEST(VllmSurprises, CompressedCachesHaveALargeFixedPart) {
  const ModelSpec& spec = preset_spec("deepseek-ai__DeepSeek-V4-Flash");
  const VllmKvPlan plan = plan_of(spec, "0.22", tensor_parallel(2), settings_for(30'000, 16'384));
  const VllmKvPool pool = pool_of(plan, 5.44);
  EXPECT_NEAR(gib(pool.needed), 6.66, 0.005);
  EXPECT_NEAR(static_cast<double>(pool.max_len), 13'528, 16);
  EXPECT_EQ(pool.refusal, VllmRefusal::too_long);
}

// vllm issue 53961: 23.32 GiB for one request of 1,048,576 tokens, on ROCm, whose pages are not
// those of FlashMLA; two batches in flight.
TEST(VllmSurprises, LargerDefaultBudgetsNeedLargerCaches) {
  const ModelSpec& spec = preset_spec("deepseek-ai__DeepSeek-V4-Pro");
  const auto needed = [&spec](uint64_t batched_tokens) {
    const VllmKvPlan plan =
        plan_of(spec, "0.27", tensor_parallel(8), settings_for(1'048'576, batched_tokens));
    return gib(pool_of(plan, 20).needed);
  };
  EXPECT_NEAR(needed(16'384), 23.32, 0.15 * 23.32);
  EXPECT_LT(needed(8'192), 0.75 * needed(16'384));
}

// vllm issue 29233: the CPU's 4 GiB in blocks of 128 tokens.
TEST(VllmSurprises, ThePoolOfTheCpu) {
  VllmKvSettings settings = settings_for(40'960);
  settings.block_tokens = 128;
  const VllmKvPool pool =
      pool_of(plan_of(preset_spec("Qwen__Qwen3-0.6B"), "0.11", {}, settings), 4);
  EXPECT_NEAR(gib(pool.needed), 4.38, 0.005);
  EXPECT_EQ(pool.max_len, 37'376U);
}

/// A card of that size.
VllmDevice card(double total_gib) {
  VllmDevice device;
  device.total = bytes_from_gib(total_gib);
  return device;
}

// vllm issue 53961 and engine/arg_utils.py: the default budget by card and version.
TEST(VllmSurprises, TheDefaultBudgetDependsOnTheCard) {
  const auto budget = [](const VllmDevice& device, const char* version) {
    return vllm_default_flags({}, device, vllm_profile_named(version), 4096).max_num_batched_tokens;
  };
  VllmDevice a100 = card(79.25);
  a100.is_a100 = true;
  EXPECT_EQ(budget(a100, "0.19"), 2048U);
  EXPECT_EQ(budget(card(44.4), "0.19"), 2048U);
  EXPECT_EQ(budget(card(79.19), "0.19"), 8192U);
  EXPECT_EQ(budget(card(191.98), "0.19"), 8192U);
  EXPECT_EQ(budget(card(191.98), "0.27"), 16'384U);
}

VllmActivation peak_of(const ModelSpec& spec, const char* version, uint64_t batched_tokens,
                       uint64_t requests) {
  VllmLoad load;
  load.spec = &spec;
  load.max_num_batched_tokens = batched_tokens;
  load.max_num_seqs = requests;
  load.max_model_len = 8192;
  load.multiprocessors = 132;
  load.is_hopper_or_newer = true;
  return value_or_throw(vllm_activation(load, vllm_profile_named(version), 0), spec.name);
}

// vllm issue 15446: the peak grows with the budget once the forward pass is the larger part.
TEST(VllmSurprises, TheBudgetIsWhatProfilingRuns) {
  const ModelSpec& spec = preset_spec("meta-llama__Llama-3.1-8B-Instruct");
  const double usual = gib(peak_of(spec, "0.8.4", 8'192, 256).forward);
  const double large = gib(peak_of(spec, "0.8.4", 131'072, 256).peak);
  // 16 times the tokens x (3 x 4,096 + 3 x 14,336) x 2 B, and 32 MiB beside.
  EXPECT_NEAR(large, 131'072.0 * 55'296 * 2 / (1U << 30U), 0.1);
  EXPECT_GT(large, 14 * usual);
}

// A public report of 0.15.1: the sampler's 1,024 dummy sequences wanted 1.74 GiB more than the
// logits themselves, of which 12 B each are meant: 1,024 x 151,552 x 12 B.
TEST(VllmSurprises, TheSamplersShareHasNothingToDoWithTheModelsSize) {
  const ModelSpec& small = preset_spec("Qwen__Qwen3-0.6B");
  const ModelSpec& large = preset_spec("Qwen__Qwen3-32B");
  const double difference = gib(peak_of(large, "0.11", 8'192, 1'024).sampler) -
                            gib(peak_of(small, "0.11", 8'192, 1'024).sampler);
  // Hidden states of 8,192 tokens and 1,024 sampled rows, 5,120 against 1,024 wide.
  EXPECT_NEAR(difference, 9'216 * 4'096 * 2.0 / (1U << 30U), 0.001);
}

/// An estimate of a model in 16 bits on one card.
VllmEstimate estimate_on(const std::string& slug, const VllmDevice& device, const VllmFlags& flags,
                         uint64_t max_model_len, const char* version) {
  VllmInputs inputs;
  inputs.spec = &preset_spec(slug);
  inputs.device = device;
  inputs.flags = flags;
  inputs.cache = settings_for(max_model_len);
  inputs.workload = {max_model_len, 1};
  const std::vector<WeightTensor> tensors = weight_tensors(*inputs.spec);
  VllmModel model;
  model.spec = inputs.spec;
  model.tensors = &tensors;
  model.compute_capability = device.capability;
  model.storage.resize(tensors.size());
  inputs.stage_weights = {value_or_throw(load_vllm_weights(model, inputs.plan, {0, 0, 0}), slug)};
  return value_or_throw(estimate_vllm(inputs, vllm_profile_named(version)), slug);
}

// vllm issue 33263: the pool takes what is left, whatever the requests need.
TEST(VllmSurprises, ThePoolIsFilledRegardlessOfNeed) {
  VllmFlags flags;
  flags.max_num_seqs = 1;
  const VllmEstimate estimate = estimate_on("Qwen__Qwen3-1.7B", card(23.6), flags, 1024, "0.14");
  EXPECT_GT(gib(estimate.stages.front().pool), 17);
  EXPECT_NEAR(gib(estimate.breakdown.cache.bytes_per_request), 1024 * 114'688.0 / (1U << 30U),
              0.001);
}

// vllm issue 10533: a second engine on the card finds less free than its share and refuses.
TEST(VllmSurprises, ASecondEngineRefuses) {
  VllmDevice shared = card(79.15);
  shared.held_by_others = bytes_from_gib(68.01);
  VllmFlags flags;
  flags.gpu_memory_utilization = Decimal::parse("0.2");
  const VllmEstimate estimate = estimate_on("Qwen__Qwen3-1.7B", shared, flags, 1024, "0.19");
  EXPECT_TRUE(estimate.lacks_free_memory);
  EXPECT_EQ(estimate.breakdown.verdict.state, VerdictState::does_not_fit);
}

// vllm issue 40256 and others: a pool given by hand is not profiled and not limited.
TEST(VllmSurprises, APoolGivenByHand) {
  VllmFlags flags;
  flags.kv_cache_memory = GiB(12);
  const VllmEstimate estimate = estimate_on("Qwen__Qwen3-1.7B", card(23.6), flags, 8192, "0.22");
  EXPECT_EQ(estimate.stages.front().pool.count(), static_cast<int64_t>(GiB(12).count()));
  EXPECT_EQ(estimate.pool.num_blocks, GiB(12).count() / (114'688 * 16));
}

}  // namespace
}  // namespace vramgauge::test

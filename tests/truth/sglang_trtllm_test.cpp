// SGLang and TensorRT-LLM: pools of public start-up logs (engine_logs.jsonl), from the logged
// weights and flags.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/sglang.h"
#include "engine/trtllm.h"
#include "vllm_engine_support.h"

namespace vramgauge::test {
namespace {

SglangProfile sglang() {
  static const json::Value entry = read_json(VRAMGAUGE_PRESET_DIR "/engines/sglang.json");
  return value_or_throw(sglang_profile(entry, 5012), "sglang");
}

TrtllmProfile trtllm() {
  static const json::Value entry = read_json(VRAMGAUGE_PRESET_DIR "/engines/tensorrt_llm.json");
  return value_or_throw(trtllm_profile(entry, 1'000'000), "tensorrt_llm");
}

SglangInputs sglang_inputs(const std::string& slug, double total_gib, double weights_gib,
                           uint64_t ranks, const char* type) {
  SglangInputs inputs;
  inputs.spec = &preset_spec(slug);
  inputs.stage_weights = {bytes_from_gib(weights_gib)};
  inputs.plan.tensor_ranks = ranks;
  inputs.device_total = bytes_from_gib(total_gib);
  inputs.cache_type = cache_type_named(type);
  inputs.context_tokens = 32768;
  return inputs;
}

struct WindowedRow {
  const char* fraction;
  const char* ratio;
  double full_tokens;
  double window_tokens;
  double pool_gib;
};

// mattbucci, 2x RTX 3090, 0.5.12: Gemma-4-31B with 11.07 GiB of weights on each card. Every full
// layer costs 4,096 B a token (its heads are replicated), every windowed one 8,192.
TEST(SglangEngine, WindowsHaveAPoolOfTheirOwn) {
  const WindowedRow rows[] = {{"0.85", "0.8", 24'248, 19'398, 8.33},
                              {"0.85", "0.1", 109'120, 10'912, 8.33},
                              {"0.92", "0.1", 130'144, 13'014, 9.93}};
  for (const WindowedRow& row : rows) {
    SglangInputs inputs = sglang_inputs("google__gemma-4-31B-it", 23.58, 11.07, 2, "fp16");
    inputs.mem_fraction_static = Decimal::parse(row.fraction);
    inputs.swa_full_tokens_ratio = Decimal::parse(row.ratio);
    const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, sglang()), "gemma");
    std::printf("share %s ratio %s: pool %.2f (%.2f) GiB, full %llu (%.0f), window %llu (%.0f)\n",
                row.fraction, row.ratio, gib(estimate.rest), row.pool_gib,
                static_cast<unsigned long long>(estimate.pools.full_tokens), row.full_tokens,
                static_cast<unsigned long long>(estimate.pools.window_tokens), row.window_tokens);
    EXPECT_NEAR(gib(estimate.rest), row.pool_gib, 0.06 * row.pool_gib);
    EXPECT_NEAR(static_cast<double>(estimate.pools.full_tokens), row.full_tokens,
                0.02 * row.full_tokens);
    EXPECT_NEAR(static_cast<double>(estimate.pools.window_tokens), row.window_tokens,
                0.02 * row.window_tokens);
    EXPECT_TRUE(estimate.starts);
    EXPECT_LE(gib(estimate.rest_least), row.pool_gib);
    EXPECT_GE(gib(estimate.rest_most), row.pool_gib);
  }
}

// The same machine: 12.91 GiB of Devstral, fp8 cache, 214,107 tokens of 40,960 B.
TEST(SglangEngine, PlainAttentionHasOnePool) {
  SglangInputs inputs =
      sglang_inputs("mistralai__Devstral-Small-2-24B-Instruct-2512", 23.58, 12.91, 2, "fp8");
  inputs.mem_fraction_static = Decimal::parse("0.92");
  const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, sglang()), "devstral");
  EXPECT_NEAR(static_cast<double>(estimate.pools.full_tokens), 214'107, 0.02 * 214'107);
  EXPECT_EQ(estimate.pools.window_tokens, 0U);
}

// vllm issue 21348: Qwen3-235B-A22B-FP8 on four H100 at 0.93: 16.46 GiB are 367,404 tokens.
TEST(SglangEngine, TokensOfAPool) {
  SglangInputs inputs = sglang_inputs("Qwen__Qwen3-235B-A22B-FP8", 79.19, 0, 4, "fp16");
  inputs.mem_fraction_static = Decimal::parse("0.93");
  const SglangProfile profile = sglang();
  const double share = (79.19 - profile.context_gib.value.to_double()) * 0.93;
  inputs.stage_weights = {bytes_from_gib(share - profile.after_load_gib.value.to_double() - 16.46)};
  const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, profile), "qwen");
  EXPECT_NEAR(static_cast<double>(estimate.pools.full_tokens), 367'404, 0.001 * 367'404);
}

// --max-total-tokens caps the pool (sglang-qwen25-05b).
TEST(SglangEngine, TheCapOnTokens) {
  SglangInputs inputs = sglang_inputs("Qwen__Qwen2.5-0.5B-Instruct", 79.19, 0.98, 1, "fp16");
  inputs.max_total_tokens = 20'480;
  const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, sglang()), "qwen");
  EXPECT_EQ(estimate.pools.full_tokens, 20'480U);
}

// server_args.py by hand. 24 GiB: 512 + 2,048 x 1.5 + 128 + 24 x 2 = 3,760 MiB of 24,146 (23.58
// GiB): 0.844. H100: 512 + 8,192 x 1.5 + 128 + 512 = 13,440 of 81,091 MiB: 0.834.
TEST(SglangEngine, TheDefaultShareByCard) {
  const auto share = [](double total_gib) {
    const SglangInputs inputs =
        sglang_inputs("Qwen__Qwen2.5-0.5B-Instruct", total_gib, 1, 1, "fp16");
    return value_or_throw(estimate_sglang(inputs, sglang()), "qwen").mem_fraction_static.text();
  };
  EXPECT_EQ(share(23.58), "0.844");
  EXPECT_EQ(share(79.19), "0.834");
}

// sgl-project issue 24453 and others: with data-parallel attention each rank holds all heads.
TEST(SglangEngine, DataParallelAttentionKeepsAllHeads) {
  SglangInputs inputs = sglang_inputs("Qwen__Qwen3-235B-A22B-FP8", 79.19, 30, 4, "fp16");
  inputs.mem_fraction_static = Decimal::parse("0.85");
  const SglangEstimate divided = value_or_throw(estimate_sglang(inputs, sglang()), "qwen");
  inputs.attention_replicas = 4;
  const SglangEstimate whole = value_or_throw(estimate_sglang(inputs, sglang()), "qwen");
  EXPECT_NEAR(
      static_cast<double>(divided.pools.full_tokens) / static_cast<double>(whole.pools.full_tokens),
      4, 0.001);
}

// server_args.py by hand, eight ranks on H100: 512 + 12,288 + 1,024 + 512 x 2 + 512 x 8 x (3 + 1.5)
// = 33,280 of 81,091 MiB with data-parallel attention, 14,848 without: 0.59 and 0.817.
TEST(SglangEngine, ReplicasOfAttentionReserveMore) {
  SglangInputs inputs = sglang_inputs("Qwen__Qwen3-235B-A22B-FP8", 79.19, 30, 8, "fp16");
  const auto share = [&] {
    return value_or_throw(estimate_sglang(inputs, sglang()), "qwen").mem_fraction_static.text();
  };
  EXPECT_EQ(share(), "0.817");
  inputs.attention_replicas = 8;
  EXPECT_EQ(share(), "0.59");
  inputs.attention_replicas = 3;
  EXPECT_EQ(estimate_sglang(inputs, sglang()).error().front().code,
            ErrorCode::engine_not_divisible);
}

// Qwen3.5 hybrids: 0.9 of the pool's other part goes to states, of which three serve a request.
TEST(SglangEngine, StatesHaveAPoolOfTheirOwn) {
  const SglangInputs inputs = sglang_inputs("Qwen__Qwen3.5-35B-A3B", 79.19, 40, 1, "fp16");
  const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, sglang()), "qwen");
  // 30 layers of 2,146,304 B (3 x 8,192 x 2 + 32 x 128 x 128 x 4) each.
  const double states = gib(estimate.rest) * 0.9 / 1.9 / gib(30 * 2'146'304.0);
  EXPECT_NEAR(static_cast<double>(estimate.pools.states), states, 1);
  EXPECT_EQ(estimate.pools.max_requests, estimate.pools.states / 3);
}

// The answers turn the verdict round: one more does not fit.
TEST(SglangEngine, AnswersAreTheMostThatIsServed) {
  SglangInputs inputs = sglang_inputs("google__gemma-3-27b-it", 79.19, 51.7, 1, "fp16");
  inputs.num_requests = 4;
  inputs.swa_full_tokens_ratio = Decimal::parse("0.25");
  const auto state = [&] {
    return value_or_throw(estimate_sglang(inputs, sglang()), "gemma").breakdown.verdict.state;
  };
  const Answers answers =
      value_or_throw(estimate_sglang(inputs, sglang()), "gemma").breakdown.answers;
  inputs.context_tokens = *answers.max_context_tokens;
  EXPECT_NE(state(), VerdictState::does_not_fit);
  ++inputs.context_tokens;
  EXPECT_EQ(state(), VerdictState::does_not_fit);
  inputs.context_tokens = 32768;
  inputs.num_requests = *answers.max_requests;
  EXPECT_NE(state(), VerdictState::does_not_fit);
  ++inputs.num_requests;
  EXPECT_EQ(state(), VerdictState::does_not_fit);
}

// Mamba caches states alone: 64 layers of 5,120 x 16 fp32 and 3 x 5,120 fp16 elements.
TEST(SglangEngine, StatesAloneAreServed) {
  const SglangInputs inputs = sglang_inputs("state-spaces__mamba-2.8b-hf", 79.19, 5.2, 1, "fp16");
  const SglangEstimate estimate = value_or_throw(estimate_sglang(inputs, sglang()), "mamba");
  EXPECT_EQ(estimate.breakdown.verdict.state, VerdictState::fits);
  EXPECT_TRUE(estimate.starts);
  EXPECT_EQ(estimate.breakdown.cache.fixed_bytes_per_request.count(),
            3U * 64 * (5120 * 16 * 4 + 3 * 5120 * 2));
  EXPECT_FALSE(estimate.breakdown.answers.max_context_tokens.has_value());
}

TrtllmInputs trtllm_inputs(const std::string& slug, double total_gib, double weights_gib,
                           const char* type) {
  TrtllmInputs inputs;
  inputs.spec = &preset_spec(slug);
  inputs.stage_weights = {bytes_from_gib(weights_gib)};
  inputs.device_total = bytes_from_gib(total_gib);
  inputs.cache_type = cache_type_named(type);
  inputs.context_tokens = 8192;
  return inputs;
}

// trtllm-qwen3-reranker-h100: 68.69 GiB, 643,136 tokens.
TEST(TrtllmEngine, TakesAShareOfWhatIsFree) {
  const TrtllmInputs inputs = trtllm_inputs("Qwen__Qwen3-0.6B", 79.1, 1.12, "fp16");
  const TrtllmEstimate estimate = value_or_throw(estimate_trtllm(inputs, trtllm()), "qwen");
  EXPECT_NEAR(gib(estimate.pool), 68.69, 0.01 * 79.1);
  EXPECT_NEAR(static_cast<double>(estimate.pool_tokens), 643'136, 0.01 * 643'136);
  EXPECT_EQ(estimate.pool_tokens % 32, 0U);
}

// trtllm-llama31-8b-5090: 17.83 GiB free, 16.05 of cache, 263,008 tokens in blocks of 32.
TEST(TrtllmEngine, WholeBlocks) {
  TrtllmInputs inputs = trtllm_inputs("meta-llama__Llama-3.1-8B-Instruct", 31.84, 0, "fp8");
  const TrtllmEstimate empty = value_or_throw(estimate_trtllm(inputs, trtllm()), "llama");
  inputs.stage_weights = {bytes_from_gib(gib(empty.free) - 17.83)};
  const TrtllmEstimate estimate = value_or_throw(estimate_trtllm(inputs, trtllm()), "llama");
  EXPECT_NEAR(gib(estimate.pool), 16.05, 0.01);
  EXPECT_NEAR(static_cast<double>(estimate.pool_tokens), 263'008, 100);
}

// trtllm-qwq32b-a100-40: about 19 GiB are gone before the cache, 20.44 are free.
TEST(TrtllmEngine, QuantisedOnASmallerCard) {
  TrtllmInputs inputs = trtllm_inputs("Qwen__QwQ-32B", 39.49, 17.9, "fp16");
  inputs.max_num_tokens = 4096;
  const TrtllmEstimate estimate = value_or_throw(estimate_trtllm(inputs, trtllm()), "qwq");
  EXPECT_NEAR(gib(estimate.free), 20.44, 0.06 * 20.44);
  EXPECT_NE(estimate.breakdown.verdict.state, VerdictState::does_not_fit);
}

TEST(TrtllmEngine, NothingFreeIsNoPool) {
  const TrtllmInputs inputs = trtllm_inputs("Qwen__QwQ-32B", 15, 17.9, "fp16");
  const TrtllmEstimate estimate = value_or_throw(estimate_trtllm(inputs, trtllm()), "qwq");
  EXPECT_EQ(estimate.pool_tokens, 0U);
  EXPECT_EQ(estimate.breakdown.verdict.state, VerdictState::does_not_fit);
}

}  // namespace
}  // namespace vramgauge::test

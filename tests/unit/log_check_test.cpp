// A log beside predictions that are made by hand: what is compared, and which reasons the numbers
// speak for. The figures are those of public logs (tests/truth/engine_logs.jsonl by id).
#include "plan/log_check.h"

#include <gtest/gtest.h>

#include "import/engine_log_json.h"
#include "report/log_calibration.h"
#include "report/log_observation.h"
#include "truth/preset_files.h"

namespace vramgauge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

EngineLog read_log(std::string_view text) {
  EngineLogReader reader;
  reader.feed(text);
  return reader.finish();
}

EngineLog log_of(const std::string& id) {
  return read_log(test::read_text(std::string(VRAMGAUGE_TEST_DIR) + "/data/logs/" + id + ".log"));
}

/// Hundredths of a GiB.
int64_t gib(int64_t hundredths) { return hundredths * kGiB / 100; }

CheckPrediction predicted(CheckQuantity quantity, int64_t value, int64_t band = 0) {
  return {quantity, "", {value, value - band, value + band}};
}

bool has(const CheckRow& row, CheckReason reason) {
  return std::find(row.reasons.begin(), row.reasons.end(), reason) != row.reasons.end();
}

TEST(LogCheck, TermsOfADebugLogAreSetBesideTheirPredictions) {
  const EngineLog log = log_of("qwen3-8b-fp8-24g-tokens");
  const LogCheck check = check_log(log,
                                   {predicted(CheckQuantity::weights, gib(880)),
                                    predicted(CheckQuantity::activations, gib(150), gib(20)),
                                    predicted(CheckQuantity::runtime, gib(13), gib(2)),
                                    predicted(CheckQuantity::kv_bytes_per_token, 147456)},
                                   {});
  const CheckRow* weights = check.find(CheckQuantity::weights);
  ASSERT_NE(weights, nullptr);
  EXPECT_TRUE(weights->is_in_band);
  const CheckRow* activations = check.find(CheckQuantity::activations);
  EXPECT_TRUE(activations->is_in_band);
  EXPECT_NEAR(static_cast<double>(activations->residual()), static_cast<double>(-gib(10)),
              static_cast<double>(gib(1)));
  const CheckRow* runtime = check.find(CheckQuantity::runtime);
  EXPECT_FALSE(runtime->is_in_band);
  // The row: 9,232,221,491 bytes hold 62,608 tokens, blocks of 16 and the print's rounding apart.
  const CheckRow* per_token = check.find(CheckQuantity::kv_bytes_per_token);
  EXPECT_EQ(per_token->measured, 147460);
  EXPECT_FALSE(per_token->is_large);
  EXPECT_EQ(check.find(CheckQuantity::capacity)->predicted, std::nullopt);
  // Line 11 says the same; the later one counts.
  EXPECT_EQ(runtime->line, 16U);
}

// The row's note: Qwen3-235B has 4 KV heads, so TP 8 costs per GPU what TP 4 costs, 48,128 B.
TEST(LogCheck, HeadsAreReplicated) {
  const EngineLog log = log_of("qwen3-235b-fp8-tp8-ep8");
  LogFacts facts;
  facts.num_kv_heads = 4;
  facts.tensor_ranks = 8;
  const LogCheck check =
      check_log(log, {predicted(CheckQuantity::kv_bytes_per_token, 48128 / 2)}, facts);
  const CheckRow* row = check.find(CheckQuantity::kv_bytes_per_token);
  ASSERT_TRUE(row->is_large);
  EXPECT_TRUE(has(*row, CheckReason::kv_heads_replicated));
  EXPECT_FALSE(has(*row, CheckReason::gb_read_as_gib));
}

TEST(LogCheck, GigabytesReadAsGibibytes) {
  const EngineLog log = log_of("vllm10517-llama31-8b-3090-29000");
  // 14.9888 GiB, taken for 14.9888 x 10^9.
  const LogCheck check = check_log(log, {predicted(CheckQuantity::weights, 14'988'800'000)}, {});
  EXPECT_TRUE(has(*check.find(CheckQuantity::weights), CheckReason::gb_read_as_gib));
}

// The row's note: peak less weights is 2.99 GiB.
TEST(LogCheck, TheOldPeakHoldsTheWeights) {
  const EngineLog log = log_of("vllm10517-llama31-8b-3090-29000");
  const LogCheck check = check_log(log, {}, {});
  EXPECT_NEAR(static_cast<double>(check.find(CheckQuantity::activations)->measured),
              static_cast<double>(gib(299)), static_cast<double>(gib(1)));
}

// A log of August 2026: 2.4 GiB with 1.55 of graphs, and a sampler's 256 x 248,320 x 14 B = 0.83.
TEST(LogCheck, TheNewPeakHoldsTheGraphs) {
  const EngineLog log = read_log(
      "INFO [core.py:122] Initializing a V1 LLM engine (v0.27.0) with config: model='m'\n"
      "INFO [gpu_worker.py:741] CUDA graph pool memory: 0.71 GiB (actual), 1.55 GiB (estimated), "
      "difference: 0.84 GiB (119.3%).\n"
      "INFO [gpu_worker.py:804] Free memory on device (79.99/80.0 GiB) on startup. Desired GPU "
      "memory utilization is (0.92, 73.6 GiB). Actual usage is 51.66 GiB for consumed memory "
      "(weights + non-torch), 2.4 GiB for peak activation, and 0.71 GiB for CUDAGraph memory.\n");
  const LogCheck check = check_log(log, {}, {});
  EXPECT_NEAR(static_cast<double>(check.find(CheckQuantity::activations)->measured),
              static_cast<double>(gib(85)), static_cast<double>(gib(1)));
}

// vllm issue 19996: Llama-3.1-8B with EAGLE, 51.63 GiB = 410,128 tokens.
TEST(LogCheck, DraftLayersKeepACache) {
  const EngineLog log = read_log(
      "INFO LLM engine (v0.9.1) with config: model='meta-llama/Llama-3.1-8B-Instruct', "
      "speculative_config=SpeculativeConfig(method='eagle', num_spec_tokens=2)\n"
      "INFO Available KV cache memory: 51.63 GiB\nINFO GPU KV cache size: 410,128 tokens\n");
  LogFacts facts;
  facts.num_layers = 32;
  facts.num_kv_heads = 8;
  const LogCheck check =
      check_log(log, {predicted(CheckQuantity::kv_bytes_per_token, 131072)}, facts);
  EXPECT_EQ(check.find(CheckQuantity::kv_bytes_per_token)->reasons,
            std::vector<CheckReason>{CheckReason::draft_layers});
}

// vllm issue 40691: 290,864 tokens and 33.04x at 32,768 are 1.08M tokens.
TEST(LogCheck, TheConcurrencyLineGoesBeforeTheOldTokenLine) {
  const EngineLog log = read_log(
      "INFO LLM engine (v0.19.1) with config: model='Qwen/Qwen3.5-27B'\n"
      "INFO Setting attention block size to 784 tokens to ensure that attention page size is >= "
      "mamba page size.\n"
      "INFO GPU KV cache size: 290,864 tokens\n"
      "INFO Maximum concurrency for 32,768 tokens per request: 33.04x\n");
  const LogCheck check = check_log(log, {}, {});
  const CheckRow* tokens = check.find(CheckQuantity::kv_tokens);
  EXPECT_NEAR(static_cast<double>(tokens->measured), 33.04 * 32768, 1.0);
  EXPECT_EQ(tokens->line, 4U);
}

// vllm issue 40256: 5.16 GiB of cache with sleep mode, 3.17 without.
TEST(LogCheck, SleepModeHidesMemory) {
  const EngineLog log = read_log(
      "INFO non-default args: {'model': 'x', 'enable_sleep_mode': True}\n"
      "INFO Available KV cache memory: 5.16 GiB\n");
  const LogCheck check = check_log(log, {predicted(CheckQuantity::kv_pool, gib(317))}, {});
  EXPECT_TRUE(has(*check.find(CheckQuantity::kv_pool), CheckReason::sleep_mode));
}

// vllm issue 10533: 68.01 of 79.15 GiB were taken when the second engine began.
TEST(LogCheck, AnotherProcessHoldsMemory) {
  const EngineLog log = read_log(
      "INFO Memory profiling results: total_gpu_memory=79.15GiB initial_memory_usage=68.01GiB "
      "peak_torch_memory=9.30GiB memory_usage_post_profile=68.10GiB non_torch_memory=58.80GiB "
      "kv_cache_size=-52.27GiB gpu_memory_utilization=0.20\n"
      "INFO Loading model weights took 9.2210 GB\n");
  const LogCheck check = check_log(log, {predicted(CheckQuantity::runtime, gib(35))}, {});
  EXPECT_TRUE(has(*check.find(CheckQuantity::runtime), CheckReason::other_process));
}

TEST(LogCheck, TowersAndExpertsExplainAPeak) {
  const EngineLog log = log_of("l4-pod-8.7gib");
  LogFacts facts;
  facts.has_towers = true;
  const LogCheck check = check_log(log, {predicted(CheckQuantity::activations, gib(60))}, facts);
  const CheckRow* row = check.find(CheckQuantity::activations);
  EXPECT_TRUE(has(*row, CheckReason::vision_profile));
  EXPECT_FALSE(has(*row, CheckReason::expert_workspace));
}

TEST(LogCheck, BuffersByDevice) {
  const EngineLog log = log_of("llamacpp12369-32b-5xmi50");
  std::vector<CheckPrediction> predictions;
  for (int i = 0; i < 5; ++i) {
    const int64_t mib = int64_t{1} << 20;
    predictions.push_back(
        {CheckQuantity::kv_cache, std::to_string(i), {1664 * mib, 1664 * mib, 1664 * mib}});
  }
  const LogCheck check = check_log(log, predictions, {});
  int num_exact = 0;
  for (const CheckRow& row : check.rows)
    num_exact += row.quantity == CheckQuantity::kv_cache && row.residual() == 0 ? 1 : 0;
  EXPECT_EQ(num_exact, 4);
  EXPECT_EQ(check.rows.back().quantity, CheckQuantity::output_buffer);
  EXPECT_EQ(check.rows.back().where, "host");
}

TEST(LogCheck, CalibrationMovesTerms) {
  const EngineLog log = log_of("qwen3-8b-fp8-24g-tokens");
  const LogCheck check = check_log(
      log,
      {predicted(CheckQuantity::weights, gib(880)), predicted(CheckQuantity::activations, gib(98)),
       predicted(CheckQuantity::runtime, gib(13))},
      {});
  const Calibration correction = log_correction(check, {});
  const json::Value calibration = log_calibration(log, correction);
  ASSERT_NE(calibration.find("text"), nullptr);
  EXPECT_EQ(*calibration.find("text")->as_string(), "activations=+0.42,runtime=-0.11");
  const auto read = Calibration::parse(correction.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), correction.text());
  EXPECT_TRUE(log_calibration(log, log_correction({}, {})).is_null());
}

TEST(LogCheck, ExactTermsAreNotMoved) {
  const EngineLog log = log_of("qwen3-8b-fp8-24g-tokens");
  CheckPrediction weights = predicted(CheckQuantity::weights, gib(700));
  weights.predicted.is_exact = true;
  EXPECT_TRUE(log_correction(check_log(log, {weights}, {}), {}).is_empty());
}

// What is in force was part of the prediction: 0.42 of 1.40 GiB were, and nothing is left to add.
TEST(LogCheck, ACalibrationInForceStays) {
  const EngineLog log = log_of("qwen3-8b-fp8-24g-tokens");
  const auto in_force = Calibration::parse("activations=+0.42");
  ASSERT_TRUE(in_force);
  const LogCheck check =
      check_log(log, {predicted(CheckQuantity::activations, gib(140))}, LogFacts());
  EXPECT_EQ(log_correction(check, *in_force).text(), "activations=+0.42");
  const LogCheck more =
      check_log(log, {predicted(CheckQuantity::activations, gib(130))}, LogFacts());
  EXPECT_EQ(log_correction(more, *in_force).text(), "activations=+0.52");
}

// 1,000 blocks of 16 tokens where 20,000 tokens of 131,072 B were predicted: 4,000 tokens or
// 0.4883 GiB fewer, which the term with the widest band takes.
TEST(LogCheck, APoolAloneMovesTheLeastKnownTerm) {
  EngineLog log;
  log.engine = LogEngine::vllm;
  log.figures = {{LogQuantity::gpu_blocks, "", 1000, 1, 1},
                 {LogQuantity::block_size, "", 16, 1, 1}};
  CheckPrediction runtime = predicted(CheckQuantity::runtime, gib(30));
  CheckPrediction activations = predicted(CheckQuantity::activations, gib(100));
  runtime.predicted.high += gib(5);
  activations.predicted.high += gib(20);
  const std::vector<CheckPrediction> predictions = {
      runtime,
      activations,
      {CheckQuantity::kv_tokens, "", {20'000, 20'000, 20'000}},
      {CheckQuantity::kv_bytes_per_token, "", {131'072, 131'072, 131'072}}};
  LogFacts facts;
  facts.has_plain_cache = true;
  EXPECT_EQ(log_correction(check_log(log, predictions, facts), {}).text(), "activations=+0.4883");
  // Blocks of a cache of several kinds are no tokens.
  EXPECT_TRUE(log_correction(check_log(log, predictions, {}), {}).is_empty());
}

TEST(LogDocument, IsReadBackAsItWasWritten) {
  for (const std::string id : {"qwen3-8b-fp8-24g-tokens", "ollama6160-mistral-small-22b-48k",
                               "mattbucci-devstral-24b-0.92"}) {
    const EngineLog log = log_of(id);
    const json::Value document = write_engine_log(log);
    const auto again = read_engine_log(document, "");
    ASSERT_TRUE(again) << test::first_message(again.error());
    EXPECT_EQ(json::write(write_engine_log(*again)), json::write(document));
    EXPECT_EQ(json::write(log_observation(*again)), json::write(log_observation(log)));
  }
}

TEST(LogDocument, WhatIsWrongIsNamed) {
  json::Value document = write_engine_log(log_of("sglang-qwen25-05b"));
  document.set("engine", "mlx");
  document.set("more", uint64_t{1});
  const auto read = read_engine_log(document, "/log");
  ASSERT_FALSE(read);
  ASSERT_EQ(read.error().size(), 2U);
  EXPECT_EQ(read.error()[0].path, "/log/engine");
  EXPECT_EQ(read.error()[1].path, "/log/more");
}

}  // namespace
}  // namespace vramgauge

// Public start-up logs of vLLM from 0.1 to 0.29 (engine_logs.jsonl): cache per token, lines of
// hybrids, refusals, pools and whether the engine starts. README.md says why each miss is one.
#include <gtest/gtest.h>

#include <cmath>

#include "vllm_logs_support.h"

namespace vramgauge::test {
namespace {

/// Half of the last printed place.
constexpr double kPrintedGib = 0.005;

/// The planner's answer to the pool that a row states.
VllmKvPool planned(const LogRow& row, VllmKvPlan& plan) {
  VllmInputs inputs = inputs_without_weights(row);
  const VllmProfile profile = profile_of(row);
  inputs.cache.max_num_batched_tokens =
      vllm_default_flags(inputs.flags, inputs.device, profile, inputs.cache.max_model_len)
          .max_num_batched_tokens;
  const std::string id = row.text("id");
  plan = value_or_throw(vllm_kv_plan(*inputs.spec, inputs.plan, inputs.cache, profile.kv), id);
  const auto bytes = static_cast<int64_t>(row.measure("kv_cache_gib").value_or(0) * (1U << 30U));
  const std::vector<BytesDelta> available(plan.stage_block_bytes.size(), BytesDelta(bytes));
  return value_or_throw(vllm_kv_pool(plan, available), id);
}

double share_right(int right, int count) { return static_cast<double>(right) / count; }

TEST(VllmLogs, CacheBytesPerToken) {
  int count = 0;
  int right = 0;
  for (const LogRow& row : vllm_log_rows()) {
    if (!row.compares("kv_bytes_per_token")) continue;
    VllmKvPlan plan;
    planned(row, plan);
    const double predicted = static_cast<double>(vllm_bytes_per_token(plan, 0).count());
    const double measured = *row.measure("kv_bytes_per_token_measured");
    const double allowed = 0.005 + kPrintedGib / *row.measure("kv_cache_gib");
    const bool is_right = std::fabs(predicted / measured - 1) <= allowed;
    std::printf("%-50s %8.0f %10.1f B per token %s\n", row.text("id").c_str(), predicted, measured,
                is_right ? "" : "MISS");
    ++count;
    right += is_right ? 1 : 0;
  }
  EXPECT_EQ(count, 21);
  EXPECT_GE(share_right(right, count), 0.97);
}

TEST(VllmLogs, LinesOfHybrids) {
  int count = 0;
  for (const LogRow& row : vllm_log_rows()) {
    if (!row.compares("hybrid_lines")) continue;
    VllmKvPlan plan;
    const VllmKvPool pool = planned(row, plan);
    const double tokens = static_cast<double>(pool.token_line) / *row.measure("kv_tokens") - 1;
    const double concurrency =
        static_cast<double>(pool.concurrency_hundredths()) / 100 / *row.measure("max_concurrency") -
        1;
    std::printf("%-50s groups %zu raised to %llu: tokens %+.3f %%, concurrency %+.3f %%\n",
                row.text("id").c_str(), plan.groups.size(),
                static_cast<unsigned long long>(plan.raised_block_tokens), 100 * tokens,
                100 * concurrency);
    const double rounding = kPrintedGib / *row.measure("kv_cache_gib");
    EXPECT_LE(std::fabs(tokens), 0.005 + rounding) << row.text("id");
    EXPECT_LE(std::fabs(concurrency), 0.005 + rounding) << row.text("id");
    const double raised =
        row.measure("attention_block_size").value_or(static_cast<double>(plan.raised_block_tokens));
    EXPECT_EQ(static_cast<double>(plan.raised_block_tokens), raised) << row.text("id");
    ++count;
  }
  EXPECT_EQ(count, 5);
}

TEST(VllmLogs, CacheThatOneRequestNeeds) {
  int count = 0;
  for (const LogRow& row : vllm_log_rows()) {
    if (!row.compares("kv_needed_gib")) continue;
    VllmKvPlan plan;
    const VllmKvPool pool = planned(row, plan);
    const double measured = *row.measure("kv_needed_gib");
    std::printf("%-50s needed %6.2f %6.2f GiB, longest %llu %.0f\n", row.text("id").c_str(),
                gib(pool.needed), measured, static_cast<unsigned long long>(pool.max_len),
                row.measure("est_max_len").value_or(0));
    EXPECT_NEAR(gib(pool.needed), measured, 0.01 * measured) << row.text("id");
    EXPECT_EQ(pool.refusal, VllmRefusal::too_long) << row.text("id");
    ++count;
  }
  EXPECT_EQ(count, 3);
}

/// Builds for other makers' devices are engines of their own, with other kernels and allocators.
bool is_another_engine(const LogRow& row) {
  const std::string engine = row.text("engine");
  return engine == "vllm-ascend" || engine == "vllm-xpu" || engine == "vllm-tpu";
}

/// Whether what a row prints of a device adds up to its budget. One does not (README.md).
bool adds_up(const LogRow& row, const VllmEstimate& estimate) {
  if (!row.compares("kv_cache_gib")) return true;
  const auto weights = row.measure("weights_gib");
  const auto activation = row.measure("activation_peak_gib");
  const auto non_torch = row.measure("non_torch_gib");
  if (!weights || !activation || !non_torch) return true;
  const double sum = *weights + *activation + *non_torch + *row.measure("kv_cache_gib");
  return std::fabs(sum - gib(estimate.requested)) < 0.5;
}

struct PoolScore {
  int count = 0;
  int right = 0;
  int in_band = 0;
  std::vector<double> widths;

  void add(const LogRow& row, const VllmEstimate& estimate, double card) {
    const VllmStage& stage = estimate.stages.front();
    const double least = gib(stage.pool_least);
    const double most = gib(stage.pool_most);
    widths.push_back((most - least) / card);
    if (!row.compares("kv_cache_gib")) return;
    const double measured = *row.measure("kv_cache_gib");
    const double error = std::fabs(gib(stage.pool) - measured);
    const bool is_right = error <= std::max(0.06 * std::fabs(measured), 0.01 * card);
    const bool is_inside = least - kPrintedGib <= measured && measured <= most + kPrintedGib;
    std::printf(" | pool %.2f%s%s", measured, is_right ? "" : " MISS", is_inside ? "" : " OUTSIDE");
    ++count;
    right += is_right ? 1 : 0;
    in_band += is_inside ? 1 : 0;
  }
};

struct OutcomeScore {
  int count = 0;
  int right = 0;
  int tight = 0;

  void add(const LogRow& row, VerdictState state) {
    if (!row.compares("outcome")) return;
    const std::string outcome = *row.measured->find("outcome")->as_string();
    const bool is_right =
        outcome == "fits" ? state != VerdictState::does_not_fit : state != VerdictState::fits;
    std::printf(" | %s%s", outcome.c_str(), is_right ? "" : " MISS");
    ++count;
    right += is_right ? 1 : 0;
    tight += state == VerdictState::tight ? 1 : 0;
  }
};

TEST(VllmLogs, PoolsAndOutcomes) {
  PoolScore pools;
  OutcomeScore outcomes;
  for (const LogRow& row : vllm_log_rows()) {
    if (!row.compares("kv_cache_gib") && !row.compares("outcome")) continue;
    const std::string id = row.text("id");
    const VllmInputs inputs = inputs_of(row);
    const VllmEstimate estimate = value_or_throw(estimate_vllm(inputs, profile_of(row)), id);
    const VllmStage& stage = estimate.stages.front();
    std::printf(
        "%-50s weights %6.2f (%.2f) peak %5.2f (%.2f) runtime %.2f pool %6.2f [%.2f, "
        "%.2f] of which %.2f needed: %s",
        id.c_str(), gib(inputs.stage_weights.front().allocated),
        row.measure("weights_gib").value_or(0), gib(stage.activation.peak),
        row.measure("activation_peak_gib").value_or(0), gib(stage.runtime.bytes), gib(stage.pool),
        gib(stage.pool_least), gib(stage.pool_most), gib(estimate.pool.needed),
        verdict_name(estimate.breakdown.verdict.state).data());
    if (is_another_engine(row)) {
      std::printf(" | not counted: another engine\n");
    } else if (!adds_up(row, estimate)) {
      std::printf(" | not counted: the row contradicts itself\n");
    } else {
      pools.add(row, estimate, gib(inputs.device.total));
      outcomes.add(row, estimate.breakdown.verdict.state);
      std::printf("\n");
    }
  }
  std::sort(pools.widths.begin(), pools.widths.end());
  const double width = pools.widths[pools.widths.size() / 2];
  std::printf(
      "%d pools: %d right, %d inside a band of %.1f %% of the card in the median; %d "
      "outcomes: %d right, %d tight\n",
      pools.count, pools.right, pools.in_band, 100 * width, outcomes.count, outcomes.right,
      outcomes.tight);
  EXPECT_EQ(pools.count, 23);
  EXPECT_GE(share_right(pools.right, pools.count), 0.80);
  EXPECT_GE(share_right(pools.in_band, pools.count), 0.90);
  EXPECT_LE(width, 0.05);
  EXPECT_EQ(outcomes.count, 62);
  EXPECT_GE(share_right(outcomes.right, outcomes.count), 0.93);
  EXPECT_LE(share_right(outcomes.tight, outcomes.count), 0.15);
}

}  // namespace
}  // namespace vramgauge::test

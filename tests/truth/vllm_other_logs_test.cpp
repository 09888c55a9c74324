// Start-up logs that were looked up after the constants were settled: none of them took part in
// any, so they say what the next log will find.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "accuracy_log_vllm.h"
#include "accuracy_vllm_figures.h"
#include "truth_context.h"

namespace vramgauge::test {
namespace {

std::vector<tools::EngineLog> logs() {
  return given(tools::read_engine_logs(read_text(VRAMGAUGE_TEST_DIR "/truth/other_logs.jsonl")));
}

TEST(OtherLogs, Pools) {
  uint64_t rows = 0;
  for (const tools::EngineLog& row : logs()) {
    if (!row.compares("kv_cache_gib")) continue;
    const auto inputs = given(tools::vllm_inputs_of_log(row, truth_context()));
    const auto profile = given(tools::vllm_profile_of_log(row, truth_context()));
    const tools::PredictedReal pool = given(tools::vllm_figures(inputs, profile)).pool;
    const double truth = row.measured("kv_cache_gib").value_or(0);
    const double card = given(tools::card_of_log(row, engine_presets())).total_gib;
    EXPECT_LE(std::fabs(pool.value - truth), std::max(0.06 * truth, 0.01 * card)) << row.id();
    ++rows;
  }
  EXPECT_EQ(rows, 5U);
}

TEST(OtherLogs, Weights) {
  uint64_t rows = 0;
  for (const tools::EngineLog& row : logs()) {
    if (!row.compares("weights_gib")) continue;
    const double truth = row.measured("weights_gib").value_or(0);
    const double weights = tools::gib(given(tools::weights_of_log(row, truth_context())));
    EXPECT_NEAR(weights, truth, 0.015 * truth) << row.id();
    ++rows;
  }
  EXPECT_EQ(rows, 4U);
}

}  // namespace
}  // namespace vramgauge::test

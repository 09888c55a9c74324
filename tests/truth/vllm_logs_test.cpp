// Public start-up logs (engine_logs.jsonl): cache per token, lines of hybrids, refusals, weights,
// pools and whether the engine starts. README.md says why each miss is one. Bounds are those of the
// project's acceptance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "accuracy_checkpoints.h"
#include "accuracy_logs.h"
#include "accuracy_vllm_figures.h"
#include "truth_context.h"

namespace vramgauge::test {
namespace {

using Names = std::set<std::string>;

std::vector<tools::EngineLog> logs() {
  return given(tools::read_engine_logs(read_text(VRAMGAUGE_TEST_DIR "/truth/engine_logs.jsonl")));
}

const tools::Scores& scores() {
  static const tools::Scores all = [] {
    tools::Scores scored;
    tools::score_engine_logs(logs(), truth_context(), scored);
    return scored;
  }();
  return all;
}

tools::QuantityScore score_of(const std::string& name, uint64_t rows) {
  tools::QuantityScore score = quantity(scores(), name);
  std::printf("%-22s %3d rows, %3d within %s\n", name.c_str(), static_cast<int>(score.rows),
              static_cast<int>(score.within), score.rule.c_str());
  EXPECT_EQ(score.rows, rows) << name;
  return score;
}

double share_pct(uint64_t part, uint64_t rows) {
  return 100 * static_cast<double>(part) / static_cast<double>(rows);
}

/// Rows whose error is larger than that.
Names rows_off_by(const tools::QuantityScore& score, double pct) {
  Names names;
  for (const tools::Miss& miss : score.worst) {
    if (std::fabs(miss.error_pct) > pct) names.insert(miss.row.text);
  }
  return names;
}

TEST(EngineLogs, CacheBytesPerToken) {
  const tools::QuantityScore score = score_of("kv_bytes_per_token", 27);
  EXPECT_GE(share_pct(score.within, score.rows), 97);
}

TEST(EngineLogs, LinesOfHybrids) {
  for (const char* name : {"hybrid_tokens", "hybrid_concurrency"})
    EXPECT_EQ(score_of(name, 5).within, 5U) << name;
  EXPECT_EQ(score_of("hybrid_block_tokens", 2).within, 2U);
}

TEST(EngineLogs, CacheThatOneRequestNeeds) {
  EXPECT_EQ(score_of("kv_needed_gib", 3).within, 3U);
  EXPECT_EQ(score_of("est_max_len", 2).within, 2U);
  // Compressed caches and builds for other makers' devices: within 15 %, or explained.
  const tools::QuantityScore others = quantity(scores(), "kv_needed_gib (others)");
  EXPECT_EQ(rows_off_by(others, 15), (Names{"vllm43755-dsv4-pro-tp8pp2", "dsv4-flash-910b-dp8"}));
}

// An explanation that is no longer needed has to go.
TEST(EngineLogs, WeightsOfEveryComparableRow) {
  const tools::QuantityScore score = score_of("weights_gib", 72);
  EXPECT_EQ(rows_off_by(score, 1.5),
            (Names{"django-nemotron3-super-120b", "dsv4-flash-0731-600k-dspark",
                   "dsv4-flash-0731-600k-eager", "jethac-sglang-qwen25-15b-bf16-mem040",
                   "jethac-sglang-qwen25-15b-fp8", "mattbucci-devstral-24b-0.92",
                   "mattbucci-gemma4-31b-r0.1", "mattbucci-gemma4-31b-r0.1-mem92",
                   "mattbucci-gemma4-31b-r0.8", "qwen25-7b-bnb-8g", "vllm12773-dsr1-mi300a",
                   "vllm36372-qwen35-27b-lora", "vllm38486-qwen35-35b-fp8-44g",
                   "vllm51590-gptoss120b-8xpro4500"}));
}

/// 6 % of the pool, or 1 % of the smallest card of these rows, 14.74 GiB.
double allowed_error(const tools::Miss& miss) {
  return std::max(0.06 * std::fabs(miss.truth), 0.15);
}

TEST(EngineLogs, Pools) {
  const tools::QuantityScore score = score_of("kv_gib", 24);
  EXPECT_GE(share_pct(score.within, score.rows), 80);
  EXPECT_GE(score.band_pct, 90);
  Names outside;
  for (const tools::Miss& miss : score.worst) {
    if (std::fabs(miss.predicted - miss.truth) > allowed_error(miss)) outside.insert(miss.row.text);
  }
  EXPECT_EQ(outside, (Names{"llmd-h100-gpt-oss-120b-tp1", "qwen25-7b-bnb-8g",
                            "vllm57475-qwen38-27b-nvfp4kv-098"}));
}

/// Width of the pool's band over the card, in percent, of every row that has a verdict of vLLM's.
std::vector<double> band_widths() {
  std::vector<double> widths;
  for (const tools::EngineLog& row : logs()) {
    const bool is_asked = row.compares("kv_cache_gib") || row.compares("outcome");
    const auto card = tools::card_of_log(row, engine_presets());
    if (!row.is_vllm() || !is_asked || !card) continue;
    const auto inputs = given(tools::vllm_inputs_of_log(row, truth_context()));
    const auto profile = given(tools::vllm_profile_of_log(row, truth_context()));
    const tools::PredictedReal pool = given(tools::vllm_figures(inputs, profile)).pool;
    widths.push_back(100 * (pool.high - pool.low) / card->total_gib);
  }
  std::sort(widths.begin(), widths.end());
  return widths;
}

TEST(EngineLogs, BandsOfPoolsAreNarrow) {
  const std::vector<double> widths = band_widths();
  std::printf("%d bands, %.2f %% of the card in the median; %.2f %% over the rows with a pool\n",
              static_cast<int>(widths.size()), widths[widths.size() / 2],
              quantity(scores(), "kv_gib").band_width_pct);
  EXPECT_LE(widths[widths.size() / 2], 5);
  EXPECT_LE(quantity(scores(), "kv_gib").band_width_pct, 5);
}

TEST(EngineLogs, Outcomes) {
  const tools::QuantityScore score = quantity(scores(), "outcome");
  std::printf("outcome: %d rows, %d right, %d tight, %d not predicted\n",
              static_cast<int>(score.rows), static_cast<int>(score.right),
              static_cast<int>(score.tight), static_cast<int>(score.unpredicted));
  EXPECT_EQ(score.rows, 80U);
  EXPECT_GE(share_pct(score.right, score.rows), 93);
  EXPECT_LE(share_pct(score.tight, score.rows), 15);
  Names wrong;
  for (const tools::WrongVerdict& each : score.wrong)
    wrong.insert(each.row.text);
  EXPECT_EQ(wrong, (Names{"dsv4-flash-910b-dp8", "gemma4-31b-mtp-64g", "glm52-nvfp4-4xgb10-0.92",
                          "llmd-h100-gpt-oss-120b-tp1", "vllm53961-dsv4pro-mi300x"}));
}

/// Facts are about rows that there are.
TEST(EngineLogs, FactsNameRows) {
  const std::vector<tools::EngineLog> rows = logs();
  for (const std::string& id : tools::ids_with_facts()) {
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&id](const tools::EngineLog& row) {
      return row.id() == id;
    })) << id;
  }
}

}  // namespace
}  // namespace vramgauge::test

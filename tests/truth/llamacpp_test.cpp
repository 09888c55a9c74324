// Every row of llama.cpp's own accounting (commit 34af94cd, tests/truth/llamacpp.csv.gz) against
// what is predicted from the header and the flags.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "accuracy_file.h"
#include "accuracy_llama_cpp.h"
#include "accuracy_score.h"
#include "accuracy_table.h"

namespace vramgauge::tools {
namespace {

const std::string kTests = VRAMGAUGE_TEST_DIR;

/// The whole table, scored once.
const std::vector<QuantityScore>& scores() {
  static const std::vector<QuantityScore> all = [] {
    const auto table =
        TruthTable::parse(read_packed_file(kTests + "/truth/llamacpp.csv.gz").value());
    HeaderStore headers({kTests + "/data/gguf_headers"});
    Scores collected;
    score_llama_cpp(table.value(), {}, headers, collected);
    return collected.summary(3);
  }();
  return all;
}

QuantityScore score_of(const std::string& name) {
  const auto found = std::find_if(scores().begin(), scores().end(),
                                  [&name](const auto& score) { return score.name == name; });
  return found == scores().end() ? QuantityScore{} : *found;
}

/// Each row exact, and none left out.
void expect_exact(const std::string& name, uint64_t rows) {
  const QuantityScore score = score_of(name);
  EXPECT_EQ(score.rows, rows) << name;
  EXPECT_EQ(score.exact, rows) << name << "\n" << scores_text({score});
}

// The table has 13,293 rows, 272 of them refused.
TEST(LlamaCppTruth, SizesInForceAreExact) {
  for (const char* name : {"n_ctx", "n_ctx_seq", "n_cells", "pipeline_parallel", "memory_class"})
    expect_exact(name, 13'021);
  expect_exact("n_cells_swa", 3'438);
}

TEST(LlamaCppTruth, CachesAreExact) {
  expect_exact("kv_bytes", 13'021);
  expect_exact("kv_indexer_bytes", 273);
  expect_exact("rs_bytes", 3'776);
}

TEST(LlamaCppTruth, OutputBufferIsExact) {
  expect_exact("output_bytes", 13'021);
  expect_exact("output_buffer", 13'021);
}

TEST(LlamaCppTruth, WeightsAreExact) { expect_exact("weights_bytes", 13'021); }

// On each of up to two GPUs, in pinned, plain and repacked host memory.
TEST(LlamaCppTruth, EveryBufferIsExact) {
  expect_exact("weights_detail", 26'556);
  expect_exact("kv_detail", 14'539);
}

// What is asked of compute buffers: a median error of at most 0.1 %, 8 % for nine rows of ten,
// never under by more than 15 %; a band that holds 99 % of rows and is at most 10 % wide in the
// median.
TEST(LlamaCppTruth, ComputeBuffers) {
  const QuantityScore score = score_of("compute_bytes");
  const std::string text = scores_text({score});
  EXPECT_EQ(score.rows, 13'021U);
  EXPECT_EQ(score.unpredicted, 0U) << text;
  EXPECT_LE(score.median_pct, 0.1) << text;
  EXPECT_LE(score.p90_pct, 8) << text;
  EXPECT_LE(score.under_pct, 15) << text;
  EXPECT_GE(score.band_pct, 99) << text;
  EXPECT_LE(score.band_width_pct, 10) << text;
}

TEST(LlamaCppTruth, EverythingTogether) {
  const QuantityScore score = score_of("total_bytes");
  const std::string text = scores_text({score});
  EXPECT_EQ(score.rows, 13'021U);
  EXPECT_EQ(score.unpredicted, 0U) << text;
  EXPECT_LE(score.median_pct, 0.05) << text;
  EXPECT_LE(score.p99_pct, 2) << text;
  EXPECT_LE(score.max_pct, 5) << text;
}

TEST(LlamaCppTruth, RefusalsAreTheEnginesOwn) { expect_exact("refused", 272); }

}  // namespace
}  // namespace vramgauge::tools

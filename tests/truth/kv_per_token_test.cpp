// Cache bytes per token and GPU against the start-up logs that engines printed.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "model/cache_bytes.h"
#include "models.h"

namespace vramgauge {
namespace {

using namespace test;

struct LogRow {
  std::string id;
  std::string preset;
  std::string cache_type;
  uint64_t tensor_parallel = 1;
  uint64_t expected_bytes = 0;
  /// What the engine's pool and token count give; 0 = not printed.
  double measured_bytes = 0;
  bool is_comparable = false;
};

/// An input that the row's flags do not state, with the evidence for it.
struct UnstatedCacheType {
  std::string_view id;
  std::string_view cache_type;
  std::string_view evidence;
};

constexpr UnstatedCacheType kUnstatedCacheTypes[] = {
    {"trtllm-llama31-8b-5090", "fp8",
     "a quantised checkpoint whose own settings ask for an fp8 cache (TensorRT-LLM takes them "
     "without a flag): "
     "16.05 GiB for 263,008 tokens are 65,525 B a token, half of the 131,072 B of 16 bits; the "
     "row's note says so"},
};

std::string cache_type_of(const std::string& id, const json::Value& flags) {
  for (const UnstatedCacheType& unstated : kUnstatedCacheTypes) {
    if (unstated.id == id) return std::string(unstated.cache_type);
  }
  const json::Value* stated = flags.find("kv_cache_dtype");
  if (stated == nullptr || stated->as_string() == nullptr) return "fp16";
  const std::string& name = *stated->as_string();
  if (name == "fp8_e4m3" || name == "fp8_e5m2") return "fp8";
  return name == "auto" ? "fp16" : name;
}

double real_of(const json::Value* value) {
  return value != nullptr && value->as_number() != nullptr ? value->as_number()->real : 0;
}

bool lists(const json::Value* items, std::string_view wanted) {
  if (items == nullptr || items->as_array() == nullptr) return false;
  for (const json::Value& item : *items->as_array()) {
    if (item.as_string() != nullptr && *item.as_string() == wanted) return true;
  }
  return false;
}

LogRow row_of(const json::Value& line) {
  LogRow row;
  row.id = *line.find("id")->as_string();
  row.preset = *line.find("preset")->as_string();
  row.is_comparable = lists(line.find("comparable"), "kv_bytes_per_token");
  row.expected_bytes = static_cast<uint64_t>(real_of(line.find("kv_bytes_per_token_expected")));
  row.measured_bytes = real_of(line.find("measured")->find("kv_bytes_per_token_measured"));
  const json::Value& flags = *line.find("flags");
  row.cache_type = cache_type_of(row.id, flags);
  if (const json::Value* ranks = flags.find("tensor_parallel_size"))
    row.tensor_parallel = ranks->as_u64().value();
  return row;
}

/// Every row that names a preset and gives the bytes a token costs by the published architecture.
std::vector<LogRow> rows() {
  std::vector<LogRow> found;
  std::istringstream lines(read_text(VRAMGAUGE_TEST_DIR "/truth/engine_logs.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const json::Value line = parse_or_throw(text, "engine_logs.jsonl");
    const json::Value* preset = line.find("preset");
    const bool names_preset = preset != nullptr && preset->as_string() != nullptr;
    if (names_preset && line.find("kv_bytes_per_token_expected") != nullptr)
      found.push_back(row_of(line));
  }
  return found;
}

uint64_t bytes_per_token_of(const LogRow& row) {
  const auto spec = preset_model(row.preset);
  if (!spec) throw std::runtime_error("no preset " + row.preset);
  const CacheType type = cache_type_named(row.cache_type);
  const auto layout = cache_layout(*spec, type, type, row.tensor_parallel);
  if (!layout) throw std::runtime_error(row.id + ": " + first_message(layout.error()));
  return bytes_per_token(*layout).get().value();
}

TEST(KvPerToken, EveryRowEqualsThePublishedArchitecture) {
  uint64_t comparable = 0;
  for (const LogRow& row : rows()) {
    EXPECT_EQ(bytes_per_token_of(row), row.expected_bytes) << row.id;
    comparable += row.is_comparable ? 1 : 0;
  }
  EXPECT_EQ(comparable, 27U);
}

TEST(KvPerToken, ComparableRowsAgreeWithWhatWasMeasured) {
  // Logs print the pool to 0.01 GiB and tokens exactly: half a per cent covers the rounding of the
  // smallest pool.
  for (const LogRow& row : rows()) {
    if (!row.is_comparable || row.measured_bytes == 0) continue;
    const double relative =
        std::abs(static_cast<double>(bytes_per_token_of(row)) / row.measured_bytes - 1);
    EXPECT_LT(relative, 0.005) << row.id << ": " << row.measured_bytes;
  }
}

}  // namespace
}  // namespace vramgauge

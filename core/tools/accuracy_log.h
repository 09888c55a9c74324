// Rows of start-up logs, one JSON object a line (engine_logs.jsonl).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy_models.h"
#include "accuracy_score.h"

namespace vramgauge::tools {

/// One row: what was started on which card with which flags, and what the engine printed.
class EngineLog {
 public:
  EngineLog(json::Value row, uint64_t line) : row_(std::move(row)), line_(line) {}

  std::string text(std::string_view key) const { return text_of(row_, key); }
  std::string id() const { return text("id"); }
  RowName name() const { return {line_, id()}; }
  /// Engines by how they allocate, whatever the build is called.
  bool is_vllm() const { return text("engine").rfind("vllm", 0) == 0; }
  bool is_sglang() const { return text("engine").rfind("sglang", 0) == 0; }
  bool is_trtllm() const { return text("engine").rfind("tensorrt", 0) == 0; }

  std::string flag(std::string_view key) const { return text_of(flags(), key); }
  /// 0 when it is not stated.
  uint64_t flag_count(std::string_view key) const { return count_of(flags(), key); }
  std::optional<double> flag_real(std::string_view key) const { return real_of(flags(), key); }
  bool flag_is(std::string_view key, bool wanted) const;

  /// 0 when it is not stated.
  uint64_t count(std::string_view key) const { return count_of(row_, key); }
  std::optional<double> real(std::string_view key) const { return real_of(row_, key); }
  /// What the engine printed.
  std::optional<double> measured(std::string_view key) const;
  std::string outcome() const;
  /// Whether a prediction of the quantity can be judged by this row.
  bool compares(std::string_view quantity) const;
  bool compares_anything() const;
  /// A number of the object `derivation`, which shows how the row's own lines follow.
  std::optional<uint64_t> derived_count(std::string_view key) const;

 private:
  const json::Value& flags() const { return member("flags"); }
  const json::Value& member(std::string_view key) const;
  static std::string text_of(const json::Value& object, std::string_view key);
  static uint64_t count_of(const json::Value& object, std::string_view key);
  static std::optional<double> real_of(const json::Value& object, std::string_view key);

  json::Value row_;
  uint64_t line_ = 0;
};

/// Rows of a text; lines that are empty are left out. The reason names the line that is no row.
Predictable<std::vector<EngineLog>> read_engine_logs(std::string_view text);

/// True when the first line is an object that holds `engine` and `measured`.
bool is_engine_logs(std::string_view text);

}  // namespace vramgauge::tools

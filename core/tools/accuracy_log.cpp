#include "accuracy_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramgauge::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && kBlanks.find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line;
}

bool is_row(const json::Value& value) {
  const json::Value* engine = value.find("engine");
  const json::Value* measured = value.find("measured");
  return engine != nullptr && engine->as_string() != nullptr && measured != nullptr &&
         measured->as_object() != nullptr;
}

}  // namespace

const json::Value& EngineLog::member(std::string_view key) const {
  static const json::Value kNone = json::Value::object();
  const json::Value* value = row_.find(key);
  return value == nullptr ? kNone : *value;
}

std::string EngineLog::text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr || value->as_string() == nullptr ? std::string() : *value->as_string();
}

uint64_t EngineLog::count_of(const json::Value& object, std::string_view key) {
  const auto real = real_of(object, key);
  constexpr double kMost = 1e15;
  return real && *real >= 1 && *real < kMost ? static_cast<uint64_t>(*real) : 0;
}

std::optional<double> EngineLog::real_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value == nullptr || value->as_number() == nullptr) return std::nullopt;
  const double real = value->as_number()->real;
  return std::isfinite(real) ? std::optional<double>(real) : std::nullopt;
}

bool EngineLog::flag_is(std::string_view key, bool wanted) const {
  const json::Value* value = flags().find(key);
  return value != nullptr && value->as_boolean() != nullptr && *value->as_boolean() == wanted;
}

std::optional<double> EngineLog::measured(std::string_view key) const {
  return real_of(member("measured"), key);
}

std::string EngineLog::outcome() const { return text_of(member("measured"), "outcome"); }

bool EngineLog::compares(std::string_view quantity) const {
  const json::Value::Array* list = member("comparable").as_array();
  return list != nullptr &&
         std::any_of(list->begin(), list->end(), [quantity](const json::Value& each) {
           return each.as_string() != nullptr && *each.as_string() == quantity;
         });
}

bool EngineLog::compares_anything() const {
  const json::Value::Array* list = member("comparable").as_array();
  return list != nullptr && !list->empty();
}

std::optional<uint64_t> EngineLog::derived_count(std::string_view key) const {
  const json::Value* value = member("derivation").find(key);
  return value == nullptr ? std::nullopt : value->as_u64();
}

Predictable<std::vector<EngineLog>> read_engine_logs(std::string_view text) {
  std::vector<EngineLog> rows;
  for (uint64_t line = 1; !text.empty(); ++line) {
    const std::string_view row = next_line(text);
    if (row.empty()) continue;
    auto value = json::parse(row);
    if (!value || !is_row(*value)) return because("line " + std::to_string(line) + " is no row");
    rows.emplace_back(std::move(*value), line);
  }
  return rows;
}

bool is_engine_logs(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    if (line.front() != '{') return false;
    const auto value = json::parse(line);
    return value && is_row(*value);
  }
  return false;
}

}  // namespace vramgauge::tools

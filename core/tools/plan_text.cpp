#include "plan_text.h"

#include <string_view>

#include <fmt/format.h>

#include "text.h"

namespace vramgauge::tools {
namespace {

const json::Value& member(const json::Value& value, std::string_view key) {
  static const json::Value null;
  const json::Value* found = value.find(key);
  return found == nullptr ? null : *found;
}

double number(const json::Value& value, std::string_view key) {
  const json::Number* found = member(value, key).as_number();
  return found == nullptr ? 0 : found->real;
}

/// A text as it is, anything else as JSON.
std::string text(const json::Value& value) {
  return value.as_string() == nullptr ? json::write(value) : *value.as_string();
}

const json::Value::Array& items(const json::Value& value, std::string_view key) {
  static const json::Value::Array none;
  const json::Value::Array* found = member(value, key).as_array();
  return found == nullptr ? none : *found;
}

std::string outcome_text(const json::Value& outcome) {
  if (const json::Value* refusal = outcome.find("refusal"))
    return "refused: " + text(member(*refusal, "message"));
  const double margin = number(outcome, "margin_bytes");
  const std::string state = text(member(outcome, "state"));
  return fmt::format("{}: {} of {} on rank {}, {} {}",
                     state == "does_not_fit" ? "does not fit" : state,
                     gib_text(number(outcome, "needed_bytes")),
                     gib_text(number(outcome, "usable_bytes")), number(outcome, "rank"),
                     gib_text(margin < 0 ? -margin : margin), margin < 0 ? "short" : "to spare");
}

std::string side_text(const json::Value& result, std::string_view key) {
  const json::Value* side = result.find(key);
  if (side == nullptr) return "";
  const json::Value* value = side->find("value");
  return fmt::format("  {:<12}{}\n", value == nullptr ? "" : text(*value), outcome_text(*side));
}

std::string binding_text(const json::Value& binding) {
  const std::string kind = text(member(binding, "kind"));
  if (kind == "memory") {
    return fmt::format("  limited by {} on rank {} ({})\n", text(member(binding, "term")),
                       number(binding, "rank"), text(member(binding, "device")));
  }
  if (kind == "engine") return "  limited by a rule of the engine\n";
  return kind == "model_context" ? "  limited by the model's own maximum context\n" : "";
}

std::string list_text(const json::Value& result, std::string_view key, const char* label) {
  std::string out;
  for (const json::Value& item : items(result, key)) {
    out += fmt::format("  {:<24}{}\n", text(member(item, label)), outcome_text(item));
  }
  return out;
}

}  // namespace

std::string solve_text(const json::Value& result) {
  const json::Value& value = member(result, "value");
  std::string out = fmt::format("{}: {}\n", text(member(result, "for")),
                                value.is_null() ? "nothing fits" : text(value));
  out += side_text(result, "at") + side_text(result, "next");
  if (const json::Value* binding = result.find("binding")) out += binding_text(*binding);
  if (const json::Value& again = member(result, "holds_again_at"); !again.is_null())
    out += fmt::format("  fits again at {}\n", text(again));
  out += list_text(result, "splits", "scenario_patch") + list_text(result, "choices", "id");
  return out + fmt::format("  to choose it: {}\n", text(member(result, "scenario_patch")));
}

}  // namespace vramgauge::tools

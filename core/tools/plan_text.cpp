#include "plan_text.h"

#include <algorithm>
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

std::string advise_text(const json::Value& result) {
  std::string out = outcome_text(member(result, "before")) + "\n";
  for (const json::Value& lever : items(result, "levers")) {
    out += fmt::format("  {:<16}{:<40}frees {:>12}, {}{}\n", text(member(lever, "id")),
                       text(member(lever, "field")) + " = " + text(member(lever, "value")),
                       gib_text(number(lever, "freed_bytes")), outcome_text(lever),
                       text(member(lever, "caution")).empty()
                           ? ""
                           : "; caution: " + text(member(lever, "caution")));
  }
  for (const json::Value& set : items(result, "combinations")) {
    out += fmt::format("  together: {} -> {}\n    to choose it: {}\n", text(member(set, "levers")),
                       outcome_text(set), text(member(set, "scenario_patch")));
  }
  return out;
}

std::string search_text(const json::Value& result) {
  std::string out = fmt::format("{} of {} combinations; {} fit, {} tightly\n",
                                text(member(result, "found")), text(member(result, "points")),
                                text(member(result, "fits")), text(member(result, "tight")));
  for (const json::Value& row : items(result, "rows")) {
    std::string names;
    for (const char* key : {"model", "weight_format", "gpu"})
      if (const json::Value* name = row.find(key)) names += text(*name) + "  ";
    out += fmt::format("  {:<64}{:>6.2f} bit {:>12} of {:>12}  {:<13} at most {} requests\n", names,
                       number(row, "bits"), gib_text(number(row, "needed_bytes")),
                       gib_text(number(row, "usable_bytes")), text(member(row, "state")),
                       text(member(row, "max_requests")));
  }
  return out;
}

std::string sweep_text(const json::Value& result) {
  const json::Value& x = member(result, "x");
  const json::Value& y = member(result, "y");
  const std::string states = text(member(result, "states"));
  const std::size_t width = std::max<std::size_t>(1, items(x, "values").size());
  std::string out = fmt::format("{}: {}\nf fits, t tight, n does not fit, - refused\n",
                                text(member(x, "field")), text(member(x, "values")));
  for (std::size_t row = 0; row * width < states.size(); ++row) {
    const json::Value::Array& labels = items(y, "values");
    out += fmt::format("  {:>16}  {}\n", row < labels.size() ? text(labels[row]) : "",
                       states.substr(row * width, width));
  }
  return out;
}

std::string facts_text(const json::Value& result) {
  std::string out;
  for (const json::Member& fact : *result.as_object())
    out += fmt::format("{:<34}{}\n", fact.key, text(fact.value));
  return out;
}

}  // namespace vramgauge::tools

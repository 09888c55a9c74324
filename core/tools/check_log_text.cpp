#include "check_log_text.h"

#include <string_view>

#include <fmt/format.h>

#include "text.h"

namespace vramgauge::tools {
namespace {

std::string text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr || value->as_string() == nullptr ? std::string() : *value->as_string();
}

const json::Number* number_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? nullptr : value->as_number();
}

const json::Value::Array& list_of(const json::Value& object, std::string_view key) {
  static const json::Value::Array kNone;
  const json::Value* value = object.find(key);
  return value == nullptr || value->as_array() == nullptr ? kNone : *value->as_array();
}

bool is_true(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->as_boolean() != nullptr && *value->as_boolean();
}

/// Sizes in GiB or KiB, tokens as they are.
std::string amount(const json::Value& row, std::string_view key) {
  const json::Number* number = number_of(row, key);
  if (number == nullptr) return "-";
  if (text_of(row, "unit") == "tokens") return fmt::format("{:.0f}", number->real);
  constexpr double kKiB = 1024;
  if (text_of(row, "quantity") == "kv_bytes_per_token")
    return fmt::format("{:.2f} KiB", number->real / kKiB);
  return gib_text(number->real);
}

std::string row_text(const json::Value& row) {
  const json::Number* percent = number_of(row, "residual_pct");
  const std::string where = text_of(row, "where");
  const std::string name = text_of(row, "quantity") + (where.empty() ? "" : " " + where);
  std::string out =
      fmt::format("  {:<22}{:>14}{:>14}{:>14}{:>9}  line {}{}\n", name, amount(row, "predicted"),
                  amount(row, "measured"), amount(row, "residual"),
                  percent == nullptr ? std::string() : fmt::format("{:+.1f} %", percent->real),
                  static_cast<uint64_t>(number_of(row, "line")->real),
                  is_true(row, "in_band") ? "  in band" : "");
  for (const json::Value& reason : list_of(row, "reasons"))
    out += "      " + text_of(reason, "text") + "\n";
  return out;
}

std::string patch_text(const json::Value& patch) {
  std::string out;
  for (const json::Member& member : *patch.as_object()) {
    const std::string* text = member.value.as_string();
    out +=
        fmt::format("  {} = {}\n", member.key, text == nullptr ? json::write(member.value) : *text);
  }
  return out;
}

std::string calibration_text(const json::Value& result) {
  const json::Value* calibration = result.find("calibration");
  if (calibration == nullptr || calibration->as_object() == nullptr) return {};
  return "To predict with what the log measured (GiB per GPU):\n  --calibration " +
         text_of(*calibration, "text") + "\n  " + text_of(*calibration, "link") + "\n";
}

}  // namespace

std::string log_check_text(const json::Value& result) {
  std::string out = fmt::format("{} {}: {}", text_of(result, "engine"),
                                text_of(result, "engine_version"), text_of(result, "outcome"));
  if (const std::string verdict = text_of(result, "verdict"); !verdict.empty())
    out += ", predicted: " + verdict;
  out += fmt::format("\n  {:<22}{:>14}{:>14}{:>14}\n", "", "predicted", "measured", "residual");
  for (const json::Value& row : list_of(result, "rows"))
    out += row_text(row);
  for (const json::Value& error : list_of(result, "prediction_errors"))
    out += "Not predicted: " + text_of(error, "message") + "\n";
  out += "The log states:\n" + patch_text(*result.find("scenario_patch"));
  for (const json::Value& name : list_of(result, "not_carried"))
    out += "  not carried: " + *name.as_string() + "\n";
  return out + calibration_text(result);
}

}  // namespace vramgauge::tools

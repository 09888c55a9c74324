#include "report/log_calibration.h"

#include <cstdlib>
#include <iterator>
#include <string>

namespace vramgauge {
namespace {

constexpr CheckQuantity kTerms[] = {CheckQuantity::weights, CheckQuantity::activations,
                                    CheckQuantity::runtime};

/// Signed GiB to two places.
std::string gib_text(int64_t bytes) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  constexpr uint64_t kHundredth = Decimal::kScale / 100;
  const int64_t magnitude = std::abs(bytes);
  const int64_t hundredths = magnitude / kGiB * 100 + (magnitude % kGiB * 100 + kGiB / 2) / kGiB;
  const Decimal decimal = Decimal::from_micros(static_cast<uint64_t>(hundredths) * kHundredth);
  return (bytes < 0 ? "-" : "+") + decimal.text();
}

json::Value term_json(const CheckRow& row) {
  json::Value out = json::Value::object();
  out.set("term", check_quantity_name(row.quantity));
  out.set("add_bytes", json::Value::signed_integer(row.residual()));
  out.set("line", row.line);
  return out;
}

}  // namespace

json::Value log_calibration(const EngineLog& log, const LogCheck& check) {
  json::Value terms = json::Value::array();
  std::string text;
  for (const CheckQuantity quantity : kTerms) {
    const CheckRow* row = check.find(quantity);
    if (row == nullptr || !row->predicted || !row->where.empty()) continue;
    if (std::abs(row->residual()) <= row->tolerance) continue;
    terms.push(term_json(*row));
    text += (text.empty() ? "" : ",") + std::string(check_quantity_name(quantity)) + "=" +
            gib_text(row->residual());
  }
  if (terms.as_array()->empty()) return json::Value::null();
  json::Value out = json::Value::object();
  out.set("engine", log_engine_name(log.engine));
  out.set("engine_version", log.flag("version"));
  out.set("gpu", log.flag("gpu"));
  out.set("model", log.flag("model"));
  out.set("terms", std::move(terms));
  out.set("text", text);
  return out;
}

}  // namespace vramgauge

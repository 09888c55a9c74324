#include "specs/scenario_compare.h"

namespace vramgauge {

bool has_same(const Scenario& a, const Scenario& b, const Field& field) {
  if (field.text != nullptr) return a.*field.text == b.*field.text;
  if (field.number != nullptr) return a.*field.number == b.*field.number;
  return a.*field.decimal == b.*field.decimal;
}

void copy_field(const Scenario& from, Scenario& to, const Field& field) {
  if (field.text != nullptr) {
    to.*field.text = from.*field.text;
  } else if (field.number != nullptr) {
    to.*field.number = from.*field.number;
  } else {
    to.*field.decimal = from.*field.decimal;
  }
}

json::Value scenario_patch(const Scenario& from, const Scenario& to) {
  json::Value patch = json::Value::object();
  for (const Field& field : scenario_fields())
    if (!has_same(from, to, field)) patch.set(field.key, field_json(to, field));
  return patch;
}

}  // namespace vramgauge

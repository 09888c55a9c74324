#include "api/describe.h"

#include "specs/breakdown.h"
#include "specs/scenario.h"

namespace vramgauge::api {
namespace {

std::string_view kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::choice: return "choice";
    case FieldKind::option: return "option";
    case FieldKind::text: return "text";
    case FieldKind::integer: return "integer";
    case FieldKind::decimal: return "decimal";
    case FieldKind::json: return "json";
  }
  return "";
}

json::Value text(std::string_view value) { return json::Value::string(std::string(value)); }

json::Value bound(const Field& field, uint64_t value) {
  if (field.decimal != nullptr) return json::Value::decimal(Decimal::from_micros(value));
  return json::Value::integer(value);
}

/// The words of a list that is separated by commas.
json::Value words_of(std::string_view rest) {
  json::Value list = json::Value::array();
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    list.push(text(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return list;
}

json::Value field_description(const Field& field) {
  json::Value out = json::Value::object();
  out.set("key", field.key);
  out.set("kind", kind_name(field.kind));
  out.set("unit", field.unit);
  out.set("group", field.group);
  if (field.text == nullptr) {
    out.set("min", bound(field, field.min));
    out.set("max", bound(field, field.max));
  }
  if (field.kind == FieldKind::option) {
    out.set("options", words_of(field.list));
  } else if (!field.list.empty()) {
    out.set("list", field.list);
  }
  out.set("default", field_json(Scenario{}, field));
  out.set("engines", words_of(field.engines));
  return out;
}

json::Value fields() {
  json::Value list = json::Value::array();
  for (const Field& field : scenario_fields())
    list.push(field_description(field));
  return list;
}

json::Value error_codes() {
  json::Value list = json::Value::array();
  const ErrorTable table = error_table();
  for (uint64_t i = 0; i < table.size; ++i) {
    const ErrorInfo& info = table.rows[i];
    json::Value row = json::Value::object();
    row.set("code", info.name);
    row.set("severity", info.severity == Severity::error ? "error" : "warning");
    row.set("message", info.text);
    row.set("hint", info.hint);
    list.push(std::move(row));
  }
  return list;
}

json::Value engines(const Catalogue& catalogue) {
  json::Value list = json::Value::array();
  for (const CatalogueEntry& entry : catalogue.engines().entries())
    list.push(entry.facts);
  return list;
}

}  // namespace

std::string_view version() { return VRAMGAUGE_VERSION; }

json::Value describe(const Catalogue& catalogue) {
  json::Value terms = json::Value::array();
  for (const TermId id :
       {TermId::weights, TermId::kv_cache, TermId::activations, TermId::runtime}) {
    terms.push(text(term_name(id)));
  }
  json::Value bases = json::Value::array();
  for (const Basis basis : {Basis::exact, Basis::modelled, Basis::measured, Basis::assumed}) {
    bases.push(text(basis_name(basis)));
  }
  json::Value verdicts = json::Value::array();
  for (const VerdictState state :
       {VerdictState::fits, VerdictState::tight, VerdictState::does_not_fit}) {
    verdicts.push(text(verdict_name(state)));
  }
  json::Value out = json::Value::object();
  out.set("fields", fields());
  out.set("engines", engines(catalogue));
  out.set("terms", std::move(terms));
  out.set("bases", std::move(bases));
  out.set("verdicts", std::move(verdicts));
  out.set("error_codes", error_codes());
  return out;
}

}  // namespace vramgauge::api

#include "api/converter.h"

#include <utility>

#include "api/envelope.h"
#include "api/models.h"

namespace vramgauge::api {
namespace {

std::string string_member(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

Result<json::Value> parse_document(std::string_view text, uint64_t max_bytes) {
  json::Limits limits;
  limits.max_bytes = max_bytes;
  return json::parse(text, limits);
}

/// The facts with their configuration in its own form; what lay beside it is part of that.
json::Value compiled_facts(const json::Value& facts, json::Value config) {
  json::Value out = json::Value::object();
  for (const json::Member& member : *facts.as_object()) {
    if (member.key != "config" && member.key != "quant_config") out.set(member.key, member.value);
  }
  out.set("config", std::move(config));
  return out;
}

}  // namespace

struct Converter::State {
  /// An object of classes; null before a catalogue is loaded.
  json::Value class_defaults;
  Answer convert(const json::Value& request) const;
  Answer compile(const json::Value& document) const;
};

Answer Converter::State::convert(const json::Value& request) const {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string text = reader.string("text").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  Result<json::Value> form = own_form(text, &class_defaults, &all_importers());
  if (!form) return fail(std::move(form.error()));
  json::Value out = json::Value::object();
  out.set("text", json::write(*form));
  return unknown_keys(reader, errors, std::move(out));
}

Answer Converter::State::compile(const json::Value& document) const {
  Diagnostics errors;
  json::ObjectReader reader(document, "", errors);
  if (!reader.has("models"))
    reader.error(ErrorCode::json_missing_key, "models", {{"key", "models"}});
  const json::Value::Array* list = reader.array("models");
  if (list == nullptr) return fail(std::move(errors));
  json::Value compiled = json::Value::array();
  for (const json::Value& facts : *list) {
    const std::string path =
        json::pointer_to(json::pointer_to("/models", string_member(facts, "id")), "config");
    const json::Value* config = facts.find("config");
    if (config == nullptr) {
      errors.push_back({ErrorCode::json_missing_key, path, {{"key", "config"}}, std::nullopt});
      continue;
    }
    Result<json::Value> form =
        own_form({config, facts.find("quant_config"), &class_defaults}, &all_importers());
    if (form) {
      compiled.push(compiled_facts(facts, std::move(*form)));
    } else {
      const Diagnostics found = below(path, std::move(form.error()));
      errors.insert(errors.end(), found.begin(), found.end());
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  json::Value out = json::Value::object();
  out.set("models", std::move(compiled));
  return out;
}

Converter::Converter() : state_(std::make_unique<State>()) {}
Converter::~Converter() = default;

std::string Converter::load_catalogue(std::string_view document) {
  Result<json::Value> parsed = parse_document(document, kMaxCatalogueBytes);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  const json::Value* defaults = parsed->find("class_defaults");
  const json::Value* classes = defaults == nullptr ? nullptr : defaults->find("classes");
  if (classes != nullptr) state_->class_defaults = *classes;
  return write_envelope(json::Value::object());
}

std::string Converter::convert(std::string_view request) {
  Result<json::Value> parsed = parse_document(request, kMaxRequestBytes);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  return write_envelope(state_->convert(*parsed));
}

std::string Converter::compile(std::string_view document) {
  Result<json::Value> parsed = parse_document(document, kMaxCatalogueBytes);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  return write_envelope(state_->compile(*parsed));
}

}  // namespace vramgauge::api

#include "api/import_text.h"

#include "api/write.h"

namespace vramgauge::api {
namespace {

/// The configuration with a name, for one that has none.
std::string named(const std::string& config_text, const std::string& name) {
  Result<json::Value> config = json::parse(config_text);
  if (!config) return config_text;
  config->set("name", name);
  return json::write(*config);
}

json::Value scenario_patch(const LoadedModel& model) {
  json::Value patch = json::Value::object();
  patch.set("model_config", model.config_text);
  const bool is_refused = model.quantization && !model.quantization->refused.empty();
  if (model.has_own_format() && (model.stored || !is_refused))
    patch.set("weight_format", kOwnFormat);
  return patch;
}

}  // namespace

Answer import_text(Models& models, const json::Value* class_defaults, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string text = reader.string("text").value_or("");
  const std::string name = reader.string("name").value_or("");
  if (!reader.has("text")) reader.error(ErrorCode::json_missing_key, "text", {{"key", "text"}});
  if (!errors.empty()) return fail(std::move(errors));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::json_empty, "");
  Result<const LoadedModel*> loaded = models.load_config(text, class_defaults, "");
  if (loaded && (*loaded)->spec.name.empty() && !name.empty())
    loaded = models.load_config(named((*loaded)->config_text, name), class_defaults, "");
  if (!loaded) return fail(std::move(loaded.error()));
  json::Value out = write_model(**loaded);
  out.set("scenario_patch", scenario_patch(**loaded));
  return unknown_keys(reader, errors, {std::move(out), (*loaded)->warnings});
}

}  // namespace vramgauge::api

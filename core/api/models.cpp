#include "api/models.h"

#include <algorithm>
#include <utility>

#include "import/custom_model.h"
#include "import/spec_json.h"
#include "model/checkpoint_format.h"
#include "model/stored_weights.h"
#include "model/weights.h"
#include "units/json_pointer.h"

namespace vramgauge::api {
namespace {

std::string string_member(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

/// Where in a configuration's text an error stands, when its pointer leads to a value.
void add_position(Diagnostic& diagnostic, const json::Value& root, std::string_view text) {
  const json::Value* at = json::value_at(root, diagnostic.path);
  if (at != nullptr && at != &root && !diagnostic.at)
    diagnostic.at = json::position_of(text, at->offset());
}

/// Errors about a configuration, as errors about the text it stands in; no text = a catalogue's.
tl::unexpected<Diagnostics> located(Diagnostics errors, const json::Value& root,
                                    std::string_view text, const std::string& prefix) {
  if (!text.empty()) {
    for (Diagnostic& error : errors)
      add_position(error, root, text);
  }
  return fail(below(prefix, std::move(errors)));
}

Result<SpecDocument> read_own_form(const json::Value& config) {
  if (string_member(config, "model_type") == kSpecModelType) return read_spec(config);
  Result<ImportedModel> custom = import_custom_model(config);
  if (!custom) return fail(std::move(custom.error()));
  SpecDocument document;
  document.model = std::move(*custom);
  return document;
}

bool is_loaded_by_engines(const WeightTensor& tensor) { return tensor.role != TensorRole::mtp; }

std::unique_ptr<LoadedModel> loaded_model(SpecDocument document) {
  auto model = std::make_unique<LoadedModel>();
  model->spec = std::move(document.model.spec);
  model->stored = std::move(document.stored);
  model->quantization = std::move(document.quantization);
  model->warnings = std::move(document.model.warnings);
  std::vector<WeightTensor> tensors = weight_tensors(model->spec);
  model->parameters = count_parameters(tensors);
  if (model->spec.num_parameters) {
    model->parameters.total = model->parameters.text = model->parameters.active =
        *model->spec.num_parameters;
    tensors.clear();
  }
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [](const auto& t) { return !is_loaded_by_engines(t); }),
                tensors.end());
  model->tensors = std::move(tensors);
  return model;
}

/// A configuration in any form as a model. `text` is what it was parsed from, or empty.
Result<std::unique_ptr<LoadedModel>> model_of(const ForeignModel& given, const Importers* importers,
                                              std::string_view text, const std::string& path) {
  Result<json::Value> form = own_form(given, importers);
  if (!form) return located(std::move(form.error()), *given.config, text, path);
  Result<SpecDocument> document = read_own_form(*form);
  if (!document) return located(std::move(document.error()), *given.config, text, path);
  std::unique_ptr<LoadedModel> model = loaded_model(std::move(*document));
  if (!model->parameters.total.valid()) {
    return fail(ErrorCode::value_overflow, path, {{"what", "The parameter count"}});
  }
  if (!text.empty()) model->config_text = json::write(*form);
  return model;
}

Result<FormattedWeights> own_weights(const LoadedModel& model) {
  if (model.stored) return stored_weights(*model.stored);
  return format_resolved(weight_tensors(model.spec), model.spec, *model.quantization);
}

}  // namespace

Diagnostics below(const std::string& path, Diagnostics diagnostics) {
  for (Diagnostic& diagnostic : diagnostics)
    diagnostic.path = path + diagnostic.path;
  return diagnostics;
}

Result<json::Value> own_form(const ForeignModel& given, const Importers* importers) {
  const std::string model_type = string_member(*given.config, "model_type");
  if (model_type == kSpecModelType || model_type == kCustomModelType) return *given.config;
  if (importers == nullptr) return fail(ErrorCode::import_reader_needed, "");
  return importers->config(given);
}

Result<json::Value> own_form(const std::string& text, const json::Value* class_defaults,
                             const Importers* importers) {
  Result<json::Value> config = json::parse(text);
  if (!config) return config;
  Result<json::Value> form = own_form({&*config, nullptr, class_defaults}, importers);
  if (!form) return located(std::move(form.error()), *config, text, "");
  return form;
}

WeightFormat own_format(const LoadedModel& model) {
  WeightFormat format;
  format.id = kOwnFormat;
  format.family = model.stored ? "stored" : model.quantization->method;
  format.name = model.stored ? std::string("stored in the files")
                             : "stored in the checkpoint (" + format.family + ")";
  return format;
}

Result<const LoadedModel*> Models::load(const Catalogue& catalogue, const Scenario& scenario,
                                        const ModelPaths& paths) {
  if (scenario.model_config.empty()) return load_preset(catalogue, scenario.model, paths.id);
  return load_config(scenario.model_config, catalogue.class_defaults(), paths.config);
}

Result<const LoadedModel*> Models::load_config(const std::string& text,
                                               const json::Value* class_defaults,
                                               const std::string& path) {
  if (config_model_ && config_text_ == text) return config_model_.get();
  Result<json::Value> config = json::parse(text);
  if (!config) return fail(below(path, std::move(config.error())));
  Result<std::unique_ptr<LoadedModel>> model =
      model_of({&*config, nullptr, class_defaults}, importers_, text, path);
  if (!model) return fail(std::move(model.error()));
  config_model_ = std::move(*model);
  config_text_ = text;
  return config_model_.get();
}

Result<const LoadedModel*> Models::load_preset(const Catalogue& catalogue, const std::string& id,
                                               const std::string& path) {
  const CatalogueEntry* entry = catalogue.models().find(id);
  if (entry == nullptr)
    return fail(ErrorCode::catalogue_unknown_model, path, {{"id", id.substr(0, 80)}});
  if (const auto known = presets_.find(entry->id); known != presets_.end())
    return known->second.get();
  const json::Value* facts = catalogue.model_facts(entry->id);
  const json::Value* config = facts == nullptr ? nullptr : facts->find("config");
  if (config == nullptr) {
    return fail(ErrorCode::catalogue_model_not_loaded, path,
                {{"id", entry->id}, {"file", string_member(entry->facts, "file")}});
  }
  Result<std::unique_ptr<LoadedModel>> model = model_of(
      {config, facts->find("quant_config"), catalogue.class_defaults()}, importers_, "", path);
  if (!model) return fail(std::move(model.error()));
  LoadedModel& preset = **model;
  preset.id = string_member(*facts, "id");
  preset.family = string_member(*facts, "family");
  preset.source = string_member(*facts, "source");
  preset.verified = string_member(*facts, "verified");
  preset.spec.name = string_member(*facts, "name");
  return (presets_[entry->id] = std::move(*model)).get();
}

Result<const FormattedWeights*> Models::weights(const LoadedModel& model,
                                                const WeightFormat& format,
                                                const std::string& path) {
  // The models are this object's own: only their cache of formats is added to.
  auto& cache = const_cast<LoadedModel&>(model)
                    .weights_by_format;  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  if (const auto known = cache.find(format.id); known != cache.end()) return &known->second;
  const bool is_own = format.id == kOwnFormat && model.has_own_format();
  Result<FormattedWeights> weights =
      is_own ? own_weights(model) : format_weights(model.tensors, model.spec, format);
  if (!weights) {
    for (Diagnostic& error : weights.error())
      error.path = path;
    return fail(std::move(weights.error()));
  }
  return &cache.insert_or_assign(format.id, std::move(*weights)).first->second;
}

void Models::clear() {
  presets_.clear();
  config_model_.reset();
  config_text_.clear();
}

}  // namespace vramgauge::api

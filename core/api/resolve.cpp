#include "api/resolve.h"

#include <algorithm>

#include "import/custom_model.h"
#include "import/hf_config.h"
#include "model/weights.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kCustom = "custom";

std::string string_member(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

/// The method in quantization_config, or in a quantisation file that lies beside the configuration.
std::string quant_method_of(const json::Value& config, const json::Value* beside) {
  const json::Value* text_config = config.find("text_config");
  for (const json::Value* holder : {&config, text_config}) {
    const json::Value* quantization =
        holder == nullptr ? nullptr : holder->find("quantization_config");
    if (quantization != nullptr) return string_member(*quantization, "quant_method");
  }
  return beside == nullptr ? std::string() : std::string("modelopt");
}

/// Where in a configuration's text an error stands, when its pointer leads to a value.
void add_position(Diagnostic& diagnostic, const json::Value& root, std::string_view text) {
  const json::Value* at = &root;
  std::string_view rest = diagnostic.path;
  while (!rest.empty() && at != nullptr) {
    rest.remove_prefix(1);
    const auto slash = rest.find('/');
    const std::string_view token = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
    if (const json::Value::Array* items = at->as_array()) {
      const std::optional<uint64_t> index = parse_count(token);
      at = index && *index < items->size()
               ? &(*items)[static_cast<json::Value::Array::size_type>(*index)]
               : nullptr;
    } else {
      at = at->find(token);
    }
  }
  if (at != nullptr && at != &root && !diagnostic.at)
    diagnostic.at = json::position_of(text, at->offset());
}

void locate(Diagnostics& diagnostics, const json::Value& root, std::string_view text,
            const std::string& prefix) {
  for (Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) add_position(diagnostic, root, text);
    diagnostic.path = prefix + diagnostic.path;
  }
}

bool is_loaded_by_engines(const WeightTensor& tensor) { return tensor.role != TensorRole::mtp; }

std::unique_ptr<LoadedModel> loaded_model(ImportedModel imported) {
  auto model = std::make_unique<LoadedModel>();
  model->spec = std::move(imported.spec);
  model->warnings = std::move(imported.warnings);
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

Result<ImportedModel> import_any(const json::Value& config, const json::Value* class_defaults) {
  if (string_member(config, "model_type") == kCustomModelType) return import_custom_model(config);
  return import_hf_config(config, class_defaults);
}

std::unique_ptr<LoadedModel> preset_model(const json::Value& facts, ImportedModel imported) {
  std::unique_ptr<LoadedModel> model = loaded_model(std::move(imported));
  model->id = string_member(facts, "id");
  model->family = string_member(facts, "family");
  model->source = string_member(facts, "source");
  model->verified = string_member(facts, "verified");
  model->spec.name = string_member(facts, "name");
  return model;
}

tl::unexpected<Diagnostics> unknown(ErrorCode code, const std::string& path,
                                    const std::string& id) {
  return fail(code, path, {{"id", id.substr(0, 80)}});
}

/// Errors of several fields, collected.
class Collector {
 public:
  template <typename T>
  T take(Result<T> result) {
    if (result) return std::move(*result);
    errors.insert(errors.end(), result.error().begin(), result.error().end());
    return T();
  }
  Diagnostics errors;
};

Result<HardwareSpec> resolve_gpu(const Catalogue& catalogue, Scenario& scenario,
                                 const std::string& path) {
  if (scenario.gpu == kCustom) {
    const std::optional<Bytes> memory =
        bytes_of(CheckedU64(uint64_t{1} << 30) * scenario.gpu_memory_gib);
    if (!memory || memory->count() == 0) {
      return fail(ErrorCode::json_missing_key, path + "/gpu_memory_gib",
                  {{"key", "gpu_memory_gib"}});
    }
    return custom_hardware(*memory);
  }
  const CatalogueEntry* entry = catalogue.gpus().find(scenario.gpu);
  if (entry == nullptr)
    return unknown(ErrorCode::catalogue_unknown_gpu, path + "/gpu", scenario.gpu);
  scenario.gpu = entry->id;
  return parse_hardware(entry->facts);
}

Result<CacheType> resolve_cache_type(const Catalogue& catalogue, std::string& id,
                                     const std::string& path) {
  const CatalogueEntry* entry = catalogue.cache_types().find(id);
  if (entry == nullptr) return unknown(ErrorCode::catalogue_unknown_cache_type, path, id);
  id = entry->id;
  return parse_cache_type(entry->facts);
}

/// The format that a checkpoint's own dtype means. A quantised one has to be named: its
/// configuration is understood (model/checkpoint_format.h), but that code does not fit the module's
/// size yet.
Result<std::string> format_of_checkpoint(const LoadedModel& model, const std::string& path) {
  if (!model.quant_method.empty()) {
    return fail(ErrorCode::format_unknown_quantization, path, {{"method", model.quant_method}});
  }
  if (model.spec.dtype == "float32") return std::string("fp32");
  return std::string(model.spec.dtype == "float16" ? "fp16" : "bf16");
}

std::vector<WeightFormat> all_formats(const Catalogue& catalogue) {
  std::vector<WeightFormat> formats;
  for (const CatalogueEntry& entry : catalogue.formats().entries()) {
    if (Result<WeightFormat> format = parse_weight_format(entry.facts))
      formats.push_back(std::move(*format));
  }
  return formats;
}

Result<WeightFormat> resolve_format(const Catalogue& catalogue, const LoadedModel* model,
                                    Scenario& scenario, const std::string& path) {
  std::string id = scenario.weight_format;
  if (id == kAuto && model != nullptr) {
    Result<std::string> own = format_of_checkpoint(*model, path);
    if (!own) return fail(std::move(own.error()));
    id = *own;
  }
  if (std::optional<WeightFormat> average = parse_bits_per_weight(id)) {
    scenario.weight_format = average->id;
    return std::move(*average);
  }
  const CatalogueEntry* entry = catalogue.formats().find(id);
  if (entry == nullptr) return unknown(ErrorCode::catalogue_unknown_format, path, id);
  if (scenario.weight_format != kAuto) scenario.weight_format = entry->id;
  Result<WeightFormat> format = parse_weight_format(entry->facts);
  if (!format || format->part_formats.empty()) return format;
  std::vector<WeightFormat> formats = all_formats(catalogue);
  if (Diagnostics errors = resolve_part_formats(formats); !errors.empty())
    return fail(std::move(errors));
  const auto resolved = std::find_if(formats.begin(), formats.end(),
                                     [&](const auto& f) { return f.id == entry->id; });
  return resolved == formats.end() ? std::move(format) : Result<WeightFormat>(std::move(*resolved));
}

Result<GenericConstants> resolve_engine(const Catalogue& catalogue, Scenario& scenario,
                                        const std::string& path) {
  const CatalogueEntry* entry = catalogue.engines().find(scenario.engine);
  if (entry == nullptr) {
    std::string choices;
    for (const CatalogueEntry& engine : catalogue.engines().entries())
      choices += (choices.empty() ? "" : ", ") + engine.id;
    return fail(ErrorCode::catalogue_unknown_engine, path,
                {{"id", scenario.engine.substr(0, 80)}, {"choices", choices}});
  }
  scenario.engine = entry->id;
  return generic_constants(entry->facts, scenario);
}

}  // namespace

Result<const LoadedModel*> Models::load(const Catalogue& catalogue, const Scenario& scenario,
                                        const ModelPaths& paths) {
  if (!scenario.model_config.empty()) {
    if (config_model_ && config_text_ == scenario.model_config) return config_model_.get();
    Result<json::Value> config = json::parse(scenario.model_config);
    if (!config) {
      for (Diagnostic& error : config.error())
        error.path = paths.config + error.path;
      return fail(std::move(config.error()));
    }
    Result<ImportedModel> imported = import_any(*config, catalogue.class_defaults());
    if (!imported) {
      locate(imported.error(), *config, scenario.model_config, paths.config);
      return fail(std::move(imported.error()));
    }
    locate(imported->warnings, *config, scenario.model_config, paths.config);
    std::unique_ptr<LoadedModel> model = loaded_model(std::move(*imported));
    if (!model->parameters.total.valid()) {
      return fail(ErrorCode::value_overflow, paths.config, {{"what", "The parameter count"}});
    }
    config_model_ = std::move(model);
    config_model_->quant_method = quant_method_of(*config, nullptr);
    config_text_ = scenario.model_config;
    return config_model_.get();
  }
  const CatalogueEntry* entry = catalogue.models().find(scenario.model);
  if (entry == nullptr)
    return unknown(ErrorCode::catalogue_unknown_model, paths.id, scenario.model);
  if (const auto known = presets_.find(entry->id); known != presets_.end())
    return known->second.get();
  const json::Value* facts = catalogue.model_facts(entry->id);
  const json::Value* config = facts == nullptr ? nullptr : facts->find("config");
  if (config == nullptr) {
    return fail(ErrorCode::catalogue_model_not_loaded, paths.id,
                {{"id", entry->id}, {"file", string_member(entry->facts, "file")}});
  }
  Result<ImportedModel> imported = import_any(*config, catalogue.class_defaults());
  if (!imported) {
    locate(imported.error(), *config, "", paths.id);
    return fail(std::move(imported.error()));
  }
  locate(imported->warnings, *config, "", paths.id);
  auto& slot = presets_[entry->id];
  slot = preset_model(*facts, std::move(*imported));
  slot->quant_method = quant_method_of(*config, facts->find("quant_config"));
  return slot.get();
}

Result<const FormattedWeights*> Models::weights(const LoadedModel& model,
                                                const WeightFormat& format,
                                                const std::string& path) {
  // The models are this object's own: only their cache of formats is added to.
  auto& cache = const_cast<LoadedModel&>(model)
                    .weights_by_format;  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  if (const auto known = cache.find(format.id); known != cache.end()) return &known->second;
  Result<FormattedWeights> weights = format_weights(model.tensors, model.spec, format);
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

Result<Resolved> resolve(const Catalogue& catalogue, Models& models, const Scenario& scenario,
                         const std::string& path) {
  if (catalogue.empty()) return fail(ErrorCode::catalogue_not_loaded, "");
  Collector collect;
  Resolved out;
  out.scenario = scenario;
  if (out.scenario.cache_type_v.empty()) out.scenario.cache_type_v = out.scenario.cache_type_k;
  out.model =
      collect.take(models.load(catalogue, scenario, {path + "/model", path + "/model_config"}));
  if (out.model != nullptr && !out.model->id.empty()) out.scenario.model = out.model->id;
  out.format =
      collect.take(resolve_format(catalogue, out.model, out.scenario, path + "/weight_format"));
  out.hardware = collect.take(resolve_gpu(catalogue, out.scenario, path));
  const CacheType k = collect.take(
      resolve_cache_type(catalogue, out.scenario.cache_type_k, path + "/cache_type_k"));
  const CacheType v = collect.take(
      resolve_cache_type(catalogue, out.scenario.cache_type_v, path + "/cache_type_v"));
  out.constants = collect.take(resolve_engine(catalogue, out.scenario, path + "/engine"));
  if (!collect.errors.empty()) return fail(std::move(collect.errors));
  out.weights = collect.take(models.weights(*out.model, out.format, path + "/weight_format"));
  Result<CacheLayout> cache = cache_layout(out.model->spec, k, v, out.scenario.gpu_count);
  if (!cache) {
    for (Diagnostic& error : cache.error())
      error.path = path + "/cache_type_k";
  }
  out.cache = collect.take(std::move(cache));
  for (Diagnostic& note : out.cache.notes)
    note.path = path + note.path;
  if (!collect.errors.empty()) return fail(std::move(collect.errors));
  return out;
}

std::string compact_config(const std::string& text) {
  const Result<json::Value> config = json::parse(text);
  return config ? json::write(*config) : text;
}

}  // namespace vramgauge::api

#include "api/resolve.h"

#include <algorithm>

#include "specs/more_gpus.h"
#include "units/index.h"

#include "specs/model_traits.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kCustom = "custom";

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

constexpr std::string_view kDraft = "draft";

/// What others hold of a card, where the scenario says it.
void set_held(HardwareSpec& hardware, const Scenario& scenario) {
  if (scenario.held_gib.is_zero()) return;
  hardware.held =
      bytes_of(CheckedU64(uint64_t{1} << 30) * scenario.held_gib).value_or(Bytes(kMaxApiBytes));
}

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

/// The cards of other kinds, one by one. Their ids become those of the catalogue.
Result<std::vector<HardwareSpec>> resolve_more_gpus(const Catalogue& catalogue, Scenario& scenario,
                                                    const std::string& path) {
  const auto groups = parse_more_gpus(scenario.more_gpus);
  if (!groups) {
    return fail(ErrorCode::value_unreadable, path,
                {{"key", "more_gpus"},
                 {"value", scenario.more_gpus.substr(0, 80)},
                 {"expected", "GPUs with their number, such as nvidia-l4:2"}});
  }
  std::vector<HardwareSpec> cards;
  std::string canonical;
  for (const GpuGroup& group : *groups) {
    const CatalogueEntry* entry = catalogue.gpus().find(std::string(group.id));
    if (entry == nullptr)
      return unknown(ErrorCode::catalogue_unknown_gpu, path, std::string(group.id));
    auto hardware = parse_hardware(entry->facts);
    if (!hardware) return fail(std::move(hardware.error()));
    set_held(*hardware, scenario);
    cards.insert(cards.end(), index_of(group.count), *hardware);
    canonical += (canonical.empty() ? "" : ",") + entry->id;
    if (group.count > 1) canonical += ":" + std::to_string(group.count);
  }
  scenario.more_gpus = canonical;
  return cards;
}

bool has_indexer(const ModelSpec& spec) {
  return any_mixer(spec, [](const Mixer& mixer) {
    const auto* latent = std::get_if<LatentAttention>(&mixer);
    return latent != nullptr && latent->indexer.has_value();
  });
}

/// What a cache type comes to: "auto" is what the checkpoint has scales for, else the width that
/// the model runs in; server engines keep 8-bit latents that an indexer reads in a layout of their
/// own.
std::string_view effective_cache_type(const Resolved& resolved, std::string_view id) {
  if (id == kOwnFormat) {
    const LoadedModel* model = resolved.model;
    const bool has_scales = model != nullptr && resolved.format.id == kOwnFormat &&
                            model->quantization && !model->quantization->cache_type.empty();
    id = resolved.format.id == "fp32" ? "fp32" : "fp16";
    if (has_scales) id = model->quantization->cache_type;
  }
  const std::string& engine = resolved.scenario.engine;
  const bool is_packed = (engine == kVllm || engine == kSglang) && id == "fp8" &&
                         resolved.model != nullptr && has_indexer(resolved.model->spec);
  return is_packed ? std::string_view("fp8_ds_mla") : id;
}

Result<CacheType> resolve_cache_type(const Catalogue& catalogue, const Resolved& resolved,
                                     std::string& id, const std::string& path) {
  const CatalogueEntry* entry = catalogue.cache_types().find(id);
  if (entry == nullptr) return unknown(ErrorCode::catalogue_unknown_cache_type, path, id);
  id = entry->id;
  const std::string effective(effective_cache_type(resolved, id));
  if (effective != id) entry = catalogue.cache_types().find(effective);
  if (entry == nullptr) return unknown(ErrorCode::catalogue_unknown_cache_type, path, effective);
  return parse_cache_type(entry->facts);
}

/// The format that the dtype of an unquantised checkpoint means.
std::string format_of_dtype(const ModelSpec& spec) {
  if (spec.dtype == "float32") return "fp32";
  return spec.dtype == "float16" ? "fp16" : "bf16";
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
  if (id == kOwnFormat) {
    // Without a model its own error is enough.
    if (model == nullptr) return WeightFormat();
    if (model->has_own_format()) return own_format(*model);
    id = format_of_dtype(model->spec);
  }
  if (std::optional<WeightFormat> average = parse_bits_per_weight(id)) {
    scenario.weight_format = average->id;
    return std::move(*average);
  }
  const CatalogueEntry* entry = catalogue.formats().find(id);
  if (entry == nullptr) return unknown(ErrorCode::catalogue_unknown_format, path, id);
  if (scenario.weight_format != kOwnFormat) scenario.weight_format = entry->id;
  Result<WeightFormat> format = parse_weight_format(entry->facts);
  if (!format || format->part_formats.empty()) return format;
  std::vector<WeightFormat> formats = all_formats(catalogue);
  if (Diagnostics errors = resolve_part_formats(formats); !errors.empty())
    return fail(std::move(errors));
  const auto resolved = std::find_if(formats.begin(), formats.end(),
                                     [&](const auto& f) { return f.id == entry->id; });
  return resolved == formats.end() ? std::move(format) : Result<WeightFormat>(std::move(*resolved));
}

Result<const json::Value*> resolve_engine(const Catalogue& catalogue, Scenario& scenario,
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
  return &entry->facts;
}

bool is_server(const Scenario& scenario) {
  return scenario.engine == kVllm || scenario.engine == kSglang || scenario.engine == kTensorRtLlm;
}

/// How many GPUs share each layer's cache: llama.cpp and Transformers give each GPU whole layers,
/// server engines
/// have stages and replicas beside them.
uint64_t tensor_ranks(const Scenario& scenario) {
  if (scenario.engine == kLlamaCpp || scenario.engine == kTransformers) return 1;
  if (!is_server(scenario)) return scenario.gpu_count;
  if (scenario.tensor_ranks != 0) return scenario.tensor_ranks;
  const CheckedU64 others = CheckedU64(scenario.pipeline_stages) * scenario.data_ranks;
  return std::max<uint64_t>((CheckedU64(scenario.gpu_count) / others).value_or(1), 1);
}

/// vLLM lets vocabularies differ not at all (config/speculative.py,
/// verify_equal_vocab_size_if_draft_model), llama.cpp a little (SPEC_VOCAB_MAX_SIZE_DIFFERENCE in
/// common/speculative.cpp); others are taken to be like it.
void note_vocabulary(Resolved& resolved, const std::string& path) {
  constexpr uint64_t kMostDifference = 128;
  const uint64_t draft = resolved.draft->spec.vocab_size;
  const uint64_t model = resolved.model->spec.vocab_size;
  const uint64_t most = resolved.scenario.engine == kVllm ? 0 : kMostDifference;
  if (std::max(draft, model) - std::min(draft, model) <= most) return;
  resolved.warnings.push_back(
      {ErrorCode::engine_draft_vocabulary,
       path,
       {{"draft", draft}, {"model", model}, {"engine", resolved.scenario.engine}},
       std::nullopt});
}

/// The draft model and its format. Servers have one with speculative=draft; llama.cpp where it is
/// named.
void resolve_draft(const Catalogue& catalogue, Models& models, Resolved& out,
                   const std::string& path, Collector& collect) {
  Scenario& scenario = out.scenario;
  const bool is_server_draft = is_server(scenario) && scenario.speculative == kDraft;
  if (scenario.draft_model.empty()) {
    if (!is_server_draft) return;
    collect.errors.push_back({ErrorCode::json_missing_key,
                              path + "/draft_model",
                              {{"key", "draft_model"}},
                              std::nullopt});
    return;
  }
  if (!is_server_draft && scenario.engine != kLlamaCpp) {
    if (!is_server(scenario)) return;
    out.warnings.push_back({ErrorCode::engine_draft_unused,
                            path + "/draft_model",
                            {{"speculative", scenario.speculative}},
                            std::nullopt});
    return;
  }
  Scenario draft;
  draft.model = scenario.draft_model;
  draft.weight_format = scenario.draft_format;
  if (draft.weight_format.empty())
    draft.weight_format = is_server_draft ? std::string(kOwnFormat) : scenario.weight_format;
  const std::string model_path = path + "/draft_model";
  out.draft = collect.take(models.load(catalogue, draft, {model_path, model_path}));
  out.draft_format =
      collect.take(resolve_format(catalogue, out.draft, draft, path + "/draft_format"));
  if (out.draft == nullptr) return;
  scenario.draft_model = out.draft->id;
  if (!scenario.draft_format.empty()) scenario.draft_format = draft.weight_format;
  if (is_server_draft && collect.errors.empty()) {
    out.draft_weights =
        collect.take(models.weights(*out.draft, out.draft_format, path + "/draft_format"));
  }
  out.warnings = below(model_path, out.draft->warnings);
  note_vocabulary(out, model_path);
}

/// Settings that only llama.cpp reads.
void resolve_llama_cpp(const Catalogue& catalogue, Resolved& out, const std::string& path,
                       Collector& collect) {
  Scenario& scenario = out.scenario;
  if (scenario.engine != kLlamaCpp) return;
  out.more_gpus = collect.take(resolve_more_gpus(catalogue, scenario, path + "/more_gpus"));
  const CatalogueEntry* type = catalogue.cache_types().find(scenario.draft_cache_type);
  if (type != nullptr) {
    scenario.draft_cache_type = type->id;
    return;
  }
  collect.errors.push_back({ErrorCode::catalogue_unknown_cache_type,
                            path + "/draft_cache_type",
                            {{"id", scenario.draft_cache_type.substr(0, 80)}},
                            std::nullopt});
}

/// What is worth knowing about the model, its weights and its cache, in this order.
Diagnostics warnings_of(const Resolved& resolved, const std::string& model_path) {
  const LoadedModel& model = *resolved.model;
  Diagnostics warnings = below(model_path, model.warnings);
  const bool is_own = resolved.format.id == kOwnFormat;
  const Diagnostics weights =
      below(is_own ? model_path : std::string(), resolved.weights->warnings);
  warnings.insert(warnings.end(), weights.begin(), weights.end());
  warnings.insert(warnings.end(), resolved.cache.notes.begin(), resolved.cache.notes.end());
  return warnings;
}

}  // namespace

Result<Resolved> resolve(const Catalogue& catalogue, Models& models, const Scenario& scenario,
                         const std::string& path) {
  if (catalogue.empty()) return fail(ErrorCode::catalogue_not_loaded, "");
  Collector collect;
  Resolved out;
  out.scenario = scenario;
  if (out.scenario.cache_type_v.empty()) out.scenario.cache_type_v = out.scenario.cache_type_k;
  const ModelPaths paths = {path + "/model", path + "/model_config"};
  out.model = collect.take(models.load(catalogue, scenario, paths));
  if (out.model != nullptr) {
    if (!out.model->id.empty()) out.scenario.model = out.model->id;
    out.scenario.model_config = out.model->config_text;
  }
  out.format =
      collect.take(resolve_format(catalogue, out.model, out.scenario, path + "/weight_format"));
  out.hardware = collect.take(resolve_gpu(catalogue, out.scenario, path));
  set_held(out.hardware, scenario);
  out.engine = collect.take(resolve_engine(catalogue, out.scenario, path + "/engine"));
  out.cache_type_k = collect.take(
      resolve_cache_type(catalogue, out, out.scenario.cache_type_k, path + "/cache_type_k"));
  out.cache_type_v = collect.take(
      resolve_cache_type(catalogue, out, out.scenario.cache_type_v, path + "/cache_type_v"));
  if (!collect.errors.empty()) return fail(std::move(collect.errors));
  resolve_draft(catalogue, models, out, path, collect);
  resolve_llama_cpp(catalogue, out, path, collect);
  if (!collect.errors.empty()) return fail(std::move(collect.errors));
  out.weights = collect.take(models.weights(*out.model, out.format, path + "/weight_format"));
  Result<CacheLayout> cache =
      cache_layout(out.model->spec, out.cache_type_k, out.cache_type_v, tensor_ranks(out.scenario));
  if (!cache) {
    for (Diagnostic& error : cache.error())
      error.path = path + "/cache_type_k";
  }
  out.cache = collect.take(std::move(cache));
  for (Diagnostic& note : out.cache.notes)
    note.path = path + note.path;
  if (!collect.errors.empty()) return fail(std::move(collect.errors));
  Diagnostics warnings = warnings_of(out, paths.of(*out.model));
  warnings.insert(warnings.end(), out.warnings.begin(), out.warnings.end());
  out.warnings = std::move(warnings);
  return out;
}

}  // namespace vramgauge::api

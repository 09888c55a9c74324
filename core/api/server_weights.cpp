// Weights as server engines hold them, in any format of the catalogue and in a checkpoint's own.
#include <algorithm>
#include <array>

#include "api/server_model.h"
#include "engine/vllm_weights_formats.h"
#include "model/rank_weights.h"
#include "model/weights.h"
#include "specs/model_traits.h"
#include "units/index.h"
#include "units/text_list.h"

namespace vramgauge::api {

namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

/// Everything that the loaded weights depend on.
struct WeightsKey {
  std::string format;
  std::array<uint64_t, 14> numbers{};
  std::vector<uint64_t> stage_layers;

  friend bool operator==(const WeightsKey&, const WeightsKey&) = default;
};

struct Loaded {
  WeightsKey key;
  ServerWeights weights;
};

}  // namespace

struct ServerCache {
  /// weight_tensors of the model, and of the model with a draft layer.
  std::vector<WeightTensor> tensors;
  std::vector<WeightTensor> drafted_tensors;
  std::optional<ModelSpec> drafted;
  /// The model with the layers of another, by the other's id.
  std::vector<std::pair<std::string, std::unique_ptr<ModelSpec>>> with_models;
  std::vector<std::unique_ptr<Loaded>> loaded;
};

namespace {

/// Answers kept per model; a planner's sweep has a few dozen.
constexpr std::size_t kMaxLoaded = 512;

ServerCache& cache_of(const LoadedModel& model) {
  if (model.server == nullptr) {
    model.server = {new ServerCache, [](ServerCache* cache) { delete cache; }};
    model.server->tensors = weight_tensors(model.spec);
  }
  return *model.server;
}

// A draft model

/// A layer as draft models have it: the model's own attention and a dense feed-forward.
std::optional<Layer> draft_layer(const ModelSpec& spec) {
  const auto attends = [](const Mixer& mixer) {
    return std::holds_alternative<Attention>(mixer) ||
           std::holds_alternative<LatentAttention>(mixer);
  };
  for (auto layer = spec.layers.rbegin(); layer != spec.layers.rend(); ++layer) {
    if (layer->mixers.size() != 1 || !attends(layer->mixers.front())) continue;
    Layer draft = *layer;
    if (auto* attention = std::get_if<Attention>(&draft.mixers.front())) {
      attention->cache_shared_with.reset();
      attention->window_tokens = attention->chunk_tokens = 0;
    }
    if (const auto* experts = std::get_if<MoeFfn>(&draft.ffn)) {
      DenseFfn dense;
      dense.intermediate_size = experts->moe_intermediate_size * experts->num_experts_per_tok;
      draft.ffn = dense;
    }
    ExtraTensor projection;
    projection.name = "fc";
    projection.role = TensorRole::mtp;
    projection.rows = spec.hidden_size;
    projection.cols = 2 * spec.hidden_size;
    projection.is_matrix = true;
    draft.extras = {projection};
    return draft;
  }
  return std::nullopt;
}

/// The model's own tensors, and those of the draft in place of layers that it came with.
std::vector<WeightTensor> tensors_with_draft(const ServerCache& cache) {
  const auto is_draft = [](const WeightTensor& tensor) { return tensor.role == TensorRole::mtp; };
  std::vector<WeightTensor> tensors;
  std::copy_if(cache.tensors.begin(), cache.tensors.end(), std::back_inserter(tensors),
               [&](const auto& tensor) { return !is_draft(tensor); });
  const std::vector<WeightTensor> all = weight_tensors(*cache.drafted);
  std::copy_if(all.begin(), all.end(), std::back_inserter(tensors), is_draft);
  return tensors;
}

bool is_cached_by_itself(const Mixer& mixer) {
  if (const auto* attention = std::get_if<Attention>(&mixer))
    return !attention->cache_shared_with.has_value();
  return std::holds_alternative<LatentAttention>(mixer);
}

// How tensors are stored

bool is_plain(const GroupedLayout& layout) { return layout.bits >= 16 && layout.group_size == 0; }

Span span_of(const GroupedLayout& layout) {
  if (layout.block_rows != 0) return Span::block;
  if (layout.group_size != 0) return Span::group;
  return layout.per_row_bits != 0 ? Span::channel : Span::tensor;
}

Kind kind_of(const std::string& family, const GroupedLayout& layout) {
  if (family == "gptq") return Kind::gptq;
  if (family == "awq") return Kind::awq;
  if (family == "bitsandbytes" && layout.bits == 4) return Kind::bnb_4bit;
  if (family == "hqq" || family == "torchao") return Kind::affine;
  const bool has_small_scales = layout.scale_bits == 8 && layout.group_size != 0;
  if (has_small_scales && layout.group_size == 16) return Kind::nvfp4;
  if (has_small_scales) return Kind::microscaled;
  return layout.bits == 4 ? Kind::packed_int : Kind::bytes;
}

/// A format of the catalogue as a checkpoint's configuration would have it.
QuantScheme scheme_of(const std::string& family, const GroupedLayout& layout) {
  QuantScheme scheme;
  scheme.kind = kind_of(family, layout);
  scheme.bits = layout.bits;
  scheme.group_size = layout.group_size;
  scheme.span = span_of(layout);
  scheme.scale_bits = layout.scale_bits;
  scheme.block_rows = layout.block_rows;
  scheme.block_cols = layout.block_cols;
  scheme.has_zeros = layout.zero_bits != 0;
  // What GPTQ's tools write unless they are told otherwise.
  scheme.is_symmetric = scheme.kind == Kind::gptq;
  // Eight bits with a scale per row, whoever wrote them.
  if (scheme.kind == Kind::affine && scheme.span == Span::channel) scheme.kind = Kind::bytes;
  return scheme;
}

/// One question under way.
class Weighing {
 public:
  Weighing(const Resolved& resolved, const ServerModel& model, const ServerRules& rules,
           const ServerLoad& load, const std::vector<WeightTensor>& tensors)
      : resolved_(resolved), model_(model), rules_(rules), load_(load), tensors_(tensors) {}

  Result<ServerWeights> weigh() {
    const LoadedModel& loaded = *resolved_.model;
    const bool is_own = resolved_.format.id == kOwnFormat;
    if (tensors_.empty()) return shared_total();
    if (is_own && loaded.quantization) return load_as(*loaded.quantization);
    if (is_own && loaded.stored) {
      return loaded.stored->container == StoredModel::Container::gguf ? as_file(*loaded.stored)
                                                                      : load_plain();
    }
    if (resolved_.format.family == "plain") return load_plain();
    const auto* grouped =
        resolved_.format.layout ? std::get_if<GroupedLayout>(&*resolved_.format.layout) : nullptr;
    const bool is_average = std::holds_alternative<IdealLayout>(
        resolved_.format.layout.value_or(WeightLayout(GgufMixLayout{})));
    if (!is_average && !lists(rules_.families, resolved_.format.family)) return not_served();
    return grouped != nullptr ? load_as_named(*grouped) : as_layouts();
  }

 private:
  tl::unexpected<Diagnostics> not_served() const {
    return fail(ErrorCode::engine_format_not_served, "/weight_format",
                {{"engine", rules_.engine}, {"id", resolved_.format.id}});
  }

  void note_stored(ServerWeights& weights) const {
    weights.basis = Basis::assumed;
    weights.notes.push_back({ErrorCode::engine_weights_as_stored,
                             "/weight_format",
                             {{"engine", rules_.engine}, {"id", resolved_.format.id}},
                             std::nullopt});
  }

  /// Tensors beyond those that a list of formats is about are a draft's, in 16 bits.
  Result<ServerWeights> load_with(std::vector<VllmStorage> storage, Basis basis) const {
    storage.resize(tensors_.size());
    VllmModel model;
    model.spec = model_.spec;
    model.tensors = &tensors_;
    model.storage = std::move(storage);
    model.compute_capability = model_.device.capability;
    model.dtype_bytes = model_.dtype_bytes;
    model.loads_towers = load_.loads_towers;
    model.has_wide_tables = rules_.has_wide_tables;
    model.host_offload = load_.host_offload;
    model.adapters = load_.adapters;
    model.max_batched_tokens = load_.max_batched_tokens;
    ServerWeights weights;
    weights.basis = basis;
    for (uint64_t stage = 0; stage < model_.plan.pipeline_stages; ++stage) {
      auto loaded = load_vllm_weights(model, model_.plan, {stage, 0, 0});
      if (!loaded) return fail(below("/tensor_ranks", std::move(loaded.error())));
      weights.stages.push_back(*loaded);
    }
    return weights;
  }

  Result<ServerWeights> load_plain() const { return load_with({}, Basis::modelled); }

  Result<ServerWeights> load_as(const ResolvedQuantization& quantization,
                                Basis basis = Basis::modelled) const {
    const std::vector<WeightTensor>& own = resolved_.model->server->tensors;
    auto storage = vllm_storage(own, quantization, model_.device.capability);
    if (!storage) return fail(below("/weight_format", std::move(storage.error())));
    if (own.size() == tensors_.size()) return load_with(std::move(*storage), basis);
    std::vector<VllmStorage> without_drafts;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].role != TensorRole::mtp) without_drafts.push_back((*storage)[i]);
    }
    return load_with(std::move(without_drafts), basis);
  }

  Result<ServerWeights> load_as_named(const GroupedLayout& layout) const {
    const std::vector<WeightTensor>& own = resolved_.model->server->tensors;
    const auto layouts = grouped_layouts(own, resolved_.model->spec, resolved_.format, layout);
    if (!layouts) return fail(below("/weight_format", layouts.error()));
    ResolvedQuantization quantization;
    quantization.method = resolved_.format.id;
    for (std::size_t i = 0; i < own.size(); ++i)
      quantization.scheme_of_tensor.push_back(index_of_scheme(quantization, (*layouts)[i], own[i]));
    return load_as(quantization, Basis::assumed);
  }

  uint32_t index_of_scheme(ResolvedQuantization& quantization, const GroupedLayout& layout,
                           const WeightTensor& tensor) const {
    if (is_plain(layout) || !tensor.is_matrix) return ResolvedQuantization::kNative;
    const QuantScheme scheme = scheme_of(resolved_.format.family, layout);
    std::vector<QuantScheme>& schemes = quantization.schemes;
    const auto known = std::find(schemes.begin(), schemes.end(), scheme);
    const auto index = static_cast<uint32_t>(known - schemes.begin());
    if (known == schemes.end()) schemes.push_back(scheme);
    return index;
  }

  Result<ServerWeights> as_layouts() const {
    auto layouts = tensor_layouts(tensors_, *model_.spec, resolved_.format);
    if (!layouts) return fail(below("/weight_format", std::move(layouts.error())));
    return as_placed(std::move(*layouts));
  }

  /// The types of a GGUF file's tensors, by what they are for; a role that the file lacks keeps 16
  /// bits.
  Result<ServerWeights> as_file(const StoredModel& stored) const {
    if (!lists(rules_.families, "gguf")) return not_served();
    std::vector<TensorLayout> layouts;
    for (const WeightTensor& tensor : tensors_) {
      const auto same =
          std::find_if(stored.tensors.begin(), stored.tensors.end(), [&](const StoredWeight& each) {
            return each.role == tensor.role && each.layer == tensor.layer;
          });
      const GgmlTypeInfo* type =
          same == stored.tensors.end() ? nullptr : find_ggml_type(same->type);
      layouts.emplace_back(type == nullptr || !tensor.is_matrix ? GgmlType::f16 : type->type);
    }
    return as_placed(std::move(layouts));
  }

  /// Tensors as a file holds them, and the rotary tables.
  Result<ServerWeights> as_placed(std::vector<TensorLayout> layouts) const {
    for (const TensorLayout& layout : layouts) {
      const auto* type = std::get_if<GgmlType>(&layout);
      if (type != nullptr && !is_read_from_gguf(*type)) return not_served();
    }
    StoredTensors stored{model_.spec, &tensors_, std::move(layouts), load_.host_offload};
    ServerWeights weights;
    note_stored(weights);
    for (uint64_t stage = 0; stage < model_.plan.pipeline_stages; ++stage) {
      const auto rank = rank_weights(stored, model_.plan, {stage, 0, 0});
      if (!rank) return fail(below("/tensor_ranks", rank.error()));
      weights.stages.push_back(with_tables(rank->device, rank->host));
    }
    return weights;
  }

  VllmLoadedWeights with_tables(Bytes device, Bytes host) const {
    const uint64_t element_bytes = rules_.has_wide_tables ? 4 : model_.dtype_bytes;
    CheckedU64 tables;
    for (const RotaryTable& table : model_.spec->rotary_tables)
      tables += CheckedU64(table.rows) * table.dim * element_bytes;
    VllmLoadedWeights loaded;
    loaded.parameters = device;
    loaded.tables = bytes_of(tables).value_or(Bytes());
    loaded.allocated = loaded.reserved = bytes_of(checked(device) + tables).value_or(device);
    loaded.offloaded = host;
    return loaded;
  }

  /// What vLLM's kernels for such files take (layers/quantization/gguf.py of 0.19).
  static bool is_read_from_gguf(GgmlType type) {
    constexpr GgmlType kRead[] = {
        GgmlType::f32,     GgmlType::f16,    GgmlType::bf16,  GgmlType::q4_0,    GgmlType::q4_1,
        GgmlType::q5_0,    GgmlType::q5_1,   GgmlType::q8_0,  GgmlType::q2_k,    GgmlType::q3_k,
        GgmlType::q4_k,    GgmlType::q5_k,   GgmlType::q6_k,  GgmlType::iq1_m,   GgmlType::iq1_s,
        GgmlType::iq2_xxs, GgmlType::iq2_xs, GgmlType::iq2_s, GgmlType::iq3_xxs, GgmlType::iq3_s,
        GgmlType::iq4_xs,  GgmlType::iq4_nl};
    return std::find(std::begin(kRead), std::end(kRead), type) != std::end(kRead);
  }

  /// A model that is only known by its number of parameters, in equal shares.
  Result<ServerWeights> shared_total() const {
    const CheckedU64 ranks = CheckedU64(model_.plan.tensor_ranks) * model_.plan.pipeline_stages;
    const auto share = bytes_of(ceil_div(checked(resolved_.weights->total), ranks));
    ServerWeights weights;
    note_stored(weights);
    weights.stages.assign(index_of(model_.plan.pipeline_stages),
                          with_tables(share.value_or(resolved_.weights->total), Bytes()));
    return weights;
  }

  const Resolved& resolved_;
  const ServerModel& model_;
  const ServerRules& rules_;
  const ServerLoad& load_;
  const std::vector<WeightTensor>& tensors_;
};

WeightsKey key_of(const Resolved& resolved, const ServerModel& model, const ServerRules& rules,
                  const ServerLoad& load) {
  const ParallelPlan& plan = model.plan;
  const bool is_drafted = model.spec != &resolved.model->spec;
  std::string format = resolved.format.id + "/" + std::string(rules.engine);
  if (model.draft != nullptr) format += "/" + model.draft->id + "/" + resolved.draft_format.id;
  return {
      std::move(format),
      {plan.tensor_ranks, plan.pipeline_stages, plan.data_ranks,
       uint64_t{plan.is_expert_parallel ? 1U : 0U}, uint64_t{plan.replicates_towers ? 1U : 0U},
       uint64_t{plan.loads_drafts ? 1U : 0U}, uint64_t{is_drafted ? 1U : 0U},
       model.device.capability, model.dtype_bytes, uint64_t{load.loads_towers ? 1U : 0U},
       load.host_offload.count(), load.adapters.slots, load.adapters.rank, load.max_batched_tokens},
      plan.stage_layers};
}

}  // namespace

const ModelSpec* spec_with_draft(const LoadedModel& model) {
  ServerCache& cache = cache_of(model);
  if (cache.drafted) return &*cache.drafted;
  auto layer = draft_layer(model.spec);
  if (!layer) return nullptr;
  cache.drafted = model.spec;
  cache.drafted->mtp_layers = {std::move(*layer)};
  cache.drafted_tensors = tensors_with_draft(cache);
  return &*cache.drafted;
}

Result<const ModelSpec*> spec_with_model(const LoadedModel& model, const LoadedModel& draft) {
  ServerCache& cache = cache_of(model);
  for (const auto& [id, spec] : cache.with_models) {
    if (id == draft.id) return spec.get();
  }
  const bool is_cacheable =
      !any_mixer(draft.spec, [](const Mixer& mixer) { return !is_cached_by_itself(mixer); });
  if (!is_cacheable) {
    return fail(ErrorCode::model_unsupported, "",
                {{"what", "The cache of a draft model"},
                 {"reason", "only layers of attention with caches of their own are modelled"}});
  }
  auto spec = std::make_unique<ModelSpec>(model.spec);
  spec->mtp_layers = draft.spec.layers;
  cache.with_models.emplace_back(draft.id, std::move(spec));
  return cache.with_models.back().second.get();
}

namespace {

/// Loads the model, or finds it among what was loaded.
Result<const ServerWeights*> load_model(const Resolved& resolved, const ServerModel& model,
                                        const ServerRules& rules, const ServerLoad& load,
                                        const std::string& path);

void add(Bytes& sum, Bytes bytes) {
  sum = bytes_of(checked(sum) + checked(bytes)).value_or(Bytes(kMaxApiBytes));
}

void add(VllmLoadedWeights& sum, const VllmLoadedWeights& other) {
  add(sum.allocated, other.allocated);
  add(sum.reserved, other.reserved);
  add(sum.parameters, other.parameters);
  add(sum.tables, other.tables);
  add(sum.adapters, other.adapters);
  add(sum.workspaces, other.workspaces);
  add(sum.offloaded, other.offloaded);
}

/// Diagnostics about the format of a model as those about a draft's.
Diagnostics about_draft(Diagnostics diagnostics) {
  constexpr std::string_view kFormat = "/weight_format";
  for (Diagnostic& each : diagnostics) {
    const auto at = each.path.rfind(kFormat);
    if (at != std::string::npos) each.path.replace(at, kFormat.size(), "/draft_format");
  }
  return diagnostics;
}

/// The draft model on one rank: split over the tensor ranks as the model is, whole on the last
/// stage, with an embedding and output of its own (vllm/v1/spec_decode/draft_model.py of 2026,
/// which wants equal tensor ranks; quant_config=None: its own checkpoint's).
Result<ServerWeights> load_draft(const Resolved& resolved, const ServerModel& model,
                                 const ServerRules& rules, const ServerLoad& load,
                                 const std::string& path) {
  Resolved draft = resolved;
  draft.model = resolved.draft;
  draft.format = resolved.draft_format;
  draft.weights = resolved.draft_weights;
  ServerModel as_model = model;
  as_model.spec = &resolved.draft->spec;
  as_model.draft = nullptr;
  as_model.dtype_bytes = draft.format.id == "fp32" ? 4 : 2;
  as_model.plan.pipeline_stages = 1;
  as_model.plan.stage_layers.clear();
  ServerLoad alone;
  alone.loads_towers = load.loads_towers;
  const auto loaded = load_model(draft, as_model, rules, alone, path);
  if (!loaded) return fail(about_draft(loaded.error()));
  return **loaded;
}

Result<ServerWeights> load_with_draft(const Resolved& resolved, const ServerModel& model,
                                      const ServerRules& rules, const ServerLoad& load,
                                      const std::string& path) {
  ServerModel alone = model;
  alone.spec = &resolved.model->spec;
  alone.draft = nullptr;
  const auto own = load_model(resolved, alone, rules, load, path);
  if (!own) return fail(own.error());
  ServerWeights sum = **own;
  auto draft = load_draft(resolved, model, rules, load, path);
  if (!draft) return fail(std::move(draft.error()));
  add(sum.stages.back(), draft->stages.front());
  sum.basis = worse(sum.basis, draft->basis);
  const Diagnostics notes = about_draft(std::move(draft->notes));
  sum.notes.insert(sum.notes.end(), notes.begin(), notes.end());
  return sum;
}

const ServerWeights* keep(ServerCache& cache, WeightsKey key, ServerWeights weights) {
  if (cache.loaded.size() == kMaxLoaded) cache.loaded.clear();
  cache.loaded.push_back(std::make_unique<Loaded>(Loaded{std::move(key), std::move(weights)}));
  return &cache.loaded.back()->weights;
}

Result<const ServerWeights*> load_model(const Resolved& resolved, const ServerModel& model,
                                        const ServerRules& rules, const ServerLoad& load,
                                        const std::string& path) {
  ServerCache& cache = cache_of(*resolved.model);
  WeightsKey key = key_of(resolved, model, rules, load);
  for (const std::unique_ptr<Loaded>& each : cache.loaded) {
    if (each->key == key) return &each->weights;
  }
  const bool is_drafted = model.spec != &resolved.model->spec;
  const bool has_tensors = !resolved.model->tensors.empty();
  const std::vector<WeightTensor> none;
  const std::vector<WeightTensor>& tensors = !has_tensors ? none
                                             : is_drafted ? cache.drafted_tensors
                                                          : cache.tensors;
  auto weights = Weighing(resolved, model, rules, load, tensors).weigh();
  if (!weights) return fail(below(path, std::move(weights.error())));
  weights->notes = below(path, std::move(weights->notes));
  return keep(cache, std::move(key), std::move(*weights));
}

}  // namespace

Result<const ServerWeights*> server_weights(const Resolved& resolved, const ServerModel& model,
                                            const ServerRules& rules, const ServerLoad& load,
                                            const std::string& path) {
  if (model.draft == nullptr) return load_model(resolved, model, rules, load, path);
  ServerCache& cache = cache_of(*resolved.model);
  WeightsKey key = key_of(resolved, model, rules, load);
  for (const std::unique_ptr<Loaded>& each : cache.loaded) {
    if (each->key == key) return &each->weights;
  }
  auto weights = load_with_draft(resolved, model, rules, load, path);
  if (!weights) return fail(std::move(weights.error()));
  return keep(cache, std::move(key), std::move(*weights));
}

}  // namespace vramgauge::api

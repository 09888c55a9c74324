#include "engine/vllm_kv_planner.h"

#include <algorithm>

#include "engine/cache_sums.h"
#include "engine/vllm_kv_specs.h"
#include "units/index.h"

namespace vramgauge {
namespace {

/// Attention kernels want blocks of whole multiples of this many tokens.
constexpr uint64_t kKernelBlockTokens = 16;
/// Tokens whose states mode "all" keeps together at least (mamba2's default chunk).
constexpr uint64_t kStateChunkTokens = 256;
/// Keys and values of latents were padded to that many elements per head before latents were
/// cached as such.
constexpr uint64_t kExpandedHeadElements = 256;

Diagnostics too_large() {
  return {{ErrorCode::value_overflow, {}, {{"what", std::string_view("the KV cache")}}}};
}

/// As the engine itself refuses a model.
Diagnostics unsupported(std::string_view reason) {
  return {{ErrorCode::model_unsupported,
           {},
           {{"what", std::string_view("vLLM's KV cache")}, {"reason", reason}}}};
}

/// A mixer whose convolution also keeps the tokens of a draft, as vLLM's states do
/// (model_executor/layers/mamba/mamba_utils.py, num_spec).
Mixer with_draft_tokens(Mixer mixer, uint64_t draft_tokens) {
  if (auto* mamba = std::get_if<Mamba2>(&mixer)) mamba->d_conv += draft_tokens;
  if (auto* delta = std::get_if<GatedDelta>(&mixer)) delta->d_conv += draft_tokens;
  return mixer;
}

/// Collects what each layer caches and settles the sizes of pages.
class Collector {
 public:
  Collector(const ModelSpec& spec, const ParallelPlan& plan, const VllmKvSettings& settings,
            const VllmKvRules& rules)
      : spec_(spec), plan_(plan), settings_(settings), rules_(rules) {
    block_tokens_ = settings.block_tokens == 0 ? kVllmBlockTokens : settings.block_tokens;
  }

  bool collect() {
    const auto counts = stage_layer_counts(spec_.layers.size(), plan_);
    if (!counts) return refuse(counts.error());
    size_t layer = 0;
    for (uint64_t stage = 0; stage < counts->size(); ++stage) {
      for (uint64_t i = 0; i < (*counts)[index_of(stage)]; ++i) {
        if (!add(spec_.layers[layer++], stage)) return false;
      }
    }
    if (settings_.loads_draft_layers) {
      for (const Layer& draft : spec_.mtp_layers) {
        if (!add(draft, plan_.pipeline_stages - 1)) return false;
      }
    }
    return true;
  }

  /// Raises the attention block until it holds a state, and pads states to its size
  /// (platforms/interface.py, _align_hybrid_block_size).
  bool align_states() {
    const uint64_t token_bytes = attention_token_bytes();
    uint64_t state_bytes = 0;
    for (const VllmKvLayers& layers : layers_) {
      if (layers.spec.kind == VllmKvKind::state)
        state_bytes = std::max(state_bytes, layers.spec.page_bytes);
    }
    if (state_bytes == 0 || token_bytes == 0) return true;
    const uint64_t step = settings_.state_mode == VllmStateMode::all
                              ? kStateChunkTokens
                              : std::max(kKernelBlockTokens, block_tokens_);
    const CheckedU64 needed = round_up(ceil_div(state_bytes, token_bytes), step);
    if (!needed.valid()) return refuse(too_large());
    if (needed.value_or(0) > block_tokens_) raised_ = needed.value_or(0);
    const uint64_t block = std::max(block_tokens_, raised_);
    const CheckedU64 page = CheckedU64(block) * token_bytes;
    if (!page.valid()) return refuse(too_large());
    for (VllmKvLayers& layers : layers_) {
      if (layers.spec.kind == VllmKvKind::state) {
        layers.spec.page_bytes = page.value_or(0);
        if (settings_.state_mode != VllmStateMode::none) layers.spec.block_tokens = block;
      } else {
        const CheckedU64 own = CheckedU64(layers.spec.page_bytes) / block_tokens_ * block;
        if (!own.valid()) return refuse(too_large());
        layers.spec.page_bytes = own.value_or(0);
        layers.spec.block_tokens = block;
      }
    }
    return true;
  }

  std::vector<VllmKvLayers>& layers() { return layers_; }
  /// Why something could not be collected.
  Diagnostics& errors() { return errors_; }
  uint64_t raised_block_tokens() const { return raised_; }
  bool is_compressed() const { return is_compressed_; }

 private:
  bool refuse(Diagnostics errors) {
    errors_ = std::move(errors);
    return false;
  }

  bool add(const Layer& layer, uint64_t stage) {
    for (const Mixer& mixer : layer.mixers) {
      if (!add(mixer, stage)) return false;
    }
    return true;
  }

  bool add(const Mixer& mixer, uint64_t stage) {
    if (const auto* compressed = std::get_if<CompressedAttention>(&mixer)) {
      is_compressed_ = true;
      return add_compressed_layer(layers_, *compressed, stage) ||
             refuse(unsupported("it compresses 4 or 128 tokens, no other number"));
    }
    const auto* latent = std::get_if<LatentAttention>(&mixer);
    if (latent != nullptr && rules_.expands_latents) return add_expanded(*latent, stage);
    const auto segments = mixer_segments(
        spec_,
        settings_.draft_tokens == 0 ? mixer : with_draft_tokens(mixer, settings_.draft_tokens),
        settings_.cache_type, settings_.cache_type, plan_.tensor_ranks, settings_.state_precision);
    if (!segments) return refuse(segments.error());
    for (const CacheSegment& segment : *segments) {
      if (!add_segment(segment, stage)) return false;
    }
    return true;
  }

  bool add_expanded(const LatentAttention& latent, uint64_t stage) {
    const auto row = row_bytes(settings_.cache_type, kExpandedHeadElements, "/cache_type_k");
    if (!row) return refuse(row.error());
    const CheckedU64 heads = ceil_div(latent.num_heads, plan_.tensor_ranks);
    return add_tokens(VllmKvKind::full, heads * uint64_t{2} * *row, 0, stage);
  }

  bool add_segment(const CacheSegment& segment, uint64_t stage) {
    switch (segment.kind) {
      case CacheKind::state: {
        if (segment.fixed_bytes == 0) return true;
        add_kv_layer(layers_, {VllmKvKind::state, 0, segment.fixed_bytes, 0}, stage);
        return true;
      }
      case CacheKind::cross: {
        const CheckedU64 token_bytes =
            CheckedU64(segment.num_kv_heads) * (CheckedU64(segment.k_bytes) + segment.v_bytes);
        return add_tokens(VllmKvKind::cross, token_bytes, 0, stage);
      }
      case CacheKind::indexer:
        return add_tokens(VllmKvKind::full, fp8_index_key_bytes(segment.k_elements), 0, stage);
      case CacheKind::latent: return add_tokens(VllmKvKind::full, latent_bytes(segment), 0, stage);
      case CacheKind::sliding:
        return add_tokens(rules_.has_hybrid_manager ? VllmKvKind::sliding : VllmKvKind::full,
                          segment.entry_bytes, segment.saturation_tokens, stage);
      case CacheKind::chunked:
        return add_tokens(rules_.has_hybrid_manager ? VllmKvKind::chunked : VllmKvKind::full,
                          segment.entry_bytes, segment.saturation_tokens, stage);
      case CacheKind::full:
      case CacheKind::compressed: break;
    }
    return add_tokens(VllmKvKind::full, segment.entry_bytes, 0, stage);
  }

  CheckedU64 latent_bytes(const CacheSegment& segment) const {
    const CheckedU64 padded = round_up(segment.k_elements, rules_.latent_multiple);
    return CheckedU64(segment.entry_bytes) * padded / segment.k_elements;
  }

  bool add_tokens(VllmKvKind kind, CheckedU64 token_bytes, uint64_t span, uint64_t stage) {
    const CheckedU64 page = token_bytes * block_tokens_;
    if (!page.valid()) return refuse(too_large());
    if (kind == VllmKvKind::full) span = 0;
    add_kv_layer(layers_, {kind, block_tokens_, page.value_or(0), span}, stage);
    return true;
  }

  uint64_t attention_token_bytes() const {
    for (const VllmKvLayers& layers : layers_) {
      if (layers.spec.kind != VllmKvKind::state) return layers.spec.page_bytes / block_tokens_;
    }
    return 0;
  }

  const ModelSpec& spec_;
  const ParallelPlan& plan_;
  const VllmKvSettings& settings_;
  const VllmKvRules& rules_;
  std::vector<VllmKvLayers> layers_;
  Diagnostics errors_;
  uint64_t block_tokens_ = 0;
  uint64_t raised_ = 0;
  bool is_compressed_ = false;
};

/// All layers need the same slots (UniformTypeKVCacheSpecs.is_uniform_type): pages may differ.
bool is_uniform(const std::vector<VllmKvLayers>& list) {
  const VllmKvSpec& first = list.front().spec;
  return std::all_of(list.begin(), list.end(), [&first](const VllmKvLayers& layers) {
    return layers.spec.kind == first.kind && layers.spec.block_tokens == first.block_tokens &&
           layers.spec.span_tokens == first.span_tokens;
  });
}

/// Whether sums over all layers stay exact.
bool are_countable(const std::vector<VllmKvLayers>& list) {
  CheckedU64 layers;
  uint64_t largest = 0;
  for (const VllmKvLayers& each : list) {
    layers += uint64_t{each.stages.size()};
    largest = std::max(largest, each.spec.page_bytes);
  }
  return bytes_of(layers * largest).has_value();
}

/// One group of all layers, with the sum of their pages as its block.
void group_uniform(const std::vector<VllmKvLayers>& list, VllmKvPlan& plan) {
  VllmKvGroup group{list.front().spec.kind, list.front().spec.block_tokens,
                    list.front().spec.span_tokens, 0};
  for (const VllmKvLayers& layers : list) {
    group.layers += layers.stages.size();
    for (const uint64_t stage : layers.stages)
      plan.stage_block_bytes[index_of(stage)] += layers.spec.page_bytes;
    plan.model_block_bytes += layers.spec.page_bytes * layers.stages.size();
  }
  plan.groups.push_back(group);
}

/// Raises the blocks of smaller pages until all are equal (unify_kv_cache_spec_page_size).
/// Returns the common size; 0 = they cannot be made equal.
uint64_t unify_pages(std::vector<VllmKvLayers>& list) {
  uint64_t largest = 0;
  for (const VllmKvLayers& layers : list)
    largest = std::max(largest, layers.spec.page_bytes);
  for (VllmKvLayers& layers : list) {
    const uint64_t page = layers.spec.page_bytes;
    if (page == 0 || largest % page != 0) return 0;
    layers.spec.block_tokens *= largest / page;
    layers.spec.page_bytes = largest;
  }
  return largest;
}

/// Layers of a group: as many as the rarest kind has, or as the commonest while that is less than
/// half as many again (_get_kv_cache_groups_uniform_page_size).
uint64_t layers_per_group(const std::vector<VllmKvLayers>& list) {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (const VllmKvLayers& layers : list) {
    least = std::min<uint64_t>(least, layers.stages.size());
    most = std::max<uint64_t>(most, layers.stages.size());
  }
  return most * 2 < least * 3 ? most : least;
}

/// Splits each kind of layer into groups of one size; a group takes every n-th layer, so that
/// stages hold alike parts of it.
bool group_by_kind(std::vector<VllmKvLayers>& list, VllmKvPlan& plan) {
  const uint64_t page = unify_pages(list);
  if (page == 0) return false;
  const uint64_t size = layers_per_group(list);
  std::vector<uint64_t> fullest(plan.stage_block_bytes.size());
  uint64_t largest_group = 0;
  for (const VllmKvLayers& layers : list) {
    const uint64_t count = layers.stages.size();
    const uint64_t groups = (count + size - 1) / size;
    plan.padding_layers += groups * size - count;
    for (uint64_t group = 0; group < groups; ++group) {
      std::vector<uint64_t> on_stage(fullest.size());
      uint64_t members = 0;
      for (uint64_t i = group; i < count; i += groups, ++members)
        ++on_stage[index_of(layers.stages[index_of(i)])];
      for (size_t stage = 0; stage < fullest.size(); ++stage)
        fullest[stage] = std::max(fullest[stage], on_stage[stage]);
      largest_group = std::max(largest_group, members);
      plan.groups.push_back(
          {layers.spec.kind, layers.spec.block_tokens, layers.spec.span_tokens, members});
    }
  }
  for (size_t stage = 0; stage < fullest.size(); ++stage)
    plan.stage_block_bytes[stage] = page * fullest[stage];
  plan.model_block_bytes = page * largest_group;
  return true;
}

}  // namespace

void add_kv_layer(std::vector<VllmKvLayers>& list, const VllmKvSpec& spec, uint64_t stage) {
  const auto equal = std::find_if(list.begin(), list.end(), [&spec](const VllmKvLayers& layers) {
    return layers.spec == spec;
  });
  if (equal == list.end()) {
    list.push_back({spec, {stage}});
  } else {
    equal->stages.push_back(stage);
  }
}

Result<VllmKvPlan> vllm_kv_plan(const ModelSpec& spec, const ParallelPlan& plan,
                                const VllmKvSettings& settings, const VllmKvRules& rules) {
  Collector collector(spec, plan, settings, rules);
  if (!collector.collect()) return fail(std::move(collector.errors()));
  VllmKvPlan out;
  out.settings = settings;
  out.rules = rules;
  out.stage_block_bytes.resize(index_of(plan.pipeline_stages));
  std::vector<VllmKvLayers>& layers = collector.layers();
  if (layers.empty()) return out;
  if (!are_countable(layers)) return fail(too_large());
  bool is_grouped = true;
  if (collector.is_compressed()) {
    is_grouped = group_compressed(layers, out);
  } else {
    if (!collector.align_states()) return fail(std::move(collector.errors()));
    out.raised_block_tokens = collector.raised_block_tokens();
    if (!are_countable(layers)) return fail(too_large());
    if (is_uniform(layers)) {
      group_uniform(layers, out);
    } else {
      is_grouped = group_by_kind(layers, out);
    }
  }
  if (!is_grouped) return fail(unsupported("the pages of its layers cannot be made equal"));
  return out;
}

}  // namespace vramgauge

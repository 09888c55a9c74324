#include "model/cache_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/cache_state.h"

namespace vramgauge {
namespace {

constexpr std::string_view kPathK = "/cache_type_k";
constexpr std::string_view kPathV = "/cache_type_v";
constexpr std::string_view kPathGpus = "/gpu_count";
constexpr uint64_t kFp32Bytes = 4;
/// Stands for a count that overflowed: every formula it enters overflows again, or exceeds
/// kMaxApiBytes.
constexpr uint64_t kTooMany = UINT64_MAX;
/// One fp32 scale stands for that many elements of an fp8 index key (DeepSeek-V3.2, vLLM).
constexpr uint64_t kIndexKeyScaleElements = 128;

Result<CacheSegment> with_entry(CacheSegment segment, CheckedU64 entry_bytes) {
  if (!entry_bytes.valid())
    return fail(ErrorCode::value_overflow, "", {{"what", "the cache of one token"}});
  segment.entry_bytes = entry_bytes.value_or(0);
  return segment;
}

Result<CacheSegment> with_fixed(CacheSegment segment, CheckedU64 fixed_bytes) {
  if (!fixed_bytes.valid())
    return fail(ErrorCode::value_overflow, "", {{"what", "the state of one request"}});
  segment.fixed_bytes = fixed_bytes.value_or(0);
  return segment;
}

tl::unexpected<Diagnostics> not_applicable(const CacheType& type, std::string_view path,
                                           std::string_view needs) {
  return fail(ErrorCode::cache_type_not_applicable, std::string(path),
              {{"id", type.id}, {"needs", needs}});
}

/// Bytes of what one token leaves behind, in the cache types of one layer.
class RowSizes {
 public:
  RowSizes(const CacheType& k_type, const CacheType& v_type) : k_type_(k_type), v_type_(v_type) {}

  /// Key and value of one head.
  Result<CacheSegment> key_and_value(CacheSegment segment) const {
    if (k_type_.layout == CacheType::Layout::packed_latent) {
      return not_applicable(k_type_, kPathK, "a sparse latent cache");
    }
    if (k_type_.layout == CacheType::Layout::packed_slot) return slot(std::move(segment));
    const auto k_bytes = row_bytes(k_type_, segment.k_elements, kPathK);
    if (!k_bytes) return fail(k_bytes.error());
    const auto v_bytes = row_bytes(v_type_, segment.v_elements, kPathV);
    if (!v_bytes) return fail(v_bytes.error());
    segment.k_bytes = *k_bytes;
    segment.v_bytes = *v_bytes;
    return segment;
  }

  /// A latent that serves as key and value of all heads.
  Result<CacheSegment> latent(CacheSegment segment, bool is_sparse) const {
    if (k_type_.layout == CacheType::Layout::packed_slot) {
      return not_applicable(k_type_, kPathK, "keys and values per head");
    }
    if (k_type_.layout != CacheType::Layout::packed_latent) return single_row(std::move(segment));
    if (!is_sparse || segment.k_elements != k_type_.latent_elements) {
      return not_applicable(k_type_, kPathK, "a sparse latent cache");
    }
    segment.k_bytes = k_type_.latent_bytes;
    return segment;
  }

  /// An index key follows the keys' type; beside packed types engines keep it in a form of its own.
  Result<CacheSegment> index_key(CacheSegment segment) const {
    if (k_type_.layout == CacheType::Layout::packed_latent) {
      segment.k_bytes = fp8_index_key_bytes(segment.k_elements);
      return segment;
    }
    if (k_type_.layout == CacheType::Layout::packed_slot) {
      return RowSizes(sixteen_bit_cache(), sixteen_bit_cache()).single_row(std::move(segment));
    }
    return single_row(std::move(segment));
  }

 private:
  Result<CacheSegment> single_row(CacheSegment segment) const {
    const auto k_bytes = row_bytes(k_type_, segment.k_elements, kPathK);
    if (!k_bytes) return fail(k_bytes.error());
    segment.k_bytes = *k_bytes;
    return segment;
  }

  Result<CacheSegment> slot(CacheSegment segment) const {
    const auto bytes = slot_bytes(k_type_, segment.k_elements, segment.v_elements);
    if (!bytes) return fail(bytes.error());
    segment.k_bytes = *bytes;
    return segment;
  }

  static uint64_t fp8_index_key_bytes(uint64_t elements) {
    const CheckedU64 scales = ceil_div(elements, kIndexKeyScaleElements) * kFp32Bytes;
    return (scales + elements).value_or(kTooMany);
  }

  // Copies: a temporary type is passed for packed_slot index keys and for unquantised edge layers.
  CacheType k_type_;
  CacheType v_type_;
};

/// The segments of one layer.
class LayerSegments {
 public:
  LayerSegments(const ModelSpec& spec, const RowSizes& rows, CheckedU64 tensor_parallel,
                const StatePrecision& precision)
      : spec_(spec), rows_(rows), tensor_parallel_(tensor_parallel), precision_(precision) {}

  Result<std::vector<CacheSegment>> of(const Mixer* mixers, size_t count) {
    for (const Mixer* mixer = mixers; mixer != mixers + count; ++mixer) {
      std::visit([this](const auto& kind) { add(kind); }, *mixer);
    }
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(segments_);
  }

 private:
  void add(const Attention& attention) {
    if (!attention.cache_shared_with) push(attention.is_cross ? cross(attention) : self(attention));
    add_index_keys(attention.indexer, "attention");
  }

  void add(const LatentAttention& attention) {
    CacheSegment segment = replicated(CacheKind::latent, "latent_attention");
    segment.k_elements =
        (CheckedU64(attention.kv_lora_rank) + attention.qk_rope_head_dim).value_or(kTooMany);
    push(per_token(rows_.latent(segment, attention.indexer.has_value())));
    add_index_keys(attention.indexer, "latent_attention");
  }

  void add(const CompressedAttention& attention) {
    if (attention.window_tokens != 0) push(compressed_window(attention));
    if (attention.compress_ratio != 0) {
      push(compressed_entries(attention));
      push(compressor(attention.head_dim, attention.compress_ratio));
    }
    add_index_keys(attention.indexer, "compressed_attention");
    if (stores_compressed_keys(attention.indexer)) {
      push(compressor(attention.indexer->head_dim, attention.indexer->tokens_per_key));
    }
  }

  template <typename Recurrent>
  void add(const Recurrent& mixer) {
    push(state(state_shape(mixer, tensor_parallel_)));
  }

  Result<CacheSegment> heads(const Attention& attention) const {
    CacheSegment segment;
    segment.mixer = "attention";
    segment.num_kv_heads = ceil_div(attention.num_kv_heads, tensor_parallel_).value_or(kTooMany);
    segment.k_elements = attention.head_dim;
    segment.v_elements = attention.v_head_dim;
    return rows_.key_and_value(segment);
  }

  Result<CacheSegment> self(const Attention& attention) const {
    auto segment = heads(attention);
    if (!segment) return segment;
    if (attention.window_tokens != 0) {
      segment->kind = CacheKind::sliding;
      segment->saturation_tokens = attention.window_tokens;
    } else if (attention.chunk_tokens != 0) {
      segment->kind = CacheKind::chunked;
      segment->saturation_tokens = attention.chunk_tokens;
    }
    return per_token(segment);
  }

  Result<CacheSegment> cross(const Attention& attention) const {
    auto segment = heads(attention);
    if (!segment) return segment;
    segment->kind = CacheKind::cross;
    segment->source_tokens = spec_.cross_tokens;
    return with_fixed(*segment, bytes_of_all_heads(*segment) * spec_.cross_tokens);
  }

  Result<CacheSegment> compressed_window(const CompressedAttention& attention) const {
    CacheSegment segment = replicated(CacheKind::sliding, "compressed_attention");
    segment.k_elements = attention.head_dim;
    segment.saturation_tokens = attention.window_tokens;
    return per_token(rows_.latent(segment, false));
  }

  Result<CacheSegment> compressed_entries(const CompressedAttention& attention) const {
    CacheSegment segment = replicated(CacheKind::compressed, "compressed_attention");
    segment.k_elements = attention.head_dim;
    segment.tokens_per_entry = attention.compress_ratio;
    return per_token(rows_.latent(segment, false));
  }

  static Result<CacheSegment> compressor(uint64_t width, uint64_t compress_ratio) {
    CacheSegment segment = replicated(CacheKind::state, "compressor");
    const CheckedU64 elements = compressor_state_elements(width, compress_ratio);
    segment.basis = Basis::modelled;
    segment.state_elements = elements.value_or(0);
    segment.state_element_bytes = kFp32Bytes;
    return with_fixed(segment, elements * kFp32Bytes);
  }

  static bool stores_compressed_keys(const std::optional<Indexer>& indexer) {
    return indexer && indexer->stores_keys && indexer->tokens_per_key > 1;
  }

  void add_index_keys(const std::optional<Indexer>& indexer, std::string_view mixer) {
    if (!indexer || !indexer->stores_keys) return;
    CacheSegment segment = replicated(CacheKind::indexer, mixer);
    segment.k_elements = indexer->head_dim;
    segment.tokens_per_entry = indexer->tokens_per_key;
    push(per_token(rows_.index_key(segment)));
  }

  Result<CacheSegment> state(const StateShape& shape) const {
    CacheSegment segment;
    segment.kind = CacheKind::state;
    segment.mixer = shape.mixer;
    // The shape is the engine's own; its precision is a choice of engine and configuration.
    segment.basis = Basis::modelled;
    segment.conv_elements = shape.conv_elements.value_or(0);
    segment.conv_element_bytes = precision_.conv_element_bytes;
    segment.state_elements = shape.temporal_elements.value_or(0);
    segment.state_element_bytes = precision_.temporal_element_bytes;
    return with_fixed(segment, shape.conv_elements * precision_.conv_element_bytes +
                                   shape.temporal_elements * precision_.temporal_element_bytes);
  }

  static CacheSegment replicated(CacheKind kind, std::string_view mixer) {
    CacheSegment segment;
    segment.kind = kind;
    segment.mixer = mixer;
    segment.num_kv_heads = 1;
    segment.is_replicated = true;
    return segment;
  }

  static CheckedU64 bytes_of_all_heads(const CacheSegment& segment) {
    return CheckedU64(segment.num_kv_heads) * (CheckedU64(segment.k_bytes) + segment.v_bytes);
  }

  static Result<CacheSegment> per_token(const Result<CacheSegment>& segment) {
    if (!segment) return segment;
    return with_entry(*segment, bytes_of_all_heads(*segment));
  }

  void push(Result<CacheSegment> segment) {
    if (segment) {
      segments_.push_back(*segment);
    } else {
      errors_.insert(errors_.end(), segment.error().begin(), segment.error().end());
    }
  }

  const ModelSpec& spec_;
  const RowSizes& rows_;
  CheckedU64 tensor_parallel_;
  const StatePrecision& precision_;
  std::vector<CacheSegment> segments_;
  Diagnostics errors_;
};

bool same_shape(CacheSegment a, const CacheSegment& b) {
  a.layers = b.layers;
  return a == b;
}

void merge(std::vector<CacheSegment>& segments, const CacheSegment& segment) {
  const auto equal = std::find_if(segments.begin(), segments.end(), [&](const CacheSegment& other) {
    return same_shape(other, segment);
  });
  if (equal == segments.end()) {
    segments.push_back(segment);
  } else {
    equal->layers += segment.layers;
  }
}

bool is_recurrent(const Mixer& mixer) {
  return !std::holds_alternative<Attention>(mixer) &&
         !std::holds_alternative<LatentAttention>(mixer) &&
         !std::holds_alternative<CompressedAttention>(mixer);
}

bool has_recurrent_layer(const ModelSpec& spec) {
  return std::any_of(spec.layers.begin(), spec.layers.end(), [](const Layer& layer) {
    return std::any_of(layer.mixers.begin(), layer.mixers.end(), is_recurrent);
  });
}

/// First and last layers that a packed type leaves at 16 bits: never more than half on either side.
uint64_t unquantised_edge(const ModelSpec& spec, const CacheType& type) {
  if (has_recurrent_layer(spec)) return 0;
  return std::min<uint64_t>(type.edge_layers_unquantised, spec.layers.size() / 2);
}

Result<void> check_types(const CacheType& k_type, const CacheType& v_type,
                         uint64_t tensor_parallel) {
  for (const auto& [type, path] : {std::pair(&k_type, kPathK), std::pair(&v_type, kPathV)}) {
    if (type->refused.empty()) continue;
    return fail(ErrorCode::cache_type_refused, std::string(path),
                {{"id", type->id}, {"reason", type->refused}});
  }
  const bool is_packed =
      k_type.layout != CacheType::Layout::blocks || v_type.layout != CacheType::Layout::blocks;
  if (is_packed && k_type.id != v_type.id) {
    return fail(ErrorCode::value_not_a_choice, std::string(kPathV),
                {{"key", "cache_type_v"}, {"value", v_type.id}, {"choices", k_type.id}});
  }
  if (tensor_parallel == 0) {
    return fail(ErrorCode::value_out_of_range, std::string(kPathGpus),
                {{"key", "gpu_count"},
                 {"value", uint64_t{0}},
                 {"min", uint64_t{1}},
                 {"max", kMaxApiBytes}});
  }
  return {};
}

/// The smallest number of KV heads that some layer divides over the ranks.
std::optional<uint64_t> fewest_kv_heads(const ModelSpec& spec) {
  std::optional<uint64_t> fewest;
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention == nullptr || attention->cache_shared_with) continue;
      fewest = std::min(fewest.value_or(attention->num_kv_heads), attention->num_kv_heads);
    }
  }
  return fewest;
}

Diagnostics notes_of(const ModelSpec& spec, const CacheLayout& layout, uint64_t tensor_parallel) {
  Diagnostics notes;
  if (tensor_parallel <= 1) return notes;
  const auto kv_heads = fewest_kv_heads(spec);
  if (kv_heads && *kv_heads < tensor_parallel) {
    notes.push_back({ErrorCode::engine_heads_replicated,
                     std::string(kPathGpus),
                     {{"gpus", tensor_parallel}, {"kv_heads", *kv_heads}},
                     std::nullopt});
  }
  const auto is_latent = [](const CacheSegment& segment) { return segment.is_replicated; };
  if (std::any_of(layout.segments.begin(), layout.segments.end(), is_latent)) {
    notes.push_back({ErrorCode::engine_latent_replicated,
                     std::string(kPathGpus),
                     {{"gpus", tensor_parallel}},
                     std::nullopt});
  }
  return notes;
}

}  // namespace

std::string_view cache_kind_name(CacheKind kind) {
  switch (kind) {
    case CacheKind::full: return "full";
    case CacheKind::sliding: return "sliding";
    case CacheKind::chunked: return "chunked";
    case CacheKind::latent: return "latent";
    case CacheKind::indexer: return "indexer";
    case CacheKind::compressed: return "compressed";
    case CacheKind::state: return "state";
    case CacheKind::cross: return "cross";
  }
  return "";
}

Result<std::vector<CacheSegment>> mixer_segments(const ModelSpec& spec, const Mixer& mixer,
                                                 const CacheType& k_type, const CacheType& v_type,
                                                 uint64_t tensor_parallel,
                                                 const StatePrecision& precision) {
  const RowSizes rows(k_type, v_type);
  return LayerSegments(spec, rows, tensor_parallel, precision).of(&mixer, 1);
}

Result<CacheLayout> cache_layout(const ModelSpec& spec, const CacheType& k_type,
                                 const CacheType& v_type, uint64_t tensor_parallel,
                                 const StatePrecision& precision) {
  if (auto checked = check_types(k_type, v_type, tensor_parallel); !checked)
    return fail(checked.error());
  const RowSizes rows(k_type, v_type);
  const RowSizes edge_rows(sixteen_bit_cache(), sixteen_bit_cache());
  const uint64_t edge = unquantised_edge(spec, k_type);
  CacheLayout layout;
  uint64_t before = 0;
  for (const Layer& layer : spec.layers) {
    const uint64_t after = spec.layers.size() - before - 1;
    const bool is_edge = before < edge || after < edge;
    auto segments = LayerSegments(spec, is_edge ? edge_rows : rows, tensor_parallel, precision)
                        .of(layer.mixers.data(), layer.mixers.size());
    if (!segments) return fail(segments.error());
    for (const CacheSegment& segment : *segments)
      merge(layout.segments, segment);
    ++before;
  }
  layout.notes = notes_of(spec, layout, tensor_parallel);
  return layout;
}

}  // namespace vramgauge

#include "engine/cache_sums.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kScaleElements = 128;
constexpr uint64_t kScaleBytes = 4;

tl::unexpected<Diagnostics> not_read(std::string_view reason) {
  return fail(ErrorCode::model_unsupported, {},
              {{"what", std::string_view("the cache")}, {"reason", reason}});
}

Result<void> add(CacheSums& sums, const CacheSegment& segment) {
  switch (segment.kind) {
    case CacheKind::full:
    case CacheKind::latent: sums.full_bytes += segment.entry_bytes; return {};
    case CacheKind::indexer: sums.full_bytes += fp8_index_key_bytes(segment.k_elements); return {};
    case CacheKind::sliding:
    case CacheKind::chunked:
      sums.window_bytes += segment.entry_bytes;
      sums.largest_window_tokens = std::max(sums.largest_window_tokens, segment.saturation_tokens);
      return {};
    case CacheKind::state:
    case CacheKind::cross: sums.state_bytes += segment.fixed_bytes; return {};
    case CacheKind::compressed: break;
  }
  return not_read("the pools of compressed caches were not read");
}

/// The segments of a mixer; `expands_latents` as for cache_sums.
Result<std::vector<CacheSegment>> segments_of(const ModelSpec& spec, const Mixer& mixer,
                                              uint64_t ranks, const CacheType& type,
                                              const StatePrecision& precision,
                                              bool expands_latents) {
  const auto* latent = expands_latents ? std::get_if<LatentAttention>(&mixer) : nullptr;
  if (latent == nullptr) return mixer_segments(spec, mixer, type, type, ranks, precision);
  if (latent->indexer)
    return not_read("how index keys are kept beside expanded latents was not read");
  return mixer_segments(spec, expanded_heads(*latent), type, type, ranks, precision);
}

}  // namespace

Attention expanded_heads(const LatentAttention& latent) {
  Attention attention;
  attention.num_heads = attention.num_kv_heads = latent.num_heads;
  attention.head_dim = latent.qk_nope_head_dim + latent.qk_rope_head_dim;
  attention.v_head_dim = latent.v_head_dim;
  return attention;
}

uint64_t fp8_index_key_bytes(uint64_t head_dim) {
  const CheckedU64 scales = ceil_div(head_dim, kScaleElements) * kScaleBytes;
  return (scales + head_dim).value_or(UINT64_MAX);
}

CheckedU64 request_bytes(const CacheSums& sums, const CacheCounts& counts) {
  return sums.full_bytes * counts.tokens + sums.window_bytes * counts.window_tokens +
         sums.state_bytes * counts.states;
}

Result<CacheSummary> cache_summary(const CacheSums& sums, const CacheCounts& counts) {
  const CheckedU64 each = request_bytes(sums, counts);
  const auto per_token = bytes_of(sums.full_bytes + sums.window_bytes);
  const auto fixed = bytes_of(sums.state_bytes * counts.states);
  const auto request = bytes_of(each);
  const auto all = bytes_of(each * counts.num_requests);
  if (!per_token || !fixed || !request || !all)
    return fail(ErrorCode::value_overflow, {}, {{"what", std::string_view("the cache")}});
  return CacheSummary{*per_token, *fixed, *request, *all};
}

Result<CacheSums> cache_sums(const ModelSpec& spec, const ParallelPlan& plan, uint64_t stage,
                             uint64_t attention_ranks, const CacheType& type,
                             const StatePrecision& precision, bool expands_latents) {
  const auto counts = stage_layer_counts(spec.layers.size(), plan);
  if (!counts) return fail(counts.error());
  uint64_t first = 0;
  for (uint64_t before = 0; before < stage; ++before)
    first += (*counts)[index_of(before)];
  CacheSums sums;
  for (uint64_t i = first; i < first + (*counts)[index_of(stage)]; ++i) {
    for (const Mixer& mixer : spec.layers[index_of(i)].mixers) {
      const auto segments =
          segments_of(spec, mixer, attention_ranks, type, precision, expands_latents);
      if (!segments) return fail(segments.error());
      for (const CacheSegment& segment : *segments) {
        if (auto added = add(sums, segment); !added) return fail(added.error());
      }
    }
  }
  return sums;
}

}  // namespace vramgauge

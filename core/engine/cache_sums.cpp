#include "engine/cache_sums.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kScaleElements = 128;
constexpr uint64_t kScaleBytes = 4;

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
  return fail(ErrorCode::model_unsupported, {},
              {{"what", std::string_view("the cache")},
               {"reason", std::string_view("the pools of compressed caches were not read")}});
}

}  // namespace

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
                             const StatePrecision& precision) {
  const auto counts = stage_layer_counts(spec.layers.size(), plan);
  if (!counts) return fail(counts.error());
  uint64_t first = 0;
  for (uint64_t before = 0; before < stage; ++before)
    first += (*counts)[index_of(before)];
  CacheSums sums;
  for (uint64_t i = first; i < first + (*counts)[index_of(stage)]; ++i) {
    for (const Mixer& mixer : spec.layers[index_of(i)].mixers) {
      const auto segments = mixer_segments(spec, mixer, type, type, attention_ranks, precision);
      if (!segments) return fail(segments.error());
      for (const CacheSegment& segment : *segments) {
        if (auto added = add(sums, segment); !added) return fail(added.error());
      }
    }
  }
  return sums;
}

}  // namespace vramgauge

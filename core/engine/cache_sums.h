// What a rank caches per token and per request, summed over the layers of its pipeline stage: all
// that engines need whose pools are not paged by groups of layers.
#pragma once

#include "model/cache_layout.h"
#include "model/placement.h"
#include "specs/breakdown.h"
#include "specs/model_spec.h"
#include "units/checked.h"

namespace vramgauge {

struct CacheSums {
  /// Bytes per token of layers that keep everything, latents and index keys included.
  CheckedU64 full_bytes;
  /// Of layers that keep a window or a chunk.
  CheckedU64 window_bytes;
  uint64_t largest_window_tokens = 0;
  /// Bytes of a request's recurrent states.
  CheckedU64 state_bytes;
};

/// Latent attention as a program has it that expands latents before it caches them: keys and values
/// of every head.
Attention expanded_heads(const LatentAttention& latent);

/// The caches of one stage. `attention_ranks` is over how many ranks heads are spread. Index keys
/// are fp8 with their scales whatever the cache type. Errors: those of mixer_segments;
/// model.unsupported for compressed caches.
Result<CacheSums> cache_sums(const ModelSpec& spec, const ParallelPlan& plan, uint64_t stage,
                             uint64_t attention_ranks, const CacheType& type,
                             const StatePrecision& precision, bool expands_latents = false);

/// How much of it a workload holds.
struct CacheCounts {
  uint64_t num_requests = 1;
  /// Tokens of a request, and those that layers with a window keep of them.
  uint64_t tokens = 0;
  uint64_t window_tokens = 0;
  /// Recurrent states of a request.
  uint64_t states = 1;
};

/// Bytes of one request.
CheckedU64 request_bytes(const CacheSums& sums, const CacheCounts& counts);

/// The cache in numbers. Error: value.overflow.
Result<CacheSummary> cache_summary(const CacheSums& sums, const CacheCounts& counts);

/// Bytes of one index key: fp8 elements and an fp32 scale for each 128 of them.
uint64_t fp8_index_key_bytes(uint64_t head_dim);

}  // namespace vramgauge

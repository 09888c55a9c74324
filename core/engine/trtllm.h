// TensorRT-LLM: weights and buffers first, then a share of what is free
// (KvCacheConfig.free_gpu_memory_fraction; docs, reference/memory).
#pragma once

#include "engine/cache_sums.h"
#include "engine/terms.h"
#include "engine/versioned_constants.h"

namespace vramgauge {

/// Constants of presets/engines/tensorrt_llm.json for one release.
struct TrtllmProfile {
  BandedDecimal free_gpu_memory_fraction;
  uint64_t tokens_per_block = 0;
  uint64_t max_num_tokens = 0;
  /// Context, libraries, decoder and runtime buffers.
  BandedDecimal runtime_gib;
};

Result<TrtllmProfile> trtllm_profile(const json::Value& entry, uint64_t release);

/// What an estimate depends on. 0 or nothing = the engine's default.
struct TrtllmInputs : StagedInputs {
  std::optional<Decimal> free_gpu_memory_fraction;
  uint64_t tokens_per_block = 0;
  uint64_t max_num_tokens = 0;
  /// The most requests at once, for each of which a recurrent state is kept where there are any; 0
  /// = num_requests.
  uint64_t max_batch_size = 0;
};

struct TrtllmEstimate {
  Breakdown breakdown;
  /// Free after loading and reservations on the first stage, and the cache that it makes.
  BytesDelta free;
  Bytes pool;
  /// "Max tokens in paged KV cache": whole blocks, the least over all stages.
  uint64_t pool_tokens = 0;
  uint64_t max_num_tokens = 0;
  uint64_t tokens_per_block = 0;
  Decimal free_gpu_memory_fraction;
  /// What each stage caches, and how much of it the workload holds.
  std::vector<CacheSums> caches;
  CacheCounts counts;
};

/// Peak of the forward pass: max_num_tokens x (3 x hidden + 3 x widest feed-forward) at 16 bit.
/// Every layer is taken to keep the whole context, as it does without max_attention_window.
/// Errors: those of cache_sums; value.overflow.
Result<TrtllmEstimate> estimate_trtllm(const TrtllmInputs& inputs, const TrtllmProfile& profile);

}  // namespace vramgauge

// vLLM's KV cache planner: which layers share a block table, how large a block is, how many blocks
// a pool holds, and what the engine logs or refuses. Integer for integer what
// vllm/v1/core/kv_cache_utils.py and vllm/v1/kv_cache_interface.py of 0.19 do; where versions
// differ, VllmKvRules says which way.
#pragma once

#include <optional>
#include <vector>

#include "model/cache_layout.h"
#include "model/placement.h"
#include "specs/model_spec.h"
#include "units/bytes.h"
#include "units/error.h"

namespace vramgauge {

/// What differs between versions (vllm_profile reads it from presets/engines/vllm.json).
struct VllmKvRules {
  /// Windows, chunks and states have block tables of their own beside full attention (0.9.2 on);
  /// before, and with --disable-hybrid-kv-cache-manager, windows are kept in full.
  bool has_hybrid_manager = true;
  /// The line "GPU KV cache size" is concurrency x max_model_len (0.21 on), not blocks / groups.
  bool token_line_is_concurrency = false;
  /// A worker must hold a request of all stages' layers, not of its own (0.14 and 0.15).
  bool checks_whole_model = false;
  /// Each pipeline stage's virtual engine has a share of the blocks to itself (the first engine).
  bool splits_blocks_over_stages = false;
  /// Batches under way at once: a window's blocks are freed once their tokens are processed (2
  /// since 0.26, with asynchronous scheduling).
  uint64_t batches_in_flight = 1;
  /// Latents are expanded to keys and values per head, padded to 256 (before 0.7).
  bool expands_latents = false;
  /// Multiple that a cached latent is padded to, in elements (128 in 0.7).
  uint64_t latent_multiple = 1;

  friend bool operator==(const VllmKvRules&, const VllmKvRules&) = default;
};

/// What states keep for prefix caching (--mamba-cache-mode).
enum class VllmStateMode {
  none,   ///< one state per request
  align,  ///< two: the running one and the last at a block boundary
  all,    ///< one per block of tokens
};

/// Tokens of a block unless a flag, a backend or a state says otherwise.
inline constexpr uint64_t kVllmBlockTokens = 16;

/// Settings that the plan depends on.
struct VllmKvSettings {
  CacheType cache_type;
  StatePrecision state_precision;
  /// Tokens of a block; 0 = the engine's choice.
  uint64_t block_tokens = 0;
  uint64_t max_model_len = 0;
  uint64_t max_num_batched_tokens = 0;
  /// Tokens that a speculative step drafts; 0 = none.
  uint64_t draft_tokens = 0;
  /// Draft layers (multi-token prediction) that cache as the model's own do.
  bool loads_draft_layers = false;
  VllmStateMode state_mode = VllmStateMode::none;
  /// Decode (and prefill) context-parallel ranks, over which full attention is spread.
  uint64_t context_ranks = 1;
  /// Tokens that an encoder may hand over per step (cross attention).
  uint64_t encoder_tokens = 0;
};

/// How long a block table of a group grows.
enum class VllmKvKind { full, sliding, chunked, state, cross };

/// Layers that share one block table.
struct VllmKvGroup {
  VllmKvKind kind = VllmKvKind::full;
  uint64_t block_tokens = 0;
  /// Window or chunk.
  uint64_t span_tokens = 0;
  uint64_t layers = 0;
};

/// The plan of a model on one rank of each stage.
struct VllmKvPlan {
  std::vector<VllmKvGroup> groups;
  /// Bytes of one block on each pipeline stage: it holds a page of every layer of a group.
  std::vector<uint64_t> stage_block_bytes;
  /// Bytes of one block if a stage held every layer.
  uint64_t model_block_bytes = 0;
  /// Layers that groups are filled up with; they cost memory and hold nothing.
  uint64_t padding_layers = 0;
  /// Tokens of an attention block that was raised to hold a state; 0 = not raised.
  uint64_t raised_block_tokens = 0;
  VllmKvSettings settings;
  VllmKvRules rules;
};

/// Plans the caches of `spec` spread by `plan`. Errors: those of cache_layout;
/// model.unsupported when page sizes cannot be made equal, as the engine itself refuses it.
Result<VllmKvPlan> vllm_kv_plan(const ModelSpec& spec, const ParallelPlan& plan,
                                const VllmKvSettings& settings, const VllmKvRules& rules);

/// Blocks that a request of `tokens` holds at most (max_memory_usage_bytes over the groups).
CheckedU64 vllm_blocks_per_request(const VllmKvPlan& plan, uint64_t tokens);

/// The same of one group.
CheckedU64 vllm_group_blocks(const VllmKvPlan& plan, const VllmKvGroup& group, uint64_t tokens);

/// Blocks that it holds while it generates: of a window only the window, without the tokens of
/// batches under way. What requests are admitted by is above, what they settle at is this.
CheckedU64 vllm_steady_blocks_per_request(const VllmKvPlan& plan, uint64_t tokens);

/// Why the engine does not start.
enum class VllmRefusal {
  none,
  no_memory,  ///< "No available memory for the cache blocks"
  too_long,   ///< "... GiB KV cache is needed, which is larger than the available KV cache memory"
};

/// What the engine makes of the memory that is left.
struct VllmKvPool {
  VllmRefusal refusal = VllmRefusal::none;
  /// The least over all workers.
  uint64_t num_blocks = 0;
  uint64_t blocks_per_request = 0;
  /// "GPU KV cache size: N tokens", as the version prints it.
  uint64_t token_line = 0;
  /// Tokens of requests of max_model_len that the pool holds.
  uint64_t capacity_tokens = 0;
  /// "N GiB KV cache is needed": one request of max_model_len, on the stage that is checked.
  Bytes needed;
  /// "the estimated maximum model length is N"; 0 = not even one token.
  uint64_t max_len = 0;

  /// "Maximum concurrency", in hundredths.
  uint64_t concurrency_hundredths() const;
};

/// Sizes the pool: `available` bytes on each stage, negative when less is left than needed.
/// Errors: value.overflow.
Result<VllmKvPool> vllm_kv_pool(const VllmKvPlan& plan, const std::vector<BytesDelta>& available);

}  // namespace vramgauge

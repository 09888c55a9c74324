// SGLang: a fixed share of each card for weights and caches, and pools that are sized from what the
// weights leave of it (python/sglang/srt/server_args.py and
// model_executor/model_runner_kv_cache_mixin.py of 0.5).
#pragma once

#include "engine/cache_sums.h"
#include "engine/terms.h"
#include "engine/versioned_constants.h"

namespace vramgauge {

/// Constants of presets/engines/sglang.json for one release.
struct SglangProfile {
  /// What the share leaves for activations, graphs and the rest, in MiB: a constant, per token of a
  /// prefill chunk, per rank, per sequence in the largest graph, and at least on cards above 60
  /// GiB.
  BandedDecimal reserve_mib;
  BandedDecimal reserve_token_mib;
  BandedDecimal reserve_rank_mib;
  BandedDecimal reserve_graph_mib;
  BandedDecimal reserve_large_card_mib;
  /// For draft models and their graphs.
  BandedDecimal reserve_draft_mib;
  /// Per sequence in the largest graph and replica of attention, and more of it past 300 sequences.
  BandedDecimal reserve_replica_mib;
  BandedDecimal reserve_replica_large_mib;
  BandedDecimal swa_full_tokens_ratio;
  BandedDecimal mamba_full_memory_ratio;
  /// Taken by context and libraries before the engine looks at the card.
  BandedDecimal context_gib;
  /// Taken between loading and sizing the pools.
  BandedDecimal after_load_gib;
};

Result<SglangProfile> sglang_profile(const json::Value& entry, uint64_t release);

/// What an estimate depends on. 0 or nothing = the engine's default for the card.
struct SglangInputs : StagedInputs {
  std::optional<Decimal> mem_fraction_static;
  std::optional<Decimal> swa_full_tokens_ratio;
  uint64_t chunked_prefill_size = 0;
  uint64_t cuda_graph_max_bs = 0;
  /// --max-total-tokens.
  uint64_t max_total_tokens = 0;
  uint64_t page_size = 1;
  /// --max-running-requests, of one replica; 0 = as many as the pools hold.
  uint64_t max_running_requests = 0;
  bool has_draft_model = false;
  /// Over how many replicas the tensor ranks share out requests (--enable-dp-attention with
  /// --dp-size); the ranks of one replica split its heads. num_requests are those of one replica.
  uint64_t attention_replicas = 1;
};

/// The pools of one estimate: the least over all stages.
struct SglangPools {
  /// "max_total_num_tokens": of the layers that see everything.
  uint64_t full_tokens = 0;
  /// Of layers that see a window; 0 = there are none.
  uint64_t window_tokens = 0;
  /// Recurrent states.
  uint64_t states = 0;
  /// Requests that the states allow at once: three states each with prefix caching.
  uint64_t max_requests = 0;
};

struct SglangEstimate {
  Breakdown breakdown;
  Decimal mem_fraction_static;
  uint64_t chunked_prefill_size = 0;
  uint64_t cuda_graph_max_bs = 0;
  /// What the engine's own rule sets aside for activations and graphs.
  Bytes rule_reserve;
  /// Bytes left for pools on the first stage, with the ends of the band.
  BytesDelta rest;
  BytesDelta rest_least;
  BytesDelta rest_most;
  SglangPools pools;
  SglangPools pools_least;
  /// What each stage caches, and how much of it the workload holds.
  std::vector<CacheSums> caches;
  CacheCounts counts;
  /// Share of the card for weights and pools on the first stage.
  Bytes share;
  /// The engine starts with any pool, however short; without one it stops.
  bool starts = false;
};

/// Errors: those of mixer_segments and placement; engine.not_divisible where replicas do not divide
/// the ranks; value.overflow.
Result<SglangEstimate> estimate_sglang(const SglangInputs& inputs, const SglangProfile& profile);

}  // namespace vramgauge

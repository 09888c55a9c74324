// Hugging Face Transformers: plain generate() of a model on PyTorch, one batch of requests of equal
// length (src/transformers/cache_utils.py and generation/utils.py of 4.57 and 5).
//
// Memory has two high points. While the prompt is read, the activations of a whole prompt stand
// beside its cache, in which layers with a window still hold every token: what they keep is a view
// of the whole. While tokens are generated, the cache has its full length, and a growing cache
// holds one layer's keys twice. The higher of the two is the answer.
#pragma once

#include "engine/cache_sums.h"
#include "engine/terms.h"
#include "engine/versioned_constants.h"

namespace vramgauge {

/// Constants of presets/engines/transformers.json for one release.
struct TransformersProfile {
  /// Layers with a window keep a window when the cache grows.
  bool has_windows = false;
  /// Logits of the last token of a prompt alone.
  bool has_last_logits = false;
  /// All experts in one matrix product of sorted tokens, instead of one expert after the other.
  bool has_grouped_experts = false;
  /// What a derived peak may differ by.
  BandedDecimal activation_factor;
  /// What a cache that grows leaves unused between its blocks.
  BandedDecimal growth_factor;
  /// Context of the device, libraries and their workspaces.
  BandedDecimal context_gib;
};

Result<TransformersProfile> transformers_profile(const json::Value& entry, uint64_t release);

/// What an estimate depends on; stages are devices that hold whole layers (device_map).
struct TransformersInputs : StagedInputs {
  /// The cache is allocated at its full length at once.
  bool is_static = false;
  /// Attention in plain PyTorch, which keeps its scores, instead of a fused kernel.
  bool is_eager = false;
  /// Tokens of each prompt; the rest of context_tokens is generated.
  uint64_t prompt_tokens = 0;
  /// Of activations and cache.
  uint64_t dtype_bytes = 2;
};

/// The parts of a peak that are alive at once, per device.
struct TransformersPeak {
  /// Widest moment of a layer: attention, or the feed-forward.
  CheckedU64 attention;
  CheckedU64 feed_forward;
  /// Last hidden states and logits; on the last device.
  CheckedU64 logits;
  /// Keys that stand twice while the cache grows.
  CheckedU64 copied;

  /// The most of them.
  CheckedU64 bytes(bool is_last) const;
};

struct TransformersEstimate {
  Breakdown breakdown;
  /// While the prompt is read, and while the last token is generated.
  TransformersPeak prefill;
  TransformersPeak decode;
  /// Whether the first is the higher one.
  bool is_prefill_higher = true;
  /// What each device caches, and how much of it is held at the higher moment.
  std::vector<CacheSums> caches;
  std::vector<CacheCounts> counts;
};

/// Errors: those of mixer_segments; model.unsupported for caches that Transformers was not read
/// for; value.overflow.
Result<TransformersEstimate> estimate_transformers(const TransformersInputs& inputs,
                                                   const TransformersProfile& profile);

/// The most requests, and the longest context, that fit; `caches` are those of an estimate of the
/// same model. Some dozen estimates.
Answers transformers_answers(const TransformersInputs& inputs, const TransformersProfile& profile,
                             const std::vector<CacheSums>& caches);

}  // namespace vramgauge

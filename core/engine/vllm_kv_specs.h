// What each layer of a model caches in vLLM, before layers are grouped; private to the planner.
#pragma once

#include <vector>

#include "engine/vllm_kv_planner.h"

namespace vramgauge {

/// How one layer is cached (a KVCacheSpec): layers are in one group only when these are equal.
struct VllmKvSpec {
  VllmKvKind kind = VllmKvKind::full;
  uint64_t block_tokens = 0;
  uint64_t page_bytes = 0;
  /// Window or chunk.
  uint64_t span_tokens = 0;

  friend bool operator==(const VllmKvSpec&, const VllmKvSpec&) = default;
};

/// Equal layers, in order.
struct VllmKvLayers {
  VllmKvSpec spec;
  /// Pipeline stage of each layer.
  std::vector<uint64_t> stages;
};

/// Adds one layer to its equals.
void add_kv_layer(std::vector<VllmKvLayers>& list, const VllmKvSpec& spec, uint64_t stage);

/// Caches of DeepSeek-V4's layers, whose pages have sizes and block lengths of their own
/// (vllm/models/deepseek_v4 and SlidingWindowMLASpec of 0.22). False for a ratio that the engine
/// does not know.
bool add_compressed_layer(std::vector<VllmKvLayers>& list, const CompressedAttention& attention,
                          uint64_t stage);

/// Groups those caches by tuples of layers with a common page
/// (_get_kv_cache_groups_uniform_groups). False when a page is larger than those of full attention.
bool group_compressed(const std::vector<VllmKvLayers>& list, VllmKvPlan& plan);

}  // namespace vramgauge

// Models described by hand from their published configurations, for the cache tests.
#pragma once

#include "model/cache_bytes.h"
#include "model/cache_layout.h"
#include "specs/model_spec.h"

namespace vramgauge::test {

inline Attention attention_of(uint64_t kv_heads, uint64_t head_dim) {
  Attention attention;
  attention.num_heads = kv_heads;
  attention.num_kv_heads = kv_heads;
  attention.head_dim = head_dim;
  attention.v_head_dim = head_dim;
  return attention;
}

inline Attention window_of(Attention attention, uint64_t window_tokens) {
  attention.window_tokens = window_tokens;
  return attention;
}

inline LatentAttention latent_of(uint64_t kv_lora_rank, uint64_t qk_rope_head_dim) {
  LatentAttention attention;
  attention.num_heads = 128;
  attention.kv_lora_rank = kv_lora_rank;
  attention.qk_rope_head_dim = qk_rope_head_dim;
  return attention;
}

inline Indexer indexer_of(uint64_t head_dim, uint64_t tokens_per_key = 1) {
  Indexer indexer;
  indexer.num_heads = 64;
  indexer.head_dim = head_dim;
  indexer.tokens_per_key = tokens_per_key;
  return indexer;
}

inline void add_layers(ModelSpec& spec, uint64_t count, const Mixer& mixer) {
  for (uint64_t i = 0; i < count; ++i) {
    Layer layer;
    layer.mixers.push_back(mixer);
    spec.layers.push_back(layer);
  }
}

inline ModelSpec uniform_model(uint64_t layers, const Mixer& mixer) {
  ModelSpec spec;
  add_layers(spec, layers, mixer);
  return spec;
}

/// Llama-3.x-70B: 80 layers, 8 KV heads of 128.
inline ModelSpec llama_70b() { return uniform_model(80, attention_of(8, 128)); }

/// gpt-oss: half the layers see 128 tokens; 8 KV heads of 64.
inline ModelSpec gpt_oss(uint64_t layers) {
  ModelSpec spec;
  for (uint64_t i = 0; i < layers / 2; ++i) {
    add_layers(spec, 1, window_of(attention_of(8, 64), 128));
    add_layers(spec, 1, attention_of(8, 64));
  }
  return spec;
}

/// A layout that has to exist; throws with the reason where it does not.
inline CacheLayout layout_of(const ModelSpec& spec, const CacheType& type,
                             uint64_t tensor_parallel = 1, const StatePrecision& precision = {}) {
  auto layout = cache_layout(spec, type, type, tensor_parallel, precision);
  return std::move(layout.value());
}

constexpr Paging kUnpaged = {1};

}  // namespace vramgauge::test

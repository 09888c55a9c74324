// The cache of a model counted the slow way: layer by layer, token by token, without segments.
#pragma once

#include <algorithm>
#include <variant>

#include "specs/cache_type.h"
#include "specs/model_spec.h"

namespace vramgauge::test {

/// Bytes of one request of `tokens` tokens on one unpaged device. Reference for the closed form:
/// values stay small enough for plain arithmetic, states are 2 B (convolution) and 4 B (temporal).
class EnumeratedCache {
 public:
  EnumeratedCache(const ModelSpec& spec, const CacheType& type, uint64_t tokens)
      : spec_(spec), type_(type), tokens_(tokens) {}

  uint64_t bytes() const {
    uint64_t total = 0;
    for (const Layer& layer : spec_.layers) {
      for (const Mixer& mixer : layer.mixers) {
        total += std::visit([this](const auto& kind) { return this->of(kind); }, mixer);
      }
    }
    return total;
  }

 private:
  uint64_t row(uint64_t elements) const {
    return elements / type_.block_elements * type_.block_bytes + type_.extra_bytes_per_token_head;
  }

  /// Adds up one row for each token that is still there.
  uint64_t kept(uint64_t bytes_each, uint64_t at_most) const {
    uint64_t total = 0;
    for (uint64_t token = 0; token < tokens_; ++token) {
      if (tokens_ - token <= at_most) total += bytes_each;
    }
    return total;
  }

  /// Adds up one row for each first token of a group.
  uint64_t grouped(uint64_t bytes_each, uint64_t group) const {
    uint64_t total = 0;
    for (uint64_t token = 0; token < tokens_; ++token) {
      if (token % group == 0) total += bytes_each;
    }
    return total;
  }

  uint64_t keys_of(const std::optional<Indexer>& indexer) const {
    if (!indexer || !indexer->stores_keys) return 0;
    return grouped(row(indexer->head_dim), indexer->tokens_per_key);
  }

  uint64_t of(const Attention& attention) const {
    uint64_t total = keys_of(attention.indexer);
    if (attention.cache_shared_with) return total;
    uint64_t all_heads = 0;
    for (uint64_t head = 0; head < attention.num_kv_heads; ++head) {
      all_heads += row(attention.head_dim) + row(attention.v_head_dim);
    }
    if (attention.is_cross) return total + all_heads * spec_.cross_tokens;
    const uint64_t limit = attention.window_tokens + attention.chunk_tokens;
    return total + kept(all_heads, limit == 0 ? tokens_ : limit);
  }

  uint64_t of(const LatentAttention& attention) const {
    return kept(row(attention.kv_lora_rank + attention.qk_rope_head_dim), tokens_) +
           keys_of(attention.indexer);
  }

  static uint64_t unfinished_entry(uint64_t width, uint64_t ratio) {
    const uint64_t doubled = ratio == 4 ? 2 : 1;
    return 2 * (doubled * ratio) * (doubled * width) * 4;
  }

  uint64_t of(const CompressedAttention& attention) const {
    uint64_t total =
        kept(row(attention.head_dim), attention.window_tokens) + keys_of(attention.indexer);
    if (attention.compress_ratio == 0) return total;
    total += grouped(row(attention.head_dim), attention.compress_ratio);
    total += unfinished_entry(attention.head_dim, attention.compress_ratio);
    const auto& indexer = attention.indexer;
    if (indexer && indexer->stores_keys)
      total += unfinished_entry(indexer->head_dim, attention.compress_ratio);
    return total;
  }

  static uint64_t state(uint64_t conv_elements, uint64_t temporal_elements) {
    return 2 * conv_elements + 4 * temporal_elements;
  }

  static uint64_t of(const Mamba1& m) {
    return state((m.d_conv - 1) * m.d_inner, m.d_inner * m.d_state);
  }
  static uint64_t of(const Mamba2& m) {
    const uint64_t width = m.num_heads * m.head_dim;
    return state((m.d_conv - 1) * (width + 2 * m.num_groups * m.d_state), width * m.d_state);
  }
  static uint64_t of(const GatedDelta& m) {
    const uint64_t qkv = 2 * m.num_k_heads * m.k_head_dim + m.num_v_heads * m.v_head_dim;
    return state((m.d_conv - 1) * qkv, m.num_v_heads * m.k_head_dim * m.v_head_dim);
  }
  static uint64_t of(const LinearAttention& m) {
    return state(0, m.num_heads * m.head_dim * m.head_dim);
  }
  static uint64_t of(const ShortConv& m) { return state((m.d_conv - 1) * m.dim, 0); }
  static uint64_t of(const GatedLru& m) { return state((m.d_conv - 1) * m.width, m.width); }
  static uint64_t of(const Rwkv& m) {
    return state(2 * m.hidden_size,
                 m.version == 4 ? 3 * m.hidden_size : m.num_heads * m.head_dim * m.head_dim);
  }

  const ModelSpec& spec_;
  const CacheType& type_;
  uint64_t tokens_;
};

}  // namespace vramgauge::test

// Random models for property tests: every mixer, from a seed that a failure prints.
#pragma once

#include <cstdint>
#include <vector>

#include "specs/model_spec.h"

namespace vramgauge::test {

/// SplitMix64: the same numbers on every platform and library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  uint64_t between(uint64_t low, uint64_t high) { return low + next() % (high - low + 1); }
  bool once_in(uint64_t n) { return next() % n == 0; }
  template <typename T>
  const T& choice(const std::vector<T>& items) {
    return items[static_cast<typename std::vector<T>::size_type>(next() % items.size())];
  }

 private:
  uint64_t state_;
};

/// A vector length that every block type divides.
inline uint64_t random_width(Random& random) { return 64 * random.between(1, 8); }

inline Indexer random_indexer(Random& random, uint64_t tokens_per_key) {
  Indexer indexer;
  indexer.num_heads = random.between(1, 64);
  indexer.head_dim = random_width(random);
  indexer.tokens_per_key = tokens_per_key;
  indexer.stores_keys = !random.once_in(4);
  return indexer;
}

inline Attention random_attention(Random& random) {
  Attention attention;
  attention.num_kv_heads = random.between(1, 40);
  attention.num_heads = attention.num_kv_heads * random.between(1, 8);
  attention.head_dim = random_width(random);
  attention.v_head_dim = random.once_in(4) ? random_width(random) : attention.head_dim;
  if (random.once_in(3)) {
    attention.window_tokens = random.between(1, 700);
  } else if (random.once_in(4)) {
    attention.chunk_tokens = random.between(1, 700);
  } else if (random.once_in(6)) {
    attention.is_cross = true;
  } else if (random.once_in(6)) {
    attention.indexer = random_indexer(random, 1);
  } else if (random.once_in(6)) {
    attention.cache_shared_with = 0;
  }
  return attention;
}

inline LatentAttention random_latent(Random& random) {
  LatentAttention attention;
  attention.num_heads = random.between(1, 128);
  attention.kv_lora_rank = random_width(random);
  attention.qk_rope_head_dim = 64;
  if (random.once_in(2)) attention.indexer = random_indexer(random, 1);
  return attention;
}

inline CompressedAttention random_compressed(Random& random) {
  CompressedAttention attention;
  attention.head_dim = random_width(random);
  attention.window_tokens = random.between(1, 300);
  attention.compress_ratio = random.choice(std::vector<uint64_t>{0, 4, 7, 128});
  if (attention.compress_ratio == 4) attention.indexer = random_indexer(random, 4);
  return attention;
}

inline Mixer random_recurrent(Random& random) {
  switch (random.between(0, 6)) {
    case 0: {
      Mamba1 mixer;
      mixer.d_inner = random.between(1, 9'000);
      mixer.d_state = random.between(1, 64);
      mixer.d_conv = random.between(1, 5);
      return mixer;
    }
    case 1: {
      Mamba2 mixer;
      mixer.num_heads = random.between(1, 128);
      mixer.head_dim = random.between(1, 128);
      mixer.num_groups = random.between(1, 9);
      mixer.d_state = random.between(1, 256);
      mixer.d_conv = random.between(1, 5);
      return mixer;
    }
    case 2: {
      GatedDelta mixer;
      mixer.num_k_heads = random.between(1, 32);
      mixer.num_v_heads = random.between(1, 64);
      mixer.k_head_dim = random.between(1, 128);
      mixer.v_head_dim = random.between(1, 128);
      mixer.d_conv = random.between(1, 5);
      return mixer;
    }
    case 3: return LinearAttention{random.between(1, 64), random.between(1, 128)};
    case 4: {
      ShortConv mixer;
      mixer.dim = random.between(1, 4'096);
      mixer.d_conv = random.between(1, 5);
      return mixer;
    }
    case 5: {
      GatedLru mixer;
      mixer.width = random.between(1, 4'096);
      mixer.d_conv = random.between(1, 5);
      return mixer;
    }
    default: {
      Rwkv mixer;
      mixer.version = random.between(4, 7);
      mixer.hidden_size = random.between(1, 4'096);
      mixer.num_heads = random.between(1, 64);
      mixer.head_dim = random.between(1, 128);
      return mixer;
    }
  }
}

inline Mixer random_mixer(Random& random) {
  switch (random.between(0, 5)) {
    case 0: return random_latent(random);
    case 1: return random_compressed(random);
    case 2: return random_recurrent(random);
    default: return random_attention(random);
  }
}

inline Layer random_layer(Random& random) {
  Layer layer;
  if (random.once_in(12)) return layer;
  layer.mixers.push_back(random_mixer(random));
  if (random.once_in(10)) layer.mixers.push_back(random_recurrent(random));
  return layer;
}

/// A few distinct layers, each repeated, so that merging has something to do.
inline ModelSpec random_model(Random& random) {
  ModelSpec spec;
  spec.cross_tokens = random.between(0, 2'000);
  for (uint64_t kinds = random.between(1, 4); kinds > 0; --kinds) {
    const Layer layer = random_layer(random);
    for (uint64_t layers = random.between(1, 5); layers > 0; --layers)
      spec.layers.push_back(layer);
  }
  return spec;
}

}  // namespace vramgauge::test

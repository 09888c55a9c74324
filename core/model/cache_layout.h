// What a model caches, as a sum of segments: intercept + slope x tokens, up to a saturation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "specs/breakdown.h"
#include "specs/cache_type.h"
#include "specs/model_spec.h"
#include "units/error.h"

namespace vramgauge {

/// What one segment of the cache holds.
enum class CacheKind {
  full,        ///< keys and values of every token
  sliding,     ///< keys and values of the last window_tokens tokens
  chunked,     ///< keys and values of the current chunk
  latent,      ///< one compressed latent and rotary key per token
  indexer,     ///< keys of the small attention that chooses tokens
  compressed,  ///< latents that each stand for several tokens
  state,       ///< recurrent state: the same size at any length
  cross,       ///< keys and values of an encoder's tokens: the same size at any length
};

std::string_view cache_kind_name(CacheKind kind);

/// Layers that cache the same. Bytes are those of one rank and one layer; the segment counts
/// `layers` times. One request of n tokens needs, per layer, fixed_bytes + entry_bytes x
/// ceil(min(n, saturation_tokens) / tokens_per_entry).
struct CacheSegment {
  CacheKind kind = CacheKind::full;
  /// The mixer it belongs to: "attention", "latent_attention", "mamba2" and so on.
  std::string_view mixer;
  uint64_t layers = 1;
  /// Intercept: bytes per request whatever its length.
  uint64_t fixed_bytes = 0;
  /// Slope: bytes of one entry; 0 = does not grow.
  uint64_t entry_bytes = 0;
  uint64_t tokens_per_entry = 1;
  /// Tokens after which it no longer grows; 0 = never.
  uint64_t saturation_tokens = 0;
  /// Every rank of a tensor-parallel group holds the whole segment.
  bool is_replicated = false;
  Basis basis = Basis::exact;

  /// The numbers the bytes were made of, for showing the arithmetic.
  /// Heads on one rank, elements of one key and one value, and their bytes with scales. A slot
  /// shared by key and value is counted under k_bytes.
  uint64_t num_kv_heads = 0;
  uint64_t k_elements = 0;
  uint64_t v_elements = 0;
  uint64_t k_bytes = 0;
  uint64_t v_bytes = 0;
  /// Tokens of the encoder (cross).
  uint64_t source_tokens = 0;
  /// Elements of a recurrent state on one rank, in two precisions.
  uint64_t conv_elements = 0;
  uint64_t conv_element_bytes = 0;
  uint64_t state_elements = 0;
  uint64_t state_element_bytes = 0;

  friend bool operator==(const CacheSegment&, const CacheSegment&) = default;
};

/// The cache of one rank.
struct CacheLayout {
  /// Equal layers merged, in the order in which the first of each occurs.
  std::vector<CacheSegment> segments;
  /// Warnings: heads replicated past their number, latents replicated on every rank.
  Diagnostics notes;
};

/// Precision of recurrent states. Hugging Face and vLLM keep the convolution's tail in the model's
/// 16 bits and, where a configuration asks for it (mamba_ssm_cache_dtype, mamba_ssm_dtype), the
/// temporal state in fp32; llama.cpp keeps both in fp32. The default takes the larger temporal
/// state.
struct StatePrecision {
  uint64_t conv_element_bytes = 2;
  uint64_t temporal_element_bytes = 4;
};

/// The cache of the decoder's own layers (draft layers of multi-token prediction are apart) on one
/// of `tensor_parallel` ranks; 1 = the whole model.
///
/// KV heads are divided and rounded up, so the fullest rank is described and a head that has to be
/// shared is held whole; latents, index keys and compressed latents are held by every rank.
/// Fails when a cache type is refused, does not divide a row, or is the layout of another kind of
/// model.
Result<CacheLayout> cache_layout(const ModelSpec& spec, const CacheType& k_type,
                                 const CacheType& v_type, uint64_t tensor_parallel,
                                 const StatePrecision& precision = {});

/// The same of one mixer of one layer of `spec`, for engines that place layers one by one. The
/// types are not checked; edge layers of packed types are the caller's business.
Result<std::vector<CacheSegment>> mixer_segments(const ModelSpec& spec, const Mixer& mixer,
                                                 const CacheType& k_type, const CacheType& v_type,
                                                 uint64_t tensor_parallel,
                                                 const StatePrecision& precision = {});

}  // namespace vramgauge

// How one cached vector is stored: bytes from whole blocks, never from bits per element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/error.h"
#include "units/json.h"

namespace vramgauge {

/// How a vector of one head is packed when keys and values share a slot.
struct PackedVector {
  uint64_t bits = 0;
  /// Scale, zero or norm stored behind the packed elements.
  uint64_t extra_bytes = 0;
};

/// A storage type of the key-value cache, as presets/cache_types.json describes it.
struct CacheType {
  enum class Layout {
    blocks,         ///< each vector is a row of whole blocks
    packed_latent,  ///< one fixed record per token and layer, for a sparse latent cache only
    packed_slot,    ///< keys and values of a head share one aligned slot
  };

  std::string id;
  std::string name;
  std::vector<std::string> aliases;
  std::string source;
  std::string notes;
  Layout layout = Layout::blocks;
  uint64_t block_elements = 1;
  uint64_t block_bytes = 0;
  /// Scales stored once per token and head, beside the blocks.
  uint64_t extra_bytes_per_token_head = 0;
  /// Layout packed_latent: the elements one record stands for, and its bytes.
  uint64_t latent_elements = 0;
  uint64_t latent_bytes = 0;
  /// Layout packed_slot.
  PackedVector key;
  PackedVector value;
  uint64_t slot_align_bytes = 1;
  /// Layout packed_slot: that many first and last layers stay at the model's 16 bits, unless the
  /// model also has recurrent layers.
  uint64_t edge_layers_unquantised = 0;
  /// Why the layout is not known exactly; empty when it is.
  std::string refused;
};

/// Reads one entry of cache_types.json; a missing, unknown or contradictory key is an error whose
/// path is relative to the entry.
Result<CacheType> parse_cache_type(const json::Value& entry);

/// Bytes of one cached vector of `elements` (one head of one token), with its scales.
/// Fails with cache_type.row_not_divisible at `path` when the row is not made of whole blocks:
/// blocks run along head_dim and never span heads. The type must have layout `blocks`.
Result<uint64_t> row_bytes(const CacheType& type, uint64_t elements, std::string_view path);

/// Bytes of one head's slot for `packed_slot`: key and value, each rounded up to whole bytes,
/// aligned.
Result<uint64_t> slot_bytes(const CacheType& type, uint64_t k_elements, uint64_t v_elements);

/// The 16-bit cache, whatever engines call it.
CacheType sixteen_bit_cache();

}  // namespace vramgauge

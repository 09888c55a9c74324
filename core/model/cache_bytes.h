// Bytes of a cache layout at a given length, for one request or for many.
#pragma once

#include <cstdint>

#include "model/cache_layout.h"
#include "units/checked.h"

namespace vramgauge {

/// Caches are handed out in blocks of that many tokens; 1 = not paged.
struct Paging {
  uint64_t block_tokens = 1;
};

/// Bytes of one request of `tokens` tokens in one segment, all its layers. What grows is rounded up
/// to whole blocks of tokens: a full-length segment wastes at most block_tokens - 1 tokens. Windows
/// and chunks count min(tokens, window), rounded up in the same way. Poisoned on overflow and for a
/// block of no tokens.
CheckedU64 segment_bytes(const CacheSegment& segment, uint64_t tokens, const Paging& paging);

/// Bytes of one request of `tokens` tokens.
CheckedU64 cache_bytes(const CacheLayout& layout, uint64_t tokens, const Paging& paging);

/// Bytes of `requests` requests of `tokens` tokens each, whose first `shared_prefix_tokens` tokens
/// are equal. Only whole blocks inside the prefix are shared, and each is stored once:
/// * full-length, latent, index and compressed segments share the entries that lie wholly in the
/// prefix;
/// * a window shares what is still inside it once the request has reached `tokens`, so a prefix
/// that
///   has slid out saves nothing;
/// * a chunk shares only while the whole request fits in the first chunk;
/// * recurrent states and encoder caches are never shared.
/// A prefix longer than `tokens` counts as `tokens`.
CheckedU64 cache_bytes_for_requests(const CacheLayout& layout, uint64_t tokens, uint64_t requests,
                                    uint64_t shared_prefix_tokens, const Paging& paging);

/// What one more token costs while no window is full: the figure that engines quote. Segments whose
/// entries stand for several tokens are rounded up to whole bytes.
CheckedU64 bytes_per_token(const CacheLayout& layout);

/// What one more token costs once every window and chunk is full.
CheckedU64 long_context_bytes_per_token(const CacheLayout& layout);

/// What a request costs at any length: recurrent states and encoder caches.
CheckedU64 fixed_bytes_per_request(const CacheLayout& layout);

}  // namespace vramgauge

#include "model/cache_bytes.h"

#include <algorithm>

namespace vramgauge {
namespace {

/// Tokens a segment still holds of a request of `tokens` tokens.
uint64_t held_tokens(const CacheSegment& segment, uint64_t tokens) {
  return segment.saturation_tokens == 0 ? tokens : std::min(tokens, segment.saturation_tokens);
}

CheckedU64 held_entries(const CacheSegment& segment, uint64_t tokens, const Paging& paging) {
  const CheckedU64 blocks = round_up(held_tokens(segment, tokens), paging.block_tokens);
  return ceil_div(blocks, segment.tokens_per_entry);
}

CheckedU64 whole_blocks(uint64_t tokens, const Paging& paging) {
  return CheckedU64(tokens) / paging.block_tokens * paging.block_tokens;
}

/// Prefix blocks that a full window still holds: from the first block that lies wholly in the
/// window.
CheckedU64 prefix_in_window(const CacheSegment& segment, uint64_t tokens, uint64_t prefix,
                            const Paging& paging) {
  const CheckedU64 end = whole_blocks(prefix, paging);
  const CheckedU64 begin =
      round_up(CheckedU64(tokens) - held_tokens(segment, tokens), paging.block_tokens);
  return max(end, begin) - begin;
}

/// Entries of a request that any other request of the same prefix holds too.
CheckedU64 shared_entries(const CacheSegment& segment, uint64_t tokens, uint64_t prefix,
                          const Paging& paging) {
  switch (segment.kind) {
    case CacheKind::sliding:
      return prefix_in_window(segment, tokens, prefix, paging) / segment.tokens_per_entry;
    case CacheKind::chunked:
      if (tokens > segment.saturation_tokens) return CheckedU64();
      return whole_blocks(prefix, paging) / segment.tokens_per_entry;
    default: return whole_blocks(prefix, paging) / segment.tokens_per_entry;
  }
}

CheckedU64 per_token(const CacheSegment& segment) {
  return ceil_div(CheckedU64(segment.layers) * segment.entry_bytes, segment.tokens_per_entry);
}

template <typename Function>
CheckedU64 sum(const CacheLayout& layout, const Function& bytes_of_segment) {
  CheckedU64 total;
  for (const CacheSegment& segment : layout.segments)
    total += bytes_of_segment(segment);
  return total;
}

}  // namespace

CheckedU64 segment_bytes(const CacheSegment& segment, uint64_t tokens, const Paging& paging) {
  const CheckedU64 growing =
      CheckedU64(segment.entry_bytes) * held_entries(segment, tokens, paging);
  return CheckedU64(segment.layers) * (growing + segment.fixed_bytes);
}

CheckedU64 cache_bytes(const CacheLayout& layout, uint64_t tokens, const Paging& paging) {
  return sum(layout,
             [&](const CacheSegment& segment) { return segment_bytes(segment, tokens, paging); });
}

CheckedU64 cache_bytes_for_requests(const CacheLayout& layout, uint64_t tokens, uint64_t requests,
                                    uint64_t shared_prefix_tokens, const Paging& paging) {
  if (requests == 0) return CheckedU64();
  const uint64_t prefix = std::min(shared_prefix_tokens, tokens);
  return sum(layout, [&](const CacheSegment& segment) {
    const CheckedU64 shared = CheckedU64(segment.layers) * segment.entry_bytes *
                              shared_entries(segment, tokens, prefix, paging);
    return shared + CheckedU64(requests) * (segment_bytes(segment, tokens, paging) - shared);
  });
}

CheckedU64 bytes_per_token(const CacheLayout& layout) { return sum(layout, per_token); }

CheckedU64 long_context_bytes_per_token(const CacheLayout& layout) {
  return sum(layout, [](const CacheSegment& segment) {
    return segment.saturation_tokens == 0 ? per_token(segment) : CheckedU64();
  });
}

CheckedU64 fixed_bytes_per_request(const CacheLayout& layout) {
  return sum(layout, [](const CacheSegment& segment) {
    return CheckedU64(segment.layers) * segment.fixed_bytes;
  });
}

}  // namespace vramgauge

// How PyTorch's CUDA caching allocator counts a request. What an engine logs as "allocated" is the
// sum of the blocks it was handed, and a block can be larger than what was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "units/checked.h"

namespace vramgauge {

/// One process's allocator on one device (c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.4 to 2.10,
/// default settings, one stream):
///  - requests are multiples of 512 B;
///  - up to 1 MiB come out of segments of 2 MiB, below 10 MiB out of segments of 20 MiB, larger
///    ones get a segment of their own, rounded up to 2 MiB;
///  - the best fitting free block is taken and its rest split off, unless the rest of a large
///    block is 1 MiB or less: then the whole block counts.
class TorchAllocator {
 public:
  using Handle = std::size_t;

  /// Takes a block for `bytes`; 0 bytes take none, but still have a handle.
  Handle allocate(CheckedU64 bytes);
  /// Gives a block back, where it joins its free neighbours.
  void release(Handle handle);

  /// Bytes of all blocks in use ("memory allocated"); poisoned when a request could not be counted.
  CheckedU64 allocated_bytes() const { return allocated_; }
  /// Bytes of all segments ("memory reserved").
  CheckedU64 reserved_bytes() const { return reserved_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Block {
    uint64_t bytes = 0;
    /// Order of addresses: segments in the order they were made, then the place in the segment.
    uint64_t segment = 0;
    uint64_t offset = 0;
    std::size_t previous = kNone;
    std::size_t next = kNone;
    bool is_small = false;
    bool is_free = false;
  };
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, std::size_t>;

  std::set<Key>& pool(bool is_small) { return is_small ? small_ : large_; }
  Key key_of(std::size_t index) const;
  std::size_t take_free(uint64_t bytes, bool is_small);
  std::size_t make_segment(uint64_t bytes, bool is_small);
  void split(std::size_t index, uint64_t bytes);
  void absorb(std::size_t index, std::size_t neighbour);

  std::vector<Block> blocks_;
  std::set<Key> small_;
  std::set<Key> large_;
  uint64_t num_segments_ = 0;
  CheckedU64 allocated_;
  CheckedU64 reserved_;
};

}  // namespace vramgauge

#include "engine/torch_allocator.h"

#include "units/bytes.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMinBlockBytes = 512;
constexpr uint64_t kSmallBytes = uint64_t{1} << 20;
constexpr uint64_t kSmallSegmentBytes = uint64_t{2} << 20;
constexpr uint64_t kMinOwnSegmentBytes = uint64_t{10} << 20;
constexpr uint64_t kSharedSegmentBytes = uint64_t{20} << 20;
constexpr uint64_t kOwnSegmentStepBytes = uint64_t{2} << 20;

constexpr uint64_t round_to(uint64_t bytes, uint64_t step) {
  return (bytes + step - 1) / step * step;
}

uint64_t segment_bytes(uint64_t bytes, bool is_small) {
  if (is_small) return kSmallSegmentBytes;
  if (bytes < kMinOwnSegmentBytes) return kSharedSegmentBytes;
  return round_to(bytes, kOwnSegmentStepBytes);
}

/// Whether a rest is split off instead of staying with the block.
bool is_split_off(uint64_t rest_bytes, bool is_small) {
  return is_small ? rest_bytes >= kMinBlockBytes : rest_bytes > kSmallBytes;
}

}  // namespace

TorchAllocator::Key TorchAllocator::key_of(std::size_t index) const {
  const Block& block = blocks_[index];
  return {block.bytes, block.segment, block.offset, index};
}

std::size_t TorchAllocator::take_free(uint64_t bytes, bool is_small) {
  std::set<Key>& free = pool(is_small);
  const auto found = free.lower_bound(Key{bytes, 0, 0, 0});
  if (found == free.end()) return kNone;
  const std::size_t index = std::get<3>(*found);
  free.erase(found);
  blocks_[index].is_free = false;
  return index;
}

std::size_t TorchAllocator::make_segment(uint64_t bytes, bool is_small) {
  Block block;
  block.bytes = segment_bytes(bytes, is_small);
  block.segment = num_segments_++;
  block.is_small = is_small;
  reserved_ += block.bytes;
  blocks_.push_back(block);
  return blocks_.size() - 1;
}

void TorchAllocator::split(std::size_t index, uint64_t bytes) {
  Block rest = blocks_[index];
  rest.bytes -= bytes;
  rest.offset += bytes;
  rest.previous = index;
  rest.is_free = true;
  const std::size_t rest_index = blocks_.size();
  if (rest.next != kNone) blocks_[rest.next].previous = rest_index;
  blocks_[index].next = rest_index;
  blocks_[index].bytes = bytes;
  blocks_.push_back(rest);
  pool(rest.is_small).insert(key_of(rest_index));
}

TorchAllocator::Handle TorchAllocator::allocate(CheckedU64 bytes) {
  if (!bytes.valid() || bytes.value_or(0) > kMaxApiBytes) {
    allocated_ = CheckedU64::poisoned();
    return kNone;
  }
  if (bytes == CheckedU64(uint64_t{0})) return kNone;
  const uint64_t rounded = round_to(bytes.value_or(0), kMinBlockBytes);
  const bool is_small = rounded <= kSmallBytes;
  std::size_t index = take_free(rounded, is_small);
  if (index == kNone) index = make_segment(rounded, is_small);
  if (is_split_off(blocks_[index].bytes - rounded, is_small)) split(index, rounded);
  allocated_ += blocks_[index].bytes;
  return index;
}

void TorchAllocator::absorb(std::size_t index, std::size_t neighbour) {
  if (neighbour == kNone || !blocks_[neighbour].is_free) return;
  Block& block = blocks_[index];
  const Block& other = blocks_[neighbour];
  pool(other.is_small).erase(key_of(neighbour));
  if (block.previous == neighbour) {
    block.previous = other.previous;
    block.offset = other.offset;
    if (block.previous != kNone) blocks_[block.previous].next = index;
  } else {
    block.next = other.next;
    if (block.next != kNone) blocks_[block.next].previous = index;
  }
  block.bytes += other.bytes;
}

void TorchAllocator::release(Handle handle) {
  if (handle == kNone) return;
  allocated_ = allocated_ - blocks_[handle].bytes;
  absorb(handle, blocks_[handle].previous);
  absorb(handle, blocks_[handle].next);
  blocks_[handle].is_free = true;
  pool(blocks_[handle].is_small).insert(key_of(handle));
}

}  // namespace vramgauge

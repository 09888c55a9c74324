// How much memory a graph of tensors needs when each buffer is handed out by the best-fit allocator
// of ggml: rules of ggml/src/ggml-alloc.c at llama.cpp 34af94cd (2026-08-17). Nothing is allocated;
// only the highest address matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramgauge {

/// The free list of one buffer without an end. It keeps what ggml's keeps, holes without a byte
/// included: they come from tensors without elements, and keep their neighbours from being joined.
class GraphBuffer {
 public:
  explicit GraphBuffer(uint64_t alignment) : alignment_(alignment) {
    holes_.push_back({0, kEndless});
  }

  /// Hands out the smallest hole that fits, else the space behind everything. Returns the offset.
  uint64_t allocate(uint64_t bytes);
  /// Returns what allocate() gave, or the end of it.
  void release(uint64_t offset, uint64_t bytes);
  /// Highest end of anything handed out.
  uint64_t peak_bytes() const { return peak_; }
  /// Mixes the free list into a fingerprint.
  uint64_t mixed_into(uint64_t print) const;
  uint64_t padded(uint64_t bytes) const { return (bytes + alignment_ - 1) & ~(alignment_ - 1); }

 private:
  static constexpr uint64_t kEndless = uint64_t{1} << 63;
  struct Hole {
    uint64_t offset;
    uint64_t bytes;
    uint64_t end() const { return offset + bytes; }
  };
  void join(size_t hole);

  /// In order of their offsets; the last one has no end.
  std::vector<Hole> holes_;
  uint64_t alignment_;
  uint64_t peak_ = 0;
};

/// One tensor that a graph computes, reads or writes into a cache.
struct GraphNode {
  static constexpr uint32_t kMaxSources = 8;
  /// A source is the index of a node x 2, + 1 when it is read through a view: the result of an
  /// operation cannot take a view's place.
  uint32_t sources[kMaxSources];
  /// 0 = nothing of its own (written into a cache).
  uint64_t bytes = 0;
  /// Bytes more when it lies on a GPU.
  uint64_t gpu_extra_bytes = 0;
  /// Bytes that its weight takes in a buffer of another device, when it has to be copied there.
  uint64_t weight_bytes = 0;
  uint8_t num_sources = 0;
  /// Device of its weight, or of the cache it writes; kAnywhere when neighbours decide.
  uint8_t home = kAnywhere;
  uint16_t flags = 0;

  static constexpr uint8_t kAnywhere = 255;
  /// May take the place of a source of equal size that nothing else needs.
  static constexpr uint16_t kInPlace = 1;
  /// Known before the computation: placed in front of everything, in host memory.
  static constexpr uint16_t kInput = 2;
  /// Its home is fixed: its result is stored there.
  static constexpr uint16_t kStored = 4;
  /// GPUs have no code for it.
  static constexpr uint16_t kHostOnly = 8;
  /// Large enough a batch to be worth copying its weight to a GPU.
  static constexpr uint16_t kOffloads = 16;
  /// Lies outside the buffers (a cache) on the device `home`.
  static constexpr uint16_t kExternal = 32;
  /// Never freed.
  static constexpr uint16_t kKept = 64;
  /// Beside kExternal: a weight that several nodes read.
  static constexpr uint16_t kSharedWeight = 128;
  /// A part of its only source: takes no memory, but is what another device copies.
  static constexpr uint16_t kPart = 256;
  /// Beside kInput: a constant, which lies on the device of the next node.
  static constexpr uint16_t kConstant = 1024;
  /// Has a place although it has no elements.
  static constexpr uint16_t kEmpty = 512;
};

/// Where a graph runs.
struct GraphDevices {
  /// GPUs are devices 0 .. num_gpus - 1, the host is device num_gpus.
  uint32_t num_gpus = 0;
  bool offloads_operations = true;
  /// Copies of every input, for batches that overlap (1 or 4).
  uint32_t num_copies = 1;
  uint64_t gpu_alignment = 128;
  uint64_t host_alignment = 32;
};

/// Bytes of the buffer of each device, the host's last, for nodes in the order of their execution.
std::vector<uint64_t> graph_buffer_bytes(std::vector<GraphNode> nodes, const GraphDevices& devices);

/// Steps of a graph that repeat, of which some were left out.
struct GraphRepeat {
  /// Where its steps begin: indices into GraphCut::borders.
  uint32_t first_border = 0;
  uint32_t end_border = 0;
  /// So many steps in a row are unlike, and then they repeat.
  uint32_t period = 1;
  /// A multiple of the period.
  uint32_t left_out = 0;
};

/// What was left out of a graph.
struct GraphCut {
  /// Nodes that begin a step, in order.
  std::vector<uint32_t> borders;
  std::vector<GraphRepeat> repeats;
};

/// The same for a graph with steps left out; empty when they might matter. They do not where the
/// allocators are twice in the same state, and the steps left out are so many times those between:
/// as what follows depends on nothing else, the whole graph goes round there and needs no more.
std::vector<uint64_t> graph_buffer_bytes(std::vector<GraphNode> nodes, const GraphDevices& devices,
                                         const GraphCut& cut);

}  // namespace vramgauge

#include "engine/graph_allocator.h"

#include <algorithm>

namespace vramgauge {

uint64_t GraphBuffer::allocate(uint64_t bytes) {
  bytes = padded(bytes);
  size_t best = holes_.size() - 1;
  for (size_t i = 0; i + 1 < holes_.size(); ++i) {
    // Of equally small holes the last one is taken.
    const bool is_better = best + 1 == holes_.size() || holes_[i].bytes <= holes_[best].bytes;
    if (holes_[i].bytes >= bytes && is_better) best = i;
  }
  Hole& hole = holes_[best];
  const uint64_t offset = hole.offset;
  hole.offset += bytes;
  hole.bytes -= bytes;
  if (hole.bytes == 0) holes_.erase(holes_.begin() + static_cast<std::ptrdiff_t>(best));
  peak_ = std::max(peak_, offset + bytes);
  return offset;
}

/// Joins a hole with the one behind it when they touch.
void GraphBuffer::join(size_t hole) {
  if (hole + 1 >= holes_.size() || holes_[hole].end() != holes_[hole + 1].offset) return;
  holes_[hole].bytes += holes_[hole + 1].bytes;
  holes_.erase(holes_.begin() + static_cast<std::ptrdiff_t>(hole) + 1);
}

void GraphBuffer::release(uint64_t offset, uint64_t bytes) {
  bytes = padded(bytes);
  size_t behind = holes_.size();
  for (size_t i = 0; i < holes_.size(); ++i) {
    if (holes_[i].end() == offset) {
      holes_[i].bytes += bytes;
      return join(i);
    }
    if (offset + bytes == holes_[i].offset) {
      holes_[i].offset = offset;
      holes_[i].bytes += bytes;
      if (i > 0) join(i - 1);
      return;
    }
    if (behind == holes_.size() && holes_[i].offset >= offset) behind = i;
  }
  holes_.insert(holes_.begin() + static_cast<std::ptrdiff_t>(behind), {offset, bytes});
}

namespace {

/// GGML_SCHED_MAX_SPLIT_INPUTS: tensors that are copied for one part of a graph.
constexpr size_t kMaxPartCopies = 30;

/// Something that happens in order: a node is computed, or a copy of a tensor is made on a device.
struct Step {
  uint32_t node;
  /// The node is a tensor whose copy starts to live here: what it copies is needed until now.
  bool is_copy;
};

/// A node's place while the graph is replayed.
struct Place {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t uses = 0;
  uint8_t device = 0;
  bool is_allocated = false;
};

class Scheduler {
 public:
  Scheduler(std::vector<GraphNode> nodes, const GraphDevices& devices)
      : nodes_(std::move(nodes)),
        devices_(devices),
        host_(static_cast<uint8_t>(devices.num_gpus)) {}

  void run() {
    const auto count = static_cast<uint32_t>(nodes_.size());
    device_.assign(count, GraphNode::kAnywhere);
    for (uint32_t i = 0; i < count; ++i)
      device_[i] = home_of(nodes_[i]);
    for (const bool gpu_only : {true, false}) {
      spread(gpu_only, false);
      spread(gpu_only, true);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if ((nodes_[i].flags & GraphNode::kPart) != 0)
        device_[i] = device_[nodes_[i].sources[0] / 2];
      else if (device_[i] == GraphNode::kAnywhere)
        device_[i] = best_of(nodes_[i]);
    }
    for (uint32_t i = 0; i + 1 < count; ++i) {
      if ((nodes_[i].flags & GraphNode::kConstant) != 0) device_[i] = device_[i + 1];
    }
    split(count);
  }

  std::vector<GraphNode> nodes_;
  std::vector<uint8_t> device_;
  std::vector<Step> steps_;
  /// Inputs and copies that overlapping batches keep, in the order they are placed.
  std::vector<uint32_t> kept_;

 private:
  static bool is_source_only(const GraphNode& node) {
    return (node.flags & (GraphNode::kInput | GraphNode::kExternal | GraphNode::kPart)) != 0;
  }

  uint8_t home_of(const GraphNode& node) const {
    if ((node.flags & GraphNode::kInput) != 0) return host_;
    if ((node.flags & (GraphNode::kStored | GraphNode::kExternal)) != 0) return node.home;
    const bool moves = node.home == host_ && host_ > 0 && devices_.offloads_operations &&
                       (node.flags & GraphNode::kOffloads) != 0 &&
                       (node.flags & GraphNode::kHostOnly) == 0;
    return moves ? uint8_t{0} : node.home;
  }

  bool runs_on(const GraphNode& node, uint8_t device) const {
    return device == host_ || (node.flags & GraphNode::kHostOnly) == 0;
  }

  /// Nodes without a device take the one of the node in front (or behind, backwards).
  void spread(bool gpu_only, bool backwards) {
    uint8_t current = GraphNode::kAnywhere;
    const size_t count = nodes_.size();
    for (size_t step = 0; step < count; ++step) {
      const size_t i = backwards ? count - 1 - step : step;
      if (is_source_only(nodes_[i])) continue;
      if (device_[i] != GraphNode::kAnywhere) {
        current = gpu_only && device_[i] == host_ ? GraphNode::kAnywhere : device_[i];
      } else if (current != GraphNode::kAnywhere && runs_on(nodes_[i], current)) {
        device_[i] = current;
      }
    }
  }

  /// The device that has most of the sources.
  uint8_t best_of(const GraphNode& node) const {
    uint8_t best = host_;
    int most = -1;
    for (uint8_t device = 0; device <= host_; ++device) {
      if (!runs_on(node, device)) continue;
      int here = 0;
      for (uint32_t s = 0; s < node.num_sources; ++s)
        here += device_[node.sources[s] / 2] == device ? 1 : 0;
      if (here > most) {
        most = here;
        best = device;
      }
    }
    return best;
  }

  /// A part of the graph holds the copy of one weight at a time, so that the next one can have its
  /// place.
  bool starts_part(uint32_t i) const {
    if (copies_weight(i)) return true;
    const GraphNode& node = nodes_[i];
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s] / 2;
      if ((nodes_[source].flags & GraphNode::kSharedWeight) != 0 && device_[source] != device_[i])
        return true;
    }
    return false;
  }

  /// Reads something that the device does not have yet.
  bool needs_copy(uint32_t i) const {
    const GraphNode& node = nodes_[i];
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s] / 2;
      if (device_[source] == device_[i]) continue;
      if (copies_[static_cast<size_t>(source) * (host_ + 1U) + device_[i]] == 0) return true;
    }
    return false;
  }

  bool copies_weight(uint32_t i) const {
    const GraphNode& node = nodes_[i];
    return node.weight_bytes != 0 && node.home != GraphNode::kAnywhere &&
           (node.flags & GraphNode::kStored) == 0 && node.home != device_[i];
  }

  /// Cuts the graph where the device changes; what a part reads from elsewhere is copied in front.
  void split(uint32_t count) {
    copies_.assign(static_cast<size_t>(count) * (host_ + 1U), 0);
    std::vector<uint32_t> order;
    std::vector<Step> copies;
    uint8_t current = GraphNode::kAnywhere;
    const auto flush = [&] {
      steps_.insert(steps_.end(), copies.begin(), copies.end());
      for (const uint32_t node : order)
        steps_.push_back({node, false});
      order.clear();
      copies.clear();
    };
    for (uint32_t i = 0; i < count; ++i) {
      if (is_source_only(nodes_[i])) continue;
      if (device_[i] != current || (!copies.empty() && starts_part(i)) ||
          (copies.size() >= kMaxPartCopies && needs_copy(i))) {
        flush();
        current = device_[i];
      }
      uint32_t weight_copy = 0;
      if (copies_weight(i)) {
        weight_copy = add_copy(nodes_[i].weight_bytes, current);
        copies.push_back({weight_copy, true});
      }
      for (uint32_t s = 0; s < nodes_[i].num_sources; ++s) {
        const uint32_t source = nodes_[i].sources[s];
        if (devices_.num_copies > 1 && (source & 1U) == 0) keep_input(source / 2);
        if (device_[source / 2] == current) {
          // What is a part here is a view of the whole.
          if ((nodes_[source / 2].flags & GraphNode::kPart) != 0)
            nodes_[i].sources[s] = nodes_[source / 2].sources[0] | 1U;
          continue;
        }
        const uint32_t copy = copy_of(source, current, copies);
        nodes_[i].sources[s] = copy;
      }
      GraphNode& node = nodes_[i];
      if (weight_copy != 0 && node.num_sources < GraphNode::kMaxSources)
        node.sources[node.num_sources++] = weight_copy * 2;
      order.push_back(i);
    }
    flush();
  }

  /// A tensor and its copy share a view's layout, so that the copy is read directly.
  uint32_t copy_of(uint32_t source, uint8_t device, std::vector<Step>& copies) {
    const size_t slot = static_cast<size_t>(source / 2) * (host_ + 1U) + device;
    if (copies_[slot] == 0) {
      const GraphNode original = nodes_[source / 2];
      const uint32_t copy = add_copy(original.bytes, device);
      GraphNode& node = nodes_[copy];
      const uint32_t whole =
          (original.flags & GraphNode::kPart) != 0 ? original.sources[0] : source;
      if ((nodes_[whole / 2].flags & GraphNode::kExternal) == 0) {
        node.sources[0] = whole & ~1U;
        node.num_sources = 1;
      }
      copies_[slot] = copy;
      copies.push_back({copy, true});
      if (devices_.num_copies > 1) kept_copies_.push_back(copy);
    }
    return copies_[slot] * 2;
  }

  uint32_t add_copy(uint64_t bytes, uint8_t device) {
    GraphNode copy;
    copy.bytes = bytes;
    copy.home = device;
    if (devices_.num_copies > 1) copy.flags = GraphNode::kKept;
    if (bytes == 0) copy.flags |= GraphNode::kEmpty;
    nodes_.push_back(copy);
    device_.push_back(device);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  void keep_input(uint32_t input) {
    if ((nodes_[input].flags & (GraphNode::kInput | GraphNode::kConstant | GraphNode::kKept)) !=
        GraphNode::kInput)
      return;
    nodes_[input].flags |= GraphNode::kKept;
    kept_.push_back(input);
  }

 public:
  std::vector<uint32_t> kept_copies_;

 private:
  GraphDevices devices_;
  uint8_t host_;
  /// Per node and device, the node that is its copy there; 0 = none.
  std::vector<uint32_t> copies_;
};

/// Plays the steps against the allocators.
class Replay {
 public:
  Replay(const Scheduler& plan, const GraphDevices& devices) : plan_(plan), devices_(devices) {
    for (uint32_t i = 0; i < devices.num_gpus; ++i)
      buffers_.emplace_back(devices.gpu_alignment);
    buffers_.emplace_back(devices.host_alignment);
    places_.resize(plan.nodes_.size());
  }

  std::vector<uint64_t> run() {
    place_kept(plan_.kept_);
    place_kept(plan_.kept_copies_);
    for (uint32_t i = 0; i < plan_.nodes_.size(); ++i) {
      if ((plan_.nodes_[i].flags & GraphNode::kInput) != 0) place(i);
    }
    for (const Step& step : plan_.steps_)
      count_uses(plan_.nodes_[step.node]);
    for (const Step& step : plan_.steps_)
      play(step);
    std::vector<uint64_t> peaks;
    for (const GraphBuffer& buffer : buffers_)
      peaks.push_back(buffer.peak_bytes());
    return peaks;
  }

 private:
  void place_kept(const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      place(node);
      GraphBuffer& buffer = buffers_[plan_.device_[node]];
      for (uint32_t copy = 1; copy < devices_.num_copies; ++copy)
        buffer.allocate(plan_.nodes_[node].bytes);
    }
  }

  void count_uses(const GraphNode& node) {
    for (uint32_t s = 0; s < node.num_sources; ++s)
      ++places_[node.sources[s] / 2].uses;
  }

  void place(uint32_t i) {
    Place& place = places_[i];
    if (place.is_allocated) return;
    const GraphNode& node = plan_.nodes_[i];
    place.device = plan_.device_[i];
    const bool is_on_gpu = place.device < devices_.num_gpus;
    place.bytes = node.bytes + (is_on_gpu ? node.gpu_extra_bytes : 0);
    if (place.bytes == 0 && (node.flags & GraphNode::kEmpty) == 0) return;
    place.offset = buffers_[place.device].allocate(place.bytes);
    place.is_allocated = true;
  }

  void play(const Step& step) {
    const GraphNode& node = plan_.nodes_[step.node];
    if (step.is_copy) {
      // The source is needed until the copy is made, but no longer by the copy's readers.
      release_sources(node);
      place(step.node);
      return;
    }
    if ((node.flags & GraphNode::kInPlace) == 0 || !take_over(step.node, node)) place(step.node);
    release_sources(node);
  }

  /// Takes the place of the first source that allows it.
  bool take_over(uint32_t i, const GraphNode& node) {
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s];
      Place& parent = places_[source / 2];
      if ((source & 1U) != 0 || !parent.is_allocated || parent.uses != 1) continue;
      if (plan_.nodes_[source / 2].bytes != node.bytes) continue;
      if ((plan_.nodes_[source / 2].flags & GraphNode::kKept) != 0) continue;
      Place& place = places_[i];
      place.device = parent.device;
      place.offset = parent.offset;
      place.bytes = node.bytes;
      place.is_allocated = true;
      parent.is_allocated = false;
      const GraphBuffer& buffer = buffers_[place.device];
      const uint64_t kept = buffer.padded(place.bytes);
      if (buffer.padded(parent.bytes) > kept)
        buffers_[place.device].release(place.offset + kept, buffer.padded(parent.bytes) - kept);
      return true;
    }
    return false;
  }

  void release_sources(const GraphNode& node) {
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s] / 2;
      Place& place = places_[source];
      if (--place.uses != 0 || !place.is_allocated) continue;
      if ((plan_.nodes_[source].flags & GraphNode::kKept) != 0) continue;
      buffers_[place.device].release(place.offset, place.bytes);
      place.is_allocated = false;
    }
  }

  const Scheduler& plan_;
  GraphDevices devices_;
  std::vector<GraphBuffer> buffers_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<uint64_t> graph_buffer_bytes(const std::vector<GraphNode>& nodes,
                                         const GraphDevices& devices) {
  Scheduler plan(nodes, devices);
  plan.run();
  return Replay(plan, devices).run();
}

}  // namespace vramgauge

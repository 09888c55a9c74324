#include "engine/graph_allocator_schedule.h"

#include <algorithm>
#include <utility>

namespace vramgauge {
namespace {

/// GGML_SCHED_MAX_SPLIT_INPUTS: tensors that are copied for one part of a graph.
constexpr size_t kMaxPartCopies = 30;

class Scheduler {
 public:
  Scheduler(std::vector<GraphNode> nodes, const GraphDevices& devices,
            const std::vector<uint32_t>& borders)
      : devices_(devices), host_(static_cast<uint8_t>(devices.num_gpus)) {
    made_.nodes = std::move(nodes);
    made_.borders.reserve(borders.size());
    for (const uint32_t border : borders)
      made_.borders.push_back({border, 0, 0});
  }

  GraphSchedule run() {
    const auto count = static_cast<uint32_t>(made_.nodes.size());
    made_.device.assign(count, 0);
    if (host_ == 0)
      made_.parts.push_back({0, count, 0, 0});
    else
      place_and_split(count);
    return std::move(made_);
  }

 private:
  void place_and_split(uint32_t count) {
    place_at_home(count);
    spread_backwards(true);
    spread_forwards();
    spread_backwards(false);
    split(count);
  }

  const GraphNode& node(uint32_t i) const { return made_.nodes[i]; }
  static bool has(const GraphNode& node, uint16_t flags) { return (node.flags & flags) != 0; }
  static bool is_source_only(const GraphNode& node) {
    return has(node, GraphNode::kInput | GraphNode::kExternal | GraphNode::kPart);
  }

  /// Where a node's weight or result lies, or the GPU that a large batch is handed to.
  uint8_t home_of(const GraphNode& node) const {
    if (has(node, GraphNode::kInput)) return host_;
    if (has(node, GraphNode::kStored | GraphNode::kExternal)) return node.home;
    const bool moves = node.home == host_ && devices_.offloads_operations &&
                       has(node, GraphNode::kOffloads) && !has(node, GraphNode::kHostOnly);
    return moves ? uint8_t{0} : node.home;
  }

  bool runs_on(const GraphNode& node, uint8_t device) const {
    return device == host_ || !has(node, GraphNode::kHostOnly);
  }

  /// A node without a device takes the one of its neighbour, which a node with one becomes. True
  /// when it has none yet.
  bool spread_to(uint32_t i, bool gpu_only, uint8_t& neighbour) {
    uint8_t& device = made_.device[i];
    if (device != GraphNode::kAnywhere)
      neighbour = gpu_only && device == host_ ? GraphNode::kAnywhere : device;
    else if (neighbour != GraphNode::kAnywhere && runs_on(node(i), neighbour))
      device = neighbour;
    return device == GraphNode::kAnywhere;
  }

  /// Nodes whose device is fixed, and those behind one on a GPU.
  void place_at_home(uint32_t count) {
    uint8_t in_front = GraphNode::kAnywhere;
    for (uint32_t i = 0; i < count; ++i) {
      made_.device[i] = home_of(node(i));
      has_far_weights_ |= copies_weight(i) || has(node(i), GraphNode::kSharedWeight);
      if (!is_source_only(node(i)) && spread_to(i, true, in_front)) open_end_ = i + 1;
    }
  }

  void spread_forwards() {
    uint8_t in_front = GraphNode::kAnywhere;
    const uint32_t end = open_end_;
    open_end_ = 0;
    for (uint32_t i = 0; i < end; ++i) {
      if (!is_source_only(node(i)) && spread_to(i, false, in_front)) open_end_ = i + 1;
    }
  }

  void spread_backwards(bool gpu_only) {
    uint8_t behind = GraphNode::kAnywhere;
    // Behind the last node without a device only the next one matters.
    uint32_t next = open_end_;
    while (next < made_.nodes.size() && is_source_only(node(next)))
      ++next;
    if (next < made_.nodes.size()) spread_to(next, gpu_only, behind);
    uint32_t end = 0;
    for (uint32_t i = open_end_; i-- > 0;) {
      if (!is_source_only(node(i)) && spread_to(i, gpu_only, behind)) end = std::max(end, i + 1);
    }
    open_end_ = end;
  }

  void place_rest(uint32_t i) {
    uint8_t& device = made_.device[i];
    if (has(node(i), GraphNode::kPart))
      device = made_.device[node(i).sources[0] / 2];
    else if (has(node(i), GraphNode::kConstant) && i + 1 < made_.device.size())
      device = made_.device[i + 1];
    else if (device == GraphNode::kAnywhere)
      device = best_of(node(i));
  }

  /// The device that has most of the sources.
  uint8_t best_of(const GraphNode& node) const {
    uint8_t best = host_;
    int most = -1;
    for (uint8_t device = 0; device <= host_; ++device) {
      if (!runs_on(node, device)) continue;
      int here = 0;
      for (uint32_t s = 0; s < node.num_sources; ++s)
        here += made_.device[node.sources[s] / 2] == device ? 1 : 0;
      if (here > most) {
        most = here;
        best = device;
      }
    }
    return best;
  }

  bool copies_weight(uint32_t i) const {
    return node(i).weight_bytes != 0 && node(i).home != GraphNode::kAnywhere &&
           !has(node(i), GraphNode::kStored) && node(i).home != made_.device[i];
  }

  /// A part of the graph holds the copy of one weight at a time, so that the next one can have its
  /// place.
  bool reads_far_weight(uint32_t i) const {
    if (copies_weight(i)) return true;
    for (uint32_t s = 0; s < node(i).num_sources; ++s) {
      const uint32_t source = node(i).sources[s] / 2;
      if (has(node(source), GraphNode::kSharedWeight) && made_.device[source] != made_.device[i])
        return true;
    }
    return false;
  }

  /// Reads something that the device does not have yet.
  bool needs_copy(uint32_t i) const {
    for (uint32_t s = 0; s < node(i).num_sources; ++s) {
      const uint32_t source = node(i).sources[s] / 2;
      if (made_.device[source] != made_.device[i] &&
          copy_slots_[slot(source, made_.device[i])] == 0)
        return true;
    }
    return false;
  }

  size_t slot(uint32_t node, uint8_t device) const {
    return static_cast<size_t>(node) * (host_ + 1U) + device;
  }

  bool starts_part(uint32_t i) const {
    const GraphPart& part = made_.parts.back();
    if (made_.device[i] != device_) return true;
    const size_t copies = made_.copies.size() - part.first_copy;
    if (copies == 0) return false;
    return (has_far_weights_ && reads_far_weight(i)) || (copies >= kMaxPartCopies && needs_copy(i));
  }

  /// Cuts the graph where the device changes; what a part reads from elsewhere is copied in front.
  void split(uint32_t count) {
    copy_slots_.assign(static_cast<size_t>(count) * (host_ + 1U), 0);
    for (uint32_t i = 0; i < count; ++i) {
      place_rest(i);
      note_border(i);
      if (is_source_only(node(i))) continue;
      if (made_.parts.empty() || starts_part(i)) {
        close_part(i);
        const auto copies = static_cast<uint32_t>(made_.copies.size());
        made_.parts.push_back({i, count, copies, copies});
        device_ = made_.device[i];
      }
      bring_sources(i);
    }
    close_part(count);
  }

  void note_border(uint32_t i) {
    while (next_border_ < made_.borders.size() && made_.borders[next_border_].node == i) {
      GraphBorder& border = made_.borders[next_border_++];
      border.num_copies = static_cast<uint32_t>(made_.copies.size());
      border.num_kept = static_cast<uint32_t>(made_.kept_inputs.size() + made_.kept_copies.size());
    }
  }

  void close_part(uint32_t end) {
    if (made_.parts.empty()) return;
    made_.parts.back().end_node = end;
    made_.parts.back().end_copy = static_cast<uint32_t>(made_.copies.size());
  }

  void bring_sources(uint32_t i) {
    uint32_t weight_copy = 0;
    if (copies_weight(i)) weight_copy = add_copy(node(i).weight_bytes);
    for (uint32_t s = 0; s < node(i).num_sources; ++s) {
      const uint32_t source = node(i).sources[s];
      if (devices_.num_copies > 1 && (source & 1U) == 0) keep_input(source / 2);
      if (made_.device[source / 2] != device_)
        made_.nodes[i].sources[s] = copy_of(source);
      else if (has(node(source / 2), GraphNode::kPart))  // here, a view of the whole
        made_.nodes[i].sources[s] = node(source / 2).sources[0] | 1U;
    }
    GraphNode& reader = made_.nodes[i];
    if (weight_copy != 0 && reader.num_sources < GraphNode::kMaxSources)
      reader.sources[reader.num_sources++] = weight_copy * 2;
  }

  /// The copy of a source on the current device, which is read directly.
  uint32_t copy_of(uint32_t source) {
    const size_t at = slot(source / 2, device_);
    if (copy_slots_[at] == 0) {
      const uint32_t whole =
          has(node(source / 2), GraphNode::kPart) ? node(source / 2).sources[0] : source;
      const uint32_t copy = add_copy(node(source / 2).bytes);
      if (!has(node(whole / 2), GraphNode::kExternal)) {
        made_.nodes[copy].sources[0] = whole & ~1U;
        made_.nodes[copy].num_sources = 1;
      }
      copy_slots_[at] = copy;
      if (devices_.num_copies > 1) made_.kept_copies.push_back(copy);
    }
    return copy_slots_[at] * 2;
  }

  uint32_t add_copy(uint64_t bytes) {
    GraphNode copy;
    copy.bytes = bytes;
    copy.home = device_;
    if (devices_.num_copies > 1) copy.flags = GraphNode::kKept;
    if (bytes == 0) copy.flags |= GraphNode::kEmpty;
    const auto index = static_cast<uint32_t>(made_.nodes.size());
    made_.nodes.push_back(copy);
    made_.device.push_back(device_);
    made_.copies.push_back(index);
    return index;
  }

  void keep_input(uint32_t input) {
    constexpr uint16_t kAsked = GraphNode::kInput | GraphNode::kConstant | GraphNode::kKept;
    if ((node(input).flags & kAsked) != GraphNode::kInput) return;
    made_.nodes[input].flags |= GraphNode::kKept;
    made_.kept_inputs.push_back(input);
  }

  GraphSchedule made_;
  GraphDevices devices_;
  uint8_t host_;
  /// All nodes from here on have a device.
  uint32_t open_end_ = 0;
  /// Some weights are copied from device to device.
  bool has_far_weights_ = false;
  /// Of the part that is being made.
  uint8_t device_ = GraphNode::kAnywhere;
  /// Per node and device, the node that is its copy there; 0 = none.
  std::vector<uint32_t> copy_slots_;
  size_t next_border_ = 0;
};

}  // namespace

GraphSchedule schedule_graph(std::vector<GraphNode> nodes, const GraphDevices& devices,
                             const std::vector<uint32_t>& borders) {
  return Scheduler(std::move(nodes), devices, borders).run();
}

}  // namespace vramgauge

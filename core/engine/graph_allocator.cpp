#include "engine/graph_allocator.h"

#include <algorithm>
#include <utility>

#include "engine/graph_allocator_schedule.h"
#include "units/fingerprint.h"

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

uint64_t GraphBuffer::mixed_into(uint64_t print) const {
  print = mix_print(print, holes_.size());
  for (const Hole& hole : holes_)
    print = mix_print(mix_print(print, hole.offset), hole.bytes);
  return print;
}

namespace {

/// A node's place while the graph is replayed.
struct Place {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t uses = 0;
  uint8_t device = 0;
  bool is_allocated = false;
};

/// Plays a schedule against the allocators.
class Replay {
 public:
  Replay(const GraphSchedule& plan, const GraphDevices& devices, const GraphCut& cut)
      : plan_(plan), devices_(devices), cut_(cut), places_(plan.nodes.size()) {
    prints_.reserve(plan.borders.size());
    buffers_.reserve(devices.num_gpus + 1U);
    for (uint32_t i = 0; i < devices.num_gpus; ++i)
      buffers_.emplace_back(devices.gpu_alignment);
    buffers_.emplace_back(devices.host_alignment);
  }

  std::vector<uint64_t> run() {
    place_kept(plan_.kept_inputs);
    place_kept(plan_.kept_copies);
    for (uint32_t i = 0; i < plan_.nodes.size(); ++i) {
      count_uses(plan_.nodes[i]);
      if (has(i, GraphNode::kInput)) place(i);
    }
    for (const GraphPart& part : plan_.parts)
      play(part);
    std::vector<uint64_t> peaks;
    peaks.reserve(buffers_.size());
    for (const GraphBuffer& buffer : buffers_)
      peaks.push_back(buffer.peak_bytes());
    return peaks;
  }

  /// What was left out would have changed nothing.
  bool stands_for_all() const {
    return prints_.size() == plan_.borders.size() &&
           std::all_of(cut_.repeats.begin(), cut_.repeats.end(),
                       [this](const GraphRepeat& repeat) { return goes_round(repeat); });
  }

 private:
  static constexpr uint16_t kNotComputed =
      GraphNode::kInput | GraphNode::kExternal | GraphNode::kPart;

  bool has(uint32_t node, uint16_t flags) const { return (plan_.nodes[node].flags & flags) != 0; }

  /// A part is no reader of what it is a part of.
  void count_uses(const GraphNode& reader) {
    if ((reader.flags & GraphNode::kPart) != 0) return;
    for (uint32_t s = 0; s < reader.num_sources; ++s)
      ++places_[reader.sources[s] / 2].uses;
  }

  void place_kept(const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      place(node);
      for (uint32_t copy = 1; copy < devices_.num_copies; ++copy)
        buffers_[plan_.device[node]].allocate(plan_.nodes[node].bytes);
    }
  }

  void play(const GraphPart& part) {
    for (uint32_t i = part.first_copy; i < part.end_copy; ++i) {
      // The source is needed until the copy is made, but no longer by the copy's readers.
      const uint32_t copy = plan_.copies[i];
      release_sources(plan_.nodes[copy]);
      place(copy);
    }
    for (uint32_t i = part.first_node; i < part.end_node; ++i) {
      while (prints_.size() < plan_.borders.size() && plan_.borders[prints_.size()].node == i)
        prints_.push_back(state_print(part));
      if (has(i, kNotComputed)) continue;
      const GraphNode& node = plan_.nodes[i];
      if (!has(i, GraphNode::kInPlace) || !take_over(i, node)) place(i);
      release_sources(node);
    }
  }

  void place(uint32_t i) {
    Place& place = places_[i];
    if (place.is_allocated) return;
    const GraphNode& node = plan_.nodes[i];
    place.device = plan_.device[i];
    const bool is_on_gpu = place.device < devices_.num_gpus;
    place.bytes = node.bytes + (is_on_gpu ? node.gpu_extra_bytes : 0);
    if (place.bytes == 0 && !has(i, GraphNode::kEmpty)) return;
    place.offset = buffers_[place.device].allocate(place.bytes);
    place.is_allocated = true;
  }

  /// Takes the place of the first source that allows it.
  bool take_over(uint32_t i, const GraphNode& node) {
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s] / 2;
      Place& parent = places_[source];
      const bool is_view = (node.sources[s] & 1U) != 0;
      if (is_view || !parent.is_allocated || parent.uses != 1) continue;
      if (plan_.nodes[source].bytes != node.bytes || has(source, GraphNode::kKept)) continue;
      places_[i] = {parent.offset, node.bytes, places_[i].uses, parent.device, true};
      parent.is_allocated = false;
      GraphBuffer& buffer = buffers_[parent.device];
      const uint64_t kept = buffer.padded(node.bytes);
      const uint64_t all = buffer.padded(parent.bytes);
      if (all > kept) buffer.release(parent.offset + kept, all - kept);
      return true;
    }
    return false;
  }

  void release_sources(const GraphNode& node) {
    for (uint32_t s = 0; s < node.num_sources; ++s) {
      const uint32_t source = node.sources[s] / 2;
      Place& place = places_[source];
      if (--place.uses != 0 || !place.is_allocated || has(source, GraphNode::kKept)) continue;
      buffers_[place.device].release(place.offset, place.bytes);
      place.is_allocated = false;
    }
  }

  bool goes_round(const GraphRepeat& repeat) const {
    for (uint32_t end = repeat.first_border + 1; end < repeat.end_border; ++end) {
      for (uint32_t start = end; start-- > repeat.first_border;) {
        const uint32_t round = end - start;
        if (round % repeat.period == 0 && repeat.left_out % round == 0 &&
            prints_[start] == prints_[end])
          return true;
      }
    }
    return false;
  }

  /// All that what follows the next border depends on. Nodes count from there.
  uint64_t state_print(const GraphPart& part) {
    const auto index = static_cast<uint32_t>(prints_.size());
    while (cut_.repeats[repeat_].end_border <= index)
      ++repeat_;
    const GraphBorder& start = plan_.borders[cut_.repeats[repeat_].first_border];
    const GraphBorder& border = plan_.borders[index];
    uint64_t print = mix_print(plan_.device[part.first_node], border.num_kept);
    print = mix_print(print, border.num_copies - std::min(border.num_copies, part.first_copy));
    for (const GraphBuffer& buffer : buffers_)
      print = buffer.mixed_into(print);
    for (uint32_t i = start.node; i < border.node; ++i)
      print = with_place(print, i, border.node - i);
    for (uint32_t i = start.num_copies; i < part.end_copy; ++i) {
      const uint32_t copy = plan_.copies[i];
      if (!is_copy_of_input(copy)) print = with_place(print, copy, border.num_copies - i);
    }
    return print;
  }

  /// Such stay where they are for all steps.
  bool is_copy_of_input(uint32_t copy) const {
    const GraphNode& node = plan_.nodes[copy];
    return node.num_sources != 0 && has(node.sources[0] / 2, GraphNode::kInput);
  }

  uint64_t with_place(uint64_t print, uint32_t node, uint32_t name) const {
    const Place& place = places_[node];
    if (!place.is_allocated || has(node, GraphNode::kInput | GraphNode::kKept)) return print;
    print = mix_print(mix_print(print, name), place.offset);
    return mix_print(mix_print(print, place.bytes), place.uses * uint64_t{256} + place.device);
  }

  const GraphSchedule& plan_;
  GraphDevices devices_;
  const GraphCut& cut_;
  std::vector<GraphBuffer> buffers_;
  std::vector<Place> places_;
  /// Per border that was passed.
  std::vector<uint64_t> prints_;
  size_t repeat_ = 0;
};

}  // namespace

std::vector<uint64_t> graph_buffer_bytes(std::vector<GraphNode> nodes,
                                         const GraphDevices& devices) {
  return graph_buffer_bytes(std::move(nodes), devices, {});
}

std::vector<uint64_t> graph_buffer_bytes(std::vector<GraphNode> nodes, const GraphDevices& devices,
                                         const GraphCut& cut) {
  const GraphSchedule plan = schedule_graph(std::move(nodes), devices, cut.borders);
  Replay replay(plan, devices, cut);
  std::vector<uint64_t> bytes = replay.run();
  if (!replay.stands_for_all()) bytes.clear();
  return bytes;
}

}  // namespace vramgauge

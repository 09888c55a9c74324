#include "engine/llama_cpp_compute_layers.h"

#include <algorithm>
#include <numeric>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr size_t kLongestPeriod = 8;
/// Steps that stay at each end of a stretch, where the buffers have mostly not settled or are
/// emptied.
constexpr size_t kKeptSteps = 2;
/// What flows through the layers changes its place with each step; after two or three it is mostly
/// back, and then whole multiples of six steps change nothing.
constexpr size_t kRound = 6;

/// Equal for two layers that compute the same tensors on the same devices.
std::vector<uint64_t> layer_prints(const LlamaCppModel& model, const LlamaCppPlacement& placement,
                                   uint32_t num_gpus, bool has_host_weights) {
  std::vector<uint64_t> prints = model.groups.graph_prints;
  for (size_t i = 0; i < prints.size(); ++i) {
    if (num_gpus > 0) prints[i] = mix_print(prints[i], placement.layer_device[i]);
    // Weights that other devices copy differ by their quantisation.
    if (has_host_weights) prints[i] = mix_print(prints[i], model.groups.weight_prints[i]);
  }
  return prints;
}

/// Weights that patterns send elsewhere.
void add_moved(std::vector<uint64_t>& prints, const LlamaCppModel& model,
               const LlamaCppPlacement& placement) {
  for (size_t i = 0; i < placement.weight_device.size(); ++i) {
    const LlamaCppWeight& weight = model.weights[i];
    if (weight.place != LlamaCppPlace::layer) continue;
    uint64_t& print = prints[index_of(weight.layer)];
    print = mix_print(print, placement.weight_device[i]);
  }
}

/// Layers from `start` on that repeat the `period` layers in front of each.
size_t repeated(const std::vector<uint64_t>& prints, size_t start, size_t period) {
  size_t end = start + period;
  while (end < prints.size() && prints[end] == prints[end - period])
    ++end;
  return end - start;
}

/// A stretch of layers that repeat, of which some in the middle may be dropped.
struct Stretch {
  size_t length = 1;
  /// Layers that stay at each end.
  size_t kept = 1;
  /// So many in a row are unlike.
  size_t period = 1;
  /// Layers can be dropped in multiples of this.
  size_t round = 1;

  size_t dropped() const { return length < 2 * kept ? 0 : (length - 2 * kept) / round * round; }
};

/// Finds stretches in the layers of one model. `has_equal_steps`: layers of the same sizes are
/// alike for the allocators, whatever their windows. They are not where attention writes its scores
/// out, nor where weights or caches are copied to a GPU: those have sizes of their own.
class StretchFinder {
 public:
  StretchFinder(const std::vector<uint64_t>& prints, const std::vector<uint64_t>& sizes,
                bool has_equal_steps)
      : prints_(prints), sizes_(sizes), has_equal_steps_(has_equal_steps) {}

  /// The longest stretch from `start` on that is worth cutting; a single layer when there is none.
  Stretch longest(size_t start) const {
    Stretch best;
    for (size_t period = 1; period <= kLongestPeriod && start + period < prints_.size(); ++period) {
      const Stretch stretch = of_period(start, period);
      if (stretch.dropped() != 0 && stretch.length > best.length) best = stretch;
    }
    return best;
  }

 private:
  Stretch of_period(size_t start, size_t period) const {
    const size_t length = repeated(prints_, start, period);
    // A step is one layer where all have the same sizes, else a whole period.
    if (!has_equal_steps_ || !is_one_size(start, period))
      return {length, kKeptSteps * period, period, kRound * period};
    return {length, std::max(kKeptSteps, period), 1, std::lcm(kRound, period)};
  }

  bool is_one_size(size_t start, size_t period) const {
    const auto first = sizes_.begin() + static_cast<std::ptrdiff_t>(start);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(period),
                       [first](uint64_t size) { return size == *first; });
  }

  const std::vector<uint64_t>& prints_;
  const std::vector<uint64_t>& sizes_;
  bool has_equal_steps_;
};

/// The layers of a stretch that stay.
void add_stretch(LlamaCppComputeLayers& made, uint32_t start, const Stretch& stretch) {
  const auto dropped = static_cast<uint32_t>(stretch.dropped());
  const uint32_t end = start + static_cast<uint32_t>(stretch.length);
  const uint32_t head = dropped == 0 ? end : start + static_cast<uint32_t>(stretch.kept);
  const auto first = static_cast<uint32_t>(made.layers.size());
  for (uint32_t i = start; i < head; ++i)
    made.layers.push_back(i);
  for (uint32_t i = head + dropped; i < end; ++i)
    made.layers.push_back(i);
  if (dropped == 0) return;
  made.repeats.push_back({first, static_cast<uint32_t>(made.layers.size()),
                          static_cast<uint32_t>(stretch.period), dropped});
}

}  // namespace

LlamaCppComputeLayers llama_cpp_all_layers(const LlamaCppModel& model) {
  LlamaCppComputeLayers made;
  made.layers.resize(index_of(model.num_layers));
  std::iota(made.layers.begin(), made.layers.end(), 0U);
  return made;
}

LlamaCppComputeLayers llama_cpp_compute_layers(const LlamaCppModel& model,
                                               const LlamaCppContext& context,
                                               const LlamaCppPlacement& placement,
                                               uint32_t num_gpus, bool has_host_weights,
                                               bool piles_up) {
  if (model.is_sparse || piles_up) return llama_cpp_all_layers(model);
  std::vector<uint64_t> prints = layer_prints(model, placement, num_gpus, has_host_weights);
  if (has_host_weights) add_moved(prints, model, placement);
  const bool has_copies = has_host_weights || (num_gpus > 0 && !placement.offloads_cache);
  const StretchFinder stretches(prints, model.groups.size_prints,
                                context.flash_attn && !has_copies);
  LlamaCppComputeLayers made;
  made.layers.reserve(16);
  for (size_t i = 0; i < prints.size();) {
    const Stretch stretch = stretches.longest(i);
    add_stretch(made, static_cast<uint32_t>(i), stretch);
    i += stretch.length;
  }
  return made;
}

}  // namespace vramgauge

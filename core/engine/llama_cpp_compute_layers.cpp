#include "engine/llama_cpp_compute_layers.h"

#include <algorithm>
#include <numeric>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr size_t kLongestPeriod = 8;
/// Steps that stay at each end of a stretch, where the buffers have not settled or are emptied.
constexpr size_t kKeptSteps = 2;
/// What flows through the layers changes its place with each step; after two or three it is back.
/// So whole multiples of six steps change nothing.
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
  /// Layers can be dropped in multiples of this.
  size_t round = 1;

  size_t dropped() const { return length < 2 * kept ? 0 : (length - 2 * kept) / round * round; }
};

/// Finds stretches in the layers of one model.
class StretchFinder {
 public:
  StretchFinder(const std::vector<uint64_t>& prints, const std::vector<uint64_t>& sizes,
                bool has_equal_scores)
      : prints_(prints), sizes_(sizes), has_equal_scores_(has_equal_scores) {}

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
    if (!has_equal_scores_ || !is_one_size(start, period))
      return {length, kKeptSteps * period, kRound * period};
    return {length, std::max(kKeptSteps, period), std::lcm(kRound, period)};
  }

  bool is_one_size(size_t start, size_t period) const {
    const auto first = sizes_.begin() + static_cast<std::ptrdiff_t>(start);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(period),
                       [first](uint64_t size) { return size == *first; });
  }

  const std::vector<uint64_t>& prints_;
  const std::vector<uint64_t>& sizes_;
  bool has_equal_scores_;
};

}  // namespace

std::vector<uint32_t> llama_cpp_compute_layers(const LlamaCppModel& model,
                                               const LlamaCppContext& context,
                                               const LlamaCppPlacement& placement,
                                               uint32_t num_gpus, bool has_host_weights,
                                               bool piles_up) {
  std::vector<uint32_t> layers;
  layers.reserve(16);
  // Some architectures have tensors that are never freed.
  piles_up = piles_up || model.architecture == "rwkv7" || model.architecture == "deci";
  if (model.is_sparse || piles_up) {
    for (uint32_t i = 0; i < model.num_layers; ++i)
      layers.push_back(i);
    return layers;
  }
  std::vector<uint64_t> prints = layer_prints(model, placement, num_gpus, has_host_weights);
  if (has_host_weights) add_moved(prints, model, placement);
  const StretchFinder stretches(prints, model.groups.size_prints, context.flash_attn);
  for (size_t i = 0; i < prints.size();) {
    const Stretch stretch = stretches.longest(i);
    const size_t end = i + stretch.length;
    const size_t dropped = stretch.dropped();
    const size_t head = dropped == 0 ? end : i + stretch.kept;
    for (; i < head; ++i)
      layers.push_back(static_cast<uint32_t>(i));
    for (i += dropped; i < end; ++i)
      layers.push_back(static_cast<uint32_t>(i));
  }
  return layers;
}

}  // namespace vramgauge

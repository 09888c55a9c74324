#include "engine/llama_cpp_compute_layers.h"

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr size_t kLongestPeriod = 8;
/// Periods that stay at the ends of a stretch, where the buffers have not settled or are emptied.
constexpr size_t kKeptInFront = 2;
constexpr size_t kKeptBehind = 2;
/// What flows through the layers changes its place with each; after two or three it is back. So
/// whole multiples of six periods change nothing.
constexpr size_t kPositions = 6;

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

/// A stretch of layers that repeat.
struct Stretch {
  size_t period = 1;
  size_t length = 1;
};

/// The longest stretch from `start` on that is worth cutting; a single layer when there is none.
Stretch longest_stretch(const std::vector<uint64_t>& prints, size_t start) {
  Stretch best;
  for (size_t period = 1; period <= kLongestPeriod && start + period < prints.size(); ++period) {
    const size_t length = repeated(prints, start, period);
    const bool is_long = length >= period * (kKeptInFront + kKeptBehind + kPositions);
    if (is_long && length > best.length) best = {period, length};
  }
  return best;
}

}  // namespace

std::vector<uint32_t> llama_cpp_compute_layers(const LlamaCppModel& model,
                                               const LlamaCppPlacement& placement,
                                               uint32_t num_gpus, bool has_host_weights,
                                               bool attends_on_host) {
  std::vector<uint32_t> layers;
  layers.reserve(16);
  // Some architectures have tensors that are never freed.
  const bool piles_up = (placement.is_pipelined && attends_on_host) ||
                        model.architecture == "rwkv7" || model.architecture == "deci";
  if (model.is_sparse || piles_up) {
    for (uint32_t i = 0; i < model.num_layers; ++i)
      layers.push_back(i);
    return layers;
  }
  std::vector<uint64_t> prints = layer_prints(model, placement, num_gpus, has_host_weights);
  if (has_host_weights) add_moved(prints, model, placement);
  for (size_t i = 0; i < prints.size();) {
    const Stretch stretch = longest_stretch(prints, i);
    const size_t kept = stretch.period * (kKeptInFront + kKeptBehind);
    const size_t cut = stretch.period * kPositions;
    const size_t dropped = stretch.length > kept ? (stretch.length - kept) / cut * cut : 0;
    const size_t end = i + stretch.length;
    const size_t head = dropped == 0 ? end : i + stretch.period * kKeptInFront;
    for (; i < head; ++i)
      layers.push_back(static_cast<uint32_t>(i));
    for (i += dropped; i < end; ++i)
      layers.push_back(static_cast<uint32_t>(i));
  }
  return layers;
}

}  // namespace vramgauge

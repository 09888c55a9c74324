#include "engine/llama_cpp_compute_layers.h"

#include <algorithm>
#include <variant>

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

/// Mixes a number into a fingerprint.
constexpr uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

uint64_t ffn_fingerprint(const Ffn& ffn) {
  if (const auto* plain = std::get_if<DenseFfn>(&ffn)) return plain->intermediate_size;
  if (const auto* moe = std::get_if<MoeFfn>(&ffn))
    return mix(moe->num_experts, moe->moe_intermediate_size);
  return 0;
}

/// What makes two layers compute the same tensors on the same devices.
std::vector<uint64_t> layer_fingerprints(const LlamaCppModel& model,
                                         const LlamaCppPlacement& placement, uint32_t num_gpus) {
  std::vector<uint64_t> prints(index_of(model.num_layers));
  for (size_t i = 0; i < prints.size(); ++i) {
    const LlamaCppLayer& layer = model.layers[i];
    const Layer& spec = model.spec.layers[i];
    uint64_t print = mix(layer.k_elements, layer.v_elements);
    print = mix(print, layer.num_heads * 8 + static_cast<uint64_t>(layer.cache) * 2 +
                           (layer.is_windowed ? 1 : 0));
    print = mix(print, layer.state_elements + layer.conv_elements);
    print =
        mix(print, spec.mixers.size() * 16 + (spec.mixers.empty() ? 0 : spec.mixers[0].index()));
    print = mix(print, ffn_fingerprint(spec.ffn));
    // No rotary embedding in every fourth layer.
    if (model.architecture == "smollm3") print = mix(print, i % 4 == 3 ? 1 : 0);
    if (num_gpus > 0) print = mix(print, placement.layer_device[i]);
    prints[i] = print;
  }
  return prints;
}

/// Weights that other devices copy differ by their quantisation and place.
void add_weights(std::vector<uint64_t>& prints, const LlamaCppModel& model,
                 const LlamaCppPlacement& placement) {
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const LlamaCppWeight& weight = model.weights[i];
    if (weight.place != LlamaCppPlace::layer || weight.layer >= prints.size()) continue;
    uint64_t& print = prints[index_of(weight.layer)];
    print = mix(mix(print, weight.gpu_bytes), placement.weight_device[i]);
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
  std::vector<uint64_t> prints = layer_fingerprints(model, placement, num_gpus);
  if (has_host_weights) add_weights(prints, model, placement);
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

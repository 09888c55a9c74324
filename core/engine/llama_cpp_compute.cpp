#include "engine/llama_cpp_compute.h"

#include <optional>
#include <utility>

#include "engine/graph_allocator.h"
#include "engine/llama_cpp_compute_graph.h"
#include "engine/llama_cpp_compute_layers.h"

namespace vramgauge {
namespace {

/// Half the width of the band, in thousandths. A replay of a graph that was compared with the
/// engine is off by less than a thousandth (tests/truth), and builds from weeks around add a
/// little; a graph that was only read may miss one of a layer's dozen tensors.
constexpr uint64_t band_thousandths(LlamaCppComputeBasis basis) {
  return basis == LlamaCppComputeBasis::measured ? 5 : 40;
}

LlamaCppComputeBytes with_band(uint64_t bytes, LlamaCppComputeBasis basis) {
  const uint64_t half = bytes / 1000 * band_thousandths(basis);
  return {Bytes(bytes), Bytes(bytes - half), Bytes(bytes + half)};
}

/// Where the layers begin that stand for more.
GraphCut cut_of(const LlamaCppComputeLayers& layers, const std::vector<uint32_t>& starts) {
  GraphCut cut;
  for (const LlamaCppLayerRepeat& repeat : layers.repeats) {
    const auto first = static_cast<uint32_t>(cut.borders.size());
    cut.borders.insert(cut.borders.end(), starts.begin() + repeat.first,
                       starts.begin() + repeat.end);
    cut.repeats.push_back(
        {first, static_cast<uint32_t>(cut.borders.size()), repeat.period, repeat.left_out});
  }
  return cut;
}

/// One model in one context, whose graph is replayed.
struct Job {
  const LlamaCppModel& model;
  const LlamaCppContext& context;
  const LlamaCppPlacement& placement;
  uint32_t num_gpus;
  const LlamaCppGraphRules& rules;

  LlamaCppGraph graph() const { return {model, context, placement, num_gpus, rules}; }

  /// Bytes per device, the host's last; empty when the layers do not stand for all. Nothing when a
  /// size cannot be computed with.
  std::optional<std::vector<uint64_t>> replay(LlamaCppGraph graph,
                                              const LlamaCppComputeLayers& layers) const {
    graph.build(layers.layers);
    if (graph.has_overflowed()) return std::nullopt;
    GraphDevices devices;
    devices.num_gpus = num_gpus;
    devices.offloads_operations = context.offload_ops;
    devices.num_copies = placement.is_pipelined ? 4 : 1;
    const GraphCut cut = cut_of(layers, graph.starts());
    return graph_buffer_bytes(graph.take_nodes(), devices, cut);
  }

  std::optional<std::vector<uint64_t>> replay() const {
    LlamaCppGraph first = graph();
    const LlamaCppComputeLayers few = llama_cpp_compute_layers(
        model, context, placement, num_gpus, first.has_host_weights(), first.keeps_layer_copies());
    std::optional<std::vector<uint64_t>> bytes = replay(std::move(first), few);
    if (bytes && bytes->empty()) bytes = replay(graph(), llama_cpp_all_layers(model));
    return bytes;
  }
};

}  // namespace

std::optional<LlamaCppCompute> llama_cpp_compute(const LlamaCppModel& model,
                                                 const LlamaCppContext& context,
                                                 const LlamaCppPlacement& placement,
                                                 uint32_t num_gpus) {
  return llama_cpp_compute_as(model.architecture, model, context, placement, num_gpus);
}

std::optional<LlamaCppCompute> llama_cpp_compute_as(std::string_view architecture,
                                                    const LlamaCppModel& model,
                                                    const LlamaCppContext& context,
                                                    const LlamaCppPlacement& placement,
                                                    uint32_t num_gpus) {
  const LlamaCppGraphRules* rules = llama_cpp_graph_rules(architecture);
  if (rules == nullptr) return std::nullopt;
  const std::optional<std::vector<uint64_t>> bytes =
      Job{model, context, placement, num_gpus, *rules}.replay();
  if (!bytes) return std::nullopt;
  LlamaCppCompute result;
  result.basis = rules->basis;
  result.host = with_band(bytes->back(), rules->basis);
  result.gpus.reserve(num_gpus);
  for (uint32_t i = 0; i < num_gpus; ++i)
    result.gpus.push_back(with_band((*bytes)[i], rules->basis));
  return result;
}

}  // namespace vramgauge

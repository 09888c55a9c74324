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
  LlamaCppGraph graph(model, context, placement, num_gpus, *rules);
  graph.build(llama_cpp_compute_layers(model, context, placement, num_gpus,
                                       graph.has_host_weights(), graph.keeps_layer_copies()));
  if (graph.has_overflowed()) return std::nullopt;
  GraphDevices devices;
  devices.num_gpus = num_gpus;
  devices.offloads_operations = context.offload_ops;
  devices.num_copies = placement.is_pipelined ? 4 : 1;
  const std::vector<uint64_t> bytes = graph_buffer_bytes(graph.take_nodes(), devices);
  LlamaCppCompute result;
  result.basis = rules->basis;
  result.host = with_band(bytes.back(), rules->basis);
  result.gpus.reserve(num_gpus);
  for (uint32_t i = 0; i < num_gpus; ++i)
    result.gpus.push_back(with_band(bytes[i], rules->basis));
  return result;
}

}  // namespace vramgauge

#include "engine/llama_cpp_compute.h"

#include <algorithm>
#include <optional>

#include "engine/graph_allocator.h"
#include "engine/llama_cpp_compute_graph.h"
#include "engine/llama_cpp_compute_layers.h"

namespace vramgauge {
namespace {

using Rules = LlamaCppGraphRules;

constexpr LlamaCppGraphRules kRules[] = {
    {"llama", 0},
    {"command-r", Rules::kLayerNorm | Rules::kParallel},
    {"cohere2", Rules::kLayerNorm | Rules::kParallel | Rules::kRopeInWindowOnly},
    {"deepseek2", Rules::kRawExpertWeights},
    {"deepseek32", Rules::kSigmoidRouter | Rules::kScalesWeights},
    {"falcon-h1", 0},
    {"falcon", Rules::kLayerNorm | Rules::kParallel | Rules::kAttentionFirst},
    {"gemma2", Rules::kPostNorms},
    {"gemma3", Rules::kPostNorms},
    {"gemma3n", Rules::kGemma3n | Rules::kNormsValues},
    {"gemma4", Rules::kPostNorms | Rules::kSelectsNormed | Rules::kNormsValues | Rules::kGemma4},
    {"glm4moe", Rules::kSigmoidRouter},
    {"glm-dsa", Rules::kSigmoidRouter | Rules::kScalesWeights},
    {"granitehybrid", Rules::kNoRope | Rules::kScalesResidual | Rules::kScalesEmbedding},
    {"jamba", Rules::kNoRope | Rules::kRawExpertWeights | Rules::kMixResidualFirst |
                  Rules::kFfnResidualFirst},
    {"lfm2", Rules::kMixResidualFirst | Rules::kFfnResidualFirst},
    {"lfm2moe", Rules::kMixResidualFirst | Rules::kFfnResidualFirst | Rules::kSigmoidRouter},
    {"mamba", 0},
    {"mamba2", 0},
    {"nemotron_h", Rules::kNoRope | Rules::kSelectsNormed},
    {"nemotron_h_moe",
     Rules::kNoRope | Rules::kSigmoidRouter | Rules::kScalesWeights | Rules::kSelectsNormed},
    {"qwen3next", Rules::kSelectsNormed | Rules::kRepeatsKeys},
    {"qwen35", Rules::kSelectsNormed | Rules::kFourPositions},
    {"qwen35moe", Rules::kSelectsNormed | Rules::kFourPositions},
    {"rwkv7", Rules::kLayerNorm | Rules::kNormsEmbedding},
    {"gpt-oss", Rules::kSoftmaxOfChosen | Rules::kSelectsLast},
    {"llama4", Rules::kWeightsInputs | Rules::kRawExpertWeights | Rules::kRopeInWindowOnly |
                   Rules::kScalesQueries},
    {"minimax-m2", Rules::kSigmoidRouter | Rules::kNormsAllHeads},
    {"phi3", Rules::kFfnResidualFirst},
    {"qwen2", 0},
    {"qwen3", 0},
    {"qwen3moe", 0},
    {"starcoder", Rules::kLayerNorm | Rules::kNoRope},
    {"starcoder2", Rules::kLayerNorm},
};

}  // namespace

const LlamaCppGraphRules* llama_cpp_graph_rules(std::string_view architecture) {
  for (const LlamaCppGraphRules& rules : kRules) {
    if (rules.architecture == architecture) return &rules;
  }
  return nullptr;
}

std::optional<LlamaCppCompute> llama_cpp_compute(const LlamaCppModel& model,
                                                 const LlamaCppContext& context,
                                                 const LlamaCppPlacement& placement,
                                                 uint32_t num_gpus) {
  const LlamaCppGraphRules* rules = llama_cpp_graph_rules(model.architecture);
  if (rules == nullptr) return std::nullopt;
  LlamaCppGraph graph(model, context, placement, num_gpus, *rules);
  graph.build(llama_cpp_compute_layers(model, placement, num_gpus, graph.has_host_weights(),
                                       graph.attends_on_host()));
  if (graph.has_overflowed()) return std::nullopt;
  GraphDevices devices;
  devices.num_gpus = num_gpus;
  devices.offloads_operations = context.offload_ops;
  devices.num_copies = placement.is_pipelined ? 4 : 1;
  const std::vector<uint64_t> bytes = graph_buffer_bytes(graph.take_nodes(), devices);
  LlamaCppCompute result;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const LlamaCppComputeBytes made{Bytes(bytes[i]), Bytes(bytes[i]), Bytes(bytes[i])};
    if (i < num_gpus)
      result.gpus.push_back(made);
    else
      result.host = made;
  }
  return result;
}

}  // namespace vramgauge

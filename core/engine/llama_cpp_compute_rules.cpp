// How each architecture arranges its layers: read from src/models/*.cpp of llama.cpp at 34af94cd
// (2026-08-17).
#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {
namespace {

using Rules = LlamaCppGraphRules;
using Basis = LlamaCppComputeBasis;

constexpr LlamaCppGraphRules kRules[] = {
    {"llama"},
    {"command-r", Rules::kLayerNorm | Rules::kParallel},
    {"cohere2", Rules::kLayerNorm | Rules::kParallel | Rules::kRopeInWindowOnly},
    {"deepseek2", Rules::kRawExpertWeights | Rules::kScalesWeights},
    {"deepseek32", Rules::kSigmoidRouter | Rules::kScalesWeights},
    {"falcon", Rules::kLayerNorm | Rules::kParallel | Rules::kAttentionFirst},
    {"falcon-h1"},
    {"gemma2", Rules::kPostNorms},
    {"gemma3", Rules::kPostNorms},
    {"gemma3n", Rules::kGemma3n | Rules::kNormsValues},
    {"gemma4", Rules::kPostNorms | Rules::kSelectsNormed | Rules::kNormsValues | Rules::kGemma4},
    {"glm4moe", Rules::kSigmoidRouter},
    {"gpt-oss", Rules::kSoftmaxOfChosen | Rules::kSelectsLast},
    {"granitehybrid", Rules::kNoRope | Rules::kScalesResidual | Rules::kScalesEmbedding},
    {"jamba", Rules::kNoRope | Rules::kRawExpertWeights | Rules::kMixResidualFirst |
                  Rules::kFfnResidualFirst},
    {"lfm2", Rules::kMixResidualFirst | Rules::kFfnResidualFirst},
    {"llama4", Rules::kWeightsInputs | Rules::kRawExpertWeights | Rules::kRopeInWindowOnly |
                   Rules::kScalesQueries},
    {"mamba"},
    {"nemotron_h", Rules::kNoRope | Rules::kSelectsNormed},
    {"phi3", Rules::kFfnResidualFirst},
    {"qwen2"},
    {"qwen3"},
    {"qwen35", Rules::kSelectsNormed | Rules::kFourPositions},
    {"qwen35moe", Rules::kSelectsNormed | Rules::kFourPositions},
    {"qwen3moe"},
    {"qwen3next", Rules::kSelectsNormed | Rules::kRepeatsKeys},
    {"rwkv7", Rules::kLayerNorm | Rules::kNormsEmbedding},
    {"starcoder2", Rules::kLayerNorm},
    // No model of these is among the measured ones.
    {"glm-dsa", Rules::kSigmoidRouter | Rules::kScalesWeights, Basis::source},
    {"lfm2moe", Rules::kMixResidualFirst | Rules::kFfnResidualFirst | Rules::kSigmoidRouter,
     Basis::source},
    {"mamba2", 0, Basis::source},
    {"minimax-m2", Rules::kSigmoidRouter | Rules::kNormsAllHeads, Basis::source},
    {"nemotron_h_moe",
     Rules::kNoRope | Rules::kSigmoidRouter | Rules::kScalesWeights | Rules::kSelectsNormed,
     Basis::source},
    {"starcoder", Rules::kLayerNorm | Rules::kNoRope, Basis::source},
};

}  // namespace

const LlamaCppGraphRules* llama_cpp_graph_rules(std::string_view architecture) {
  for (const LlamaCppGraphRules& rules : kRules) {
    if (rules.architecture == architecture) return &rules;
  }
  return nullptr;
}

}  // namespace vramgauge

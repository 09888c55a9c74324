// What llama.cpp's --fit, which is on by default, chooses where the user leaves the choice: a
// shorter context, fewer layers on GPUs, experts in host memory. Rules of its common/fit.cpp as of
// 2026-08-08.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/llama_cpp.h"

namespace vramgauge {

/// What is to be met.
struct LlamaCppFitTargets {
  /// --fit-target: memory that each GPU keeps free.
  Bytes margin = GiB(1);
  /// --fit-ctx: the shortest context that it chooses.
  uint64_t min_context_tokens = 4096;
};

enum class LlamaCppFitOutcome {
  unchanged,     ///< everything fits as it was asked for
  less_context,  ///< it fits with a shorter context
  placed,        ///< layers or experts were moved (after the context was shortened, if it was free)
  given_up       ///< what would have to change is the user's own choice, or there is no GPU
};

std::string_view llama_cpp_fit_outcome_name(LlamaCppFitOutcome outcome);

/// What one GPU got.
struct LlamaCppFitShare {
  /// Layers, the output layer counted as one.
  uint64_t num_layers = 0;
  /// Those of them whose experts (of one layer perhaps more or less) lie elsewhere.
  uint64_t num_partial_layers = 0;
};

struct LlamaCppFit {
  LlamaCppFitOutcome outcome = LlamaCppFitOutcome::unchanged;
  /// The options after fitting. The context is set, unless it was free and stayed the model's own.
  LlamaCppOptions options;
  /// Per GPU; empty unless layers were placed.
  std::vector<LlamaCppFitShare> shares;
  /// Every GPU (host memory without one) keeps its margin by the engine's own count, which leaves
  /// out projectors, adapters and, in host memory, repacked weights and output rows.
  bool meets_targets = false;
  /// The result with everything counted.
  LlamaCppEstimate estimate;
};

/// Fits a model. Options at their defaults are free: ctx_tokens 0; n_gpu_layers below 0 together
/// with no tensor_split, overrides and n_cpu_moe. A draft model counts on GPUs; without a GPU only
/// the context can change. Errors: as estimate_llama_cpp.
Result<LlamaCppFit> fit_llama_cpp(const LlamaCppModel& model, const LlamaCppOptions& options,
                                  const LlamaCppMachine& machine, const LlamaCppExtras& extras,
                                  const LlamaCppConstants& constants,
                                  const LlamaCppFitTargets& targets);

}  // namespace vramgauge

// The fewest GPUs that a scenario needs, and how they may share a model.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/probe.h"

namespace vramgauge {

/// What may be split in the engine and the model.
struct SplitRules {
  /// Ranks, stages and replicas can be named; else only the number of GPUs counts.
  bool has_ranks = false;
  /// The model has routed experts.
  bool has_experts = false;
  /// Attention can be replicated where the rest is divided (SGLang's dp_attention).
  bool has_dp_attention = false;
  uint64_t max_gpus = 1;
};

/// A way to use gpu_count GPUs, in the scenario's own fields, and what comes of it.
struct Split {
  Scenario scenario;
  Outcome outcome;
};

struct FewestGpus {
  /// 0 = no number that was tried is enough.
  uint64_t num_gpus = 0;
  /// Every split of that many, the plainest first; of the most that were tried when none is enough.
  std::vector<Split> splits;
  /// Every split of one GPU less, none of which holds; empty for one GPU.
  std::vector<Split> one_less;
  uint64_t num_estimates = 0;
};

/// Tries 1, 2, 3, ... GPUs one by one up to 64, then doubles and halves. At each number: all tensor
/// ranks, then pipeline stages, then, for models with experts, replicas and expert parallelism.
FewestGpus fewest_gpus(Probe& probe, const Scenario& scenario, const SplitRules& rules,
                       Accept accept);

/// The first split that holds; null when none does.
const Split* first_that_holds(const std::vector<Split>& splits, Accept accept);

}  // namespace vramgauge

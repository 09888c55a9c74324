#include "plan/splits.h"

#include <algorithm>
#include <utility>

namespace vramgauge {
namespace {

constexpr uint64_t kTriedOneByOne = 64;

class Splitter {
 public:
  Splitter(Probe& probe, const Scenario& scenario, const SplitRules& rules, Accept accept)
      : probe_(probe), scenario_(scenario), rules_(rules), accept_(accept) {}

  /// Whether a split of so many holds; keeps them all.
  bool try_number(uint64_t num_gpus) {
    splits_.clear();
    Scenario at = scenario_;
    at.gpu_count = num_gpus;
    if (!rules_.has_ranks) {
      add(at);
    } else {
      at.stage_layers.clear();
      for (uint64_t stages = 1; stages <= num_gpus; ++stages)
        if (num_gpus % stages == 0) add_replicas(at, stages);
    }
    return first_that_holds(splits_, accept_) != nullptr;
  }

  std::vector<Split> take() { return std::move(splits_); }
  uint64_t num_estimates() const { return num_estimates_; }

 private:
  void add(const Scenario& at) {
    ++num_estimates_;
    splits_.push_back({at, probe_.estimate(at)});
  }

  void add_replicas(Scenario at, uint64_t stages) {
    const uint64_t per_stage = at.gpu_count / stages;
    at.pipeline_stages = stages;
    at.context_ranks = 1;
    at.dp_attention = "off";
    for (uint64_t replicas = 1; replicas <= per_stage; ++replicas) {
      if (per_stage % replicas != 0 || (replicas > 1 && !rules_.has_experts)) continue;
      at.data_ranks = replicas;
      at.tensor_ranks = per_stage / replicas;
      at.expert_parallel = "off";
      // A replica without expert parallelism holds no less than one alone.
      if (replicas == 1) add(at);
      if (!rules_.has_experts || per_stage == 1) continue;
      at.expert_parallel = "on";
      if (replicas > 1 && rules_.has_dp_attention) at.dp_attention = "on";
      add(at);
    }
  }

  Probe& probe_;
  const Scenario& scenario_;
  const SplitRules& rules_;
  Accept accept_;
  std::vector<Split> splits_;
  uint64_t num_estimates_ = 0;
};

/// The first number that holds, or 0; each below 64 is tried.
uint64_t first_number(Splitter& splitter, uint64_t max_gpus) {
  for (uint64_t n = 1; n <= std::min(max_gpus, kTriedOneByOne); ++n)
    if (splitter.try_number(n)) return n;
  uint64_t bad = kTriedOneByOne;
  while (bad < max_gpus) {
    uint64_t good = std::min(bad * 2, max_gpus);
    if (!splitter.try_number(good)) {
      bad = good;
      continue;
    }
    while (good - bad > 1) {
      const uint64_t middle = bad + (good - bad) / 2;
      (splitter.try_number(middle) ? good : bad) = middle;
    }
    return good;
  }
  return 0;
}

}  // namespace

const Split* first_that_holds(const std::vector<Split>& splits, Accept accept) {
  const auto found = std::find_if(splits.begin(), splits.end(), [accept](const Split& split) {
    return holds(split.outcome, accept);
  });
  return found == splits.end() ? nullptr : &*found;
}

FewestGpus fewest_gpus(Probe& probe, const Scenario& scenario, const SplitRules& rules,
                       Accept accept) {
  Splitter splitter(probe, scenario, rules, accept);
  FewestGpus out;
  out.num_gpus = first_number(splitter, rules.max_gpus);
  if (out.num_gpus > 1) {
    splitter.try_number(out.num_gpus - 1);
    out.one_less = splitter.take();
  }
  splitter.try_number(out.num_gpus == 0 ? rules.max_gpus : out.num_gpus);
  out.splits = splitter.take();
  out.num_estimates = splitter.num_estimates();
  return out;
}

}  // namespace vramgauge

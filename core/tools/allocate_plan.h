// Which buffers an engine would take on one device, from what an estimate says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/json.h"

namespace vramgauge::tools {

/// Buffers that are taken one after another for one term.
struct AllocationStage {
  std::string term;
  std::vector<uint64_t> buffers_bytes;
  /// Given back before the next stage, as scratch is.
  bool is_scratch = false;

  uint64_t total_bytes() const;
};

/// What is taken on one device.
struct AllocationPlan {
  /// As CUDA counts devices in this process.
  int ordinal = 0;
  std::vector<AllocationStage> stages;

  uint64_t total_bytes() const;
};

/// One plan per GPU of a validation's result. llama.cpp takes one buffer per term; the other
/// engines take weights tensor by tensor, a cache per layer and their scratch at once. The engine's
/// own memory (runtime) is not taken: the context that the allocation needs is real.
std::vector<AllocationPlan> allocation_plans(const json::Value& validation);

}  // namespace vramgauge::tools

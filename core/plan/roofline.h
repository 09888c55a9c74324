// How fast decoding and prefill can be at best: bytes against the card's bandwidth, operations
// against its peak. An upper bound; measured runs reach a part of it.
#pragma once

#include <cstdint>

#include "model/cache_layout.h"
#include "specs/model_spec.h"

namespace vramgauge {

/// What a step reads and computes, whole model.
struct RooflineModel {
  const ModelSpec* spec = nullptr;
  /// The cache of one tensor-parallel rank, whole.
  const CacheLayout* cache = nullptr;
  /// Read in every step: the text model without routed experts and without the embedding table,
  /// of which a token reads one row.
  uint64_t fixed_weight_bytes = 0;
  /// Of all routed experts.
  uint64_t expert_bytes = 0;
  /// Parameters that one token passes through, embedding table apart, and those of all experts with
  /// them.
  uint64_t active_parameters = 0;
  uint64_t all_parameters = 0;
};

struct RooflineMachine {
  double bytes_per_s = 0;
  double operations_per_s = 0;
  /// GPUs that work on one step at the same time.
  uint64_t num_gpus = 1;
};

struct RooflineLoad {
  uint64_t context_tokens = 0;
  uint64_t num_requests = 1;
  uint64_t prompt_tokens = 0;
};

struct Roofline {
  double weight_bytes = 0;
  double cache_bytes = 0;
  double operations = 0;
  /// Of one decode step: the longer of reading and computing.
  double step_s = 0;
  bool is_memory_bound = true;
  /// Prompts of all requests, one after the other.
  double prefill_s = 0;
  /// Requests at once from which 4-bit and 16-bit weights are read in less time than it takes to
  /// compute with them: up to the first, 4 bits save all that they can; from the second on,
  /// nothing.
  double four_bit_full_batch = 0;
  double four_bit_no_gain_batch = 0;
};

Roofline roofline(const RooflineModel& model, const RooflineMachine& machine,
                  const RooflineLoad& load);

}  // namespace vramgauge

// Which layers of a model have to be replayed to know its compute buffers. Buffers hold one layer
// at a time, so that a long stretch of equal layers needs what a short one needs; tests/truth
// compares with the engine's own accounting, which replays all.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llama_cpp_placement.h"

namespace vramgauge {

/// Layers, in order, that stand for all. `piles_up`: each holds memory that no other uses again.
std::vector<uint32_t> llama_cpp_compute_layers(const LlamaCppModel& model,
                                               const LlamaCppContext& context,
                                               const LlamaCppPlacement& placement,
                                               uint32_t num_gpus, bool has_host_weights,
                                               bool piles_up);

}  // namespace vramgauge

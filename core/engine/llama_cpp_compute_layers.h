// Which layers of a model have to be replayed to know its compute buffers. Buffers hold one layer
// at a time, so that a long stretch of equal layers mostly needs what a short one needs; the replay
// finds out whether it does.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llama_cpp_placement.h"

namespace vramgauge {

/// A stretch of layers that repeat, some of which were left out.
struct LlamaCppLayerRepeat {
  /// Its layers among those that are replayed.
  uint32_t first = 0;
  uint32_t end = 0;
  /// So many in a row are unlike.
  uint32_t period = 1;
  uint32_t left_out = 0;
};

struct LlamaCppComputeLayers {
  /// In order.
  std::vector<uint32_t> layers;
  std::vector<LlamaCppLayerRepeat> repeats;
};

/// Every layer of the decoder.
LlamaCppComputeLayers llama_cpp_all_layers(const LlamaCppModel& model);

/// Layers that may stand for all. `piles_up`: each holds memory that no other uses again.
LlamaCppComputeLayers llama_cpp_compute_layers(const LlamaCppModel& model,
                                               const LlamaCppContext& context,
                                               const LlamaCppPlacement& placement,
                                               uint32_t num_gpus, bool has_host_weights,
                                               bool piles_up);

}  // namespace vramgauge

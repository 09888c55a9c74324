// Compute buffers of llama.cpp: what a batch needs beside weights and caches.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llama_cpp_context.h"
#include "engine/llama_cpp_placement.h"
#include "units/bytes.h"
#include "units/error.h"

namespace vramgauge {

/// A size with the band it lies in.
struct LlamaCppComputeBytes {
  Bytes bytes;
  Bytes low;
  Bytes high;
};

/// One buffer per device.
struct LlamaCppCompute {
  /// In pinned memory when there is a GPU.
  LlamaCppComputeBytes host;
  std::vector<LlamaCppComputeBytes> gpus;
};

/// The buffers that the engine reserves at start for its largest batch.
std::optional<LlamaCppCompute> llama_cpp_compute(const LlamaCppModel& model,
                                                 const LlamaCppContext& context,
                                                 const LlamaCppPlacement& placement,
                                                 uint32_t num_gpus);

}  // namespace vramgauge

// Compute buffers of llama.cpp: what a batch needs beside weights and caches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
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

/// How an architecture's graph is known.
enum class LlamaCppComputeBasis {
  measured,  ///< the engine's own accounting of such a model was compared
  source     ///< read from the engine's source
};

/// One buffer per device.
struct LlamaCppCompute {
  LlamaCppComputeBasis basis = LlamaCppComputeBasis::source;
  /// In pinned memory when there is a GPU.
  LlamaCppComputeBytes host;
  std::vector<LlamaCppComputeBytes> gpus;
};

/// The buffers that the engine reserves at start for its largest batch, by a replay of its
/// allocator over the tensors of a few layers that stand for all. Nothing for an architecture whose
/// graph is not known, and when a size cannot be computed with.
std::optional<LlamaCppCompute> llama_cpp_compute(const LlamaCppModel& model,
                                                 const LlamaCppContext& context,
                                                 const LlamaCppPlacement& placement,
                                                 uint32_t num_gpus);

/// The same with the graph of another architecture.
std::optional<LlamaCppCompute> llama_cpp_compute_as(std::string_view architecture,
                                                    const LlamaCppModel& model,
                                                    const LlamaCppContext& context,
                                                    const LlamaCppPlacement& placement,
                                                    uint32_t num_gpus);

}  // namespace vramgauge

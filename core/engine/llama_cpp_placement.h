// Which device each layer, weight and cache of llama.cpp goes to, and what each buffer then holds.
// Rules of its src/llama-model.cpp, src/llama-model-loader.cpp and src/llama-context.cpp at commit
// 34af94cd (2026-08-17).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llama_cpp_context.h"
#include "units/checked.h"

namespace vramgauge {

/// Where things lie: an index into LlamaCppOptions::devices, or kHost.
struct LlamaCppPlacement {
  static constexpr uint64_t kHost = LlamaCppOverride::kHost;
  /// Per layer of the file, and of the output layer.
  std::vector<uint64_t> layer_device;
  uint64_t output_device = kHost;
  /// Per weight, where patterns send some elsewhere; empty = every weight lies beside its layer. A
  /// weight that every layer needs has a copy on each device that holds a layer; for it this is the
  /// device of the first layer.
  std::vector<uint64_t> weight_device;
  /// Caches follow their layers; otherwise they lie in host memory.
  bool offloads_cache = true;
  /// Work is handed from GPU to GPU in four batches at once, whose inputs are all kept.
  bool is_pipelined = false;

  uint64_t cache_device(uint64_t layer) const;
  /// The device of model.weights[weight].
  uint64_t device_of(const LlamaCppModel& model, size_t weight) const;
  /// Some weights besides the embeddings lie in host memory.
  bool has_host_weights(const LlamaCppModel& model) const;
};

/// Bytes by buffer. Pinned memory is host memory that a GPU reads directly; repacked matrices are
/// those the CPU reads in a layout of its own.
struct LlamaCppBufferBytes {
  CheckedU64 cpu;
  CheckedU64 cpu_repack;
  CheckedU64 pinned;
  std::vector<CheckedU64> gpus;

  CheckedU64 sum() const;
};

/// Weights, caches and output rows of a context, without what a computation needs.
struct LlamaCppStored {
  LlamaCppBufferBytes weights;
  /// Keys and values of layers that keep the whole context, and of those with a window.
  LlamaCppBufferBytes kv_full;
  LlamaCppBufferBytes kv_windowed;
  LlamaCppBufferBytes indexer;
  LlamaCppBufferBytes state;
  LlamaCppBufferBytes output;
};

/// Devices of layers and weights. Error: llama_cpp.bad_pattern; value.out_of_range for an override
/// or split that names devices there are not.
Result<LlamaCppPlacement> llama_cpp_placement(const LlamaCppModel& model,
                                              const LlamaCppOptions& options);

/// The bytes of every buffer.
LlamaCppStored llama_cpp_stored(const LlamaCppModel& model, const LlamaCppContext& context,
                                const LlamaCppPlacement& placement, uint64_t num_devices);

}  // namespace vramgauge

// Where llama.cpp puts each weight tensor, and how many bytes it takes there. Rules read from its
// sources at commit 34af94cd (2026-08-17); tests/truth compares the sums with its own accounting.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_header.h"
#include "units/bytes.h"
#include "units/ggml_types.h"

namespace vramgauge {

/// A tensor as the file or the type chooser has it, innermost dimension first.
struct LlamaCppTensor {
  std::string name;
  std::array<uint64_t, 4> dims{1, 1, 1, 1};
  GgmlType type = GgmlType::f32;
};

/// Which device a weight follows.
enum class LlamaCppPlace {
  host,             ///< embeddings: always in host memory
  layer,            ///< the device of its layer
  output,           ///< the device of the output layer
  every_layer,      ///< a copy on each device that holds a layer
  every_full_layer  ///< a copy on each device that holds a layer without a window
};

/// One weight after loading.
struct LlamaCppWeight {
  /// Index into the list it was made from.
  size_t tensor = 0;
  LlamaCppPlace place = LlamaCppPlace::layer;
  /// Layer it follows; 0 for what belongs to no layer but is used in front of the first one.
  uint64_t layer = 0;
  /// Bytes when it stays on the CPU; 0 for a tied output that reads the embedding in place.
  uint64_t cpu_bytes = 0;
  /// Bytes in host memory that a GPU reads, where nothing is repacked.
  uint64_t pinned_bytes = 0;
  /// On the CPU it goes to the buffer of repacked matrices (AVX2).
  bool is_repacked = false;
  /// Bytes on a GPU.
  uint64_t gpu_bytes = 0;
  /// Routed experts, which --n-cpu-moe keeps on the CPU.
  bool is_expert = false;
};

/// The weights of a model whose first `num_layers` layers are loaded; layers behind them, which
/// only predict further tokens, are skipped. A tied output is one more weight.
std::vector<LlamaCppWeight> llama_cpp_weights(std::string_view architecture, uint64_t num_layers,
                                              const std::vector<LlamaCppTensor>& tensors);

/// Sums over a model, all on the CPU or all on one GPU.
struct LlamaCppBuffers {
  Bytes cpu_plain;
  Bytes cpu_repack;
  Bytes gpu_device;
  /// Stays in host memory when the GPU holds every layer.
  Bytes gpu_host;
};

/// Nothing when a sum exceeds kMaxApiBytes.
std::optional<LlamaCppBuffers> llama_cpp_buffers(const std::vector<LlamaCppWeight>& weights);

/// The tensors of a header for llama_cpp_weights.
std::vector<LlamaCppTensor> llama_cpp_tensors(const GgufHeader& header);

}  // namespace vramgauge

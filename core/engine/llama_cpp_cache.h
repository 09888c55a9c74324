// Bytes of llama.cpp's caches, layer by layer: keys and values, index keys and recurrent states.
// Rules of its src/llama-kv-cache*.cpp and src/llama-memory-*.cpp at commit 34af94cd (2026-08-17).
#pragma once

#include <cstdint>

#include "engine/llama_cpp_context.h"
#include "units/checked.h"

namespace vramgauge {

/// What one layer keeps, in bytes of the buffer it lies in.
struct LlamaCppLayerBytes {
  /// Keys and values of a layer that keeps the whole context, or of one with a window.
  CheckedU64 full;
  CheckedU64 windowed;
  CheckedU64 indexer;
  CheckedU64 state;
};

/// The caches of model.layers[layer]. A GPU aligns tensors more coarsely than the CPU and pads the
/// rows of quantised ones. Poisoned on overflow, or when a row does not fill whole blocks.
LlamaCppLayerBytes llama_cpp_layer_bytes(const LlamaCppModel& model, const LlamaCppContext& context,
                                         uint64_t layer, bool is_on_gpu);

/// What one more cell costs in a layer that keeps the whole context, index key included.
CheckedU64 llama_cpp_cell_bytes(const LlamaCppModel& model, const LlamaCppContext& context,
                                uint64_t layer);

/// Bytes of a tensor of `rows` rows as a buffer stores it.
CheckedU64 llama_cpp_stored_bytes(GgmlType type, uint64_t row_elements, CheckedU64 rows,
                                  bool is_on_gpu);

/// The buffer of logits that a context begins with: a row per sequence. It grows once a batch wants
/// more rows.
CheckedU64 llama_cpp_output_bytes(const LlamaCppModel& model, const LlamaCppContext& context);

}  // namespace vramgauge

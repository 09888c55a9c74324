// What the tensors of a GGUF file are for, by their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_header.h"
#include "specs/stored_tensor.h"

namespace vramgauge {

/// What a name says.
struct GgufTensorName {
  TensorRole role = TensorRole::other;
  /// Layer of "blk.N.", or -1.
  int64_t layer = -1;
  /// The name as weight_tensors() gives it, below its layer: "self_attn.q_proj". Norms, and what
  /// only a few families have, keep the file's name.
  std::string name;
  /// A matrix of a linear layer or an embedding, provided it has two dimensions.
  bool is_matrix = false;
  /// Part of the vector or matrix of the same name: ".bias", ".scale".
  bool is_known = true;
};

/// Takes a name apart; an unknown one has the role `other` and is_known false.
GgufTensorName read_gguf_tensor_name(std::string_view name);

/// The layer of "blk.N.rest", with the rest; nothing for other names.
struct GgufLayerName {
  uint64_t layer = 0;
  std::string_view rest;
};
std::optional<GgufLayerName> split_gguf_layer(std::string_view name);

/// Every tensor with its role, shape, type and bytes, in the order of the file. Layers that only
/// predict further tokens (ARCH.nextn_predict_layers) have the role mtp throughout.
std::vector<StoredTensor> gguf_stored_tensors(const GgufHeader& header);

/// Layers of the file that generate, and those behind them that only predict further tokens.
struct GgufLayerCounts {
  uint64_t decoder = 0;
  uint64_t nextn = 0;
};
GgufLayerCounts gguf_layer_counts(const GgufHeader& header);

}  // namespace vramgauge

// What the tensors of a Hugging Face checkpoint are for, by their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "specs/model_spec.h"

namespace vramgauge {

struct SafetensorsName {
  TensorRole role = TensorRole::other;
  /// Decoder layer, or -1; towers count their own layers and have -1.
  int64_t layer = -1;
  /// The matrix of a linear layer, an embedding or experts, in whatever packing; false for biases,
  /// scales, zero points and the like.
  bool is_weight = false;
  /// Part of a layer that only predicts further tokens.
  bool marks_mtp = false;
  /// Part of a LoRA adapter.
  bool is_adapter = false;
};

/// Takes a name apart: "model.layers.3.mlp.experts.7.up_proj.weight".
SafetensorsName read_safetensors_name(std::string_view name);

}  // namespace vramgauge

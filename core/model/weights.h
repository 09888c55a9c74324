// The stored tensors of a model, derived from its layers.
#pragma once

#include <vector>

#include "specs/model_spec.h"

namespace vramgauge {

/// Every tensor that the checkpoint stores: embeddings, layers, final norm, output (absent when it
/// is tied to the embedding), multi-token-prediction layers, towers. Equal experts are one entry.
std::vector<WeightTensor> weight_tensors(const ModelSpec& spec);

}  // namespace vramgauge

// A model's weight tensors as the converter to GGUF names, splits and stacks them.
#pragma once

#include <vector>

#include "model/gguf_mix.h"
#include "specs/model_spec.h"

namespace vramgauge {

/// What the engine loads of a GGUF file made from these: experts stacked, fused projections split
/// where the converter splits them. Vision and audio towers go to a file of their own; layers for
/// multi-token prediction are not converted or not loaded. Both are left out.
std::vector<GgufTensor> gguf_tensors(const std::vector<WeightTensor>& tensors,
                                     const ModelSpec& spec);

/// What the type chooser asks about the model.
GgufFacts gguf_facts(const ModelSpec& spec);

}  // namespace vramgauge

// Weights as the model's own files hold them: counted, not derived.
#pragma once

#include <vector>

#include "model/llama_cpp_weights.h"
#include "model/weight_formats.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// Bytes of the tensors that an engine loads, by role group and storage type; basis exact. Layers
/// that only predict further tokens are left out, as everywhere. Error: value.overflow.
Result<FormattedWeights> stored_weights(const StoredModel& stored);

/// The tensors of a GGUF file for llama_cpp_weights(), drafts included; empty for safetensors.
/// Pass ModelSpec::layers.size() as its number of layers.
std::vector<LlamaCppTensor> llama_cpp_tensors(const StoredModel& stored);

}  // namespace vramgauge

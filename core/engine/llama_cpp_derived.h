// A model without a GGUF file of its own: what llama.cpp's converter and quantiser would make of
// its configuration.
#pragma once

#include <string_view>

#include "engine/llama_cpp_model.h"
#include "model/weight_formats.h"

namespace vramgauge {

/// general.architecture that the converter gives a model of this model_type; empty when it knows
/// none.
std::string_view llama_cpp_architecture(const ModelSpec& spec);

/// The file's tensors and layers in a GGUF format. Errors: model.unsupported for a model that
/// llama.cpp does not convert or a mixer whose cache is not known; format.* for a format that is no
/// GGUF type or mix, or that does not fit the model.
Result<LlamaCppModel> llama_cpp_model(const ModelSpec& spec, const WeightFormat& format);

}  // namespace vramgauge

// The headers of model files as a StoredModel.
#pragma once

#include "import/gguf_header.h"
#include "import/safetensors.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// Tensors of a GGUF header (merged, when the model is split) with the roles of
/// gguf_stored_tensors().
StoredModel stored_model(const GgufHeader& header);

/// Tensors of a checkpoint that join_safetensors() put together; equal tensors of a layer whose
/// names differ in a number only become one.
StoredModel stored_model(const SafetensorsCheckpoint& checkpoint);

}  // namespace vramgauge

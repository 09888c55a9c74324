// A GGUF header as a ModelSpec.
#pragma once

#include "import/gguf_header.h"
#include "import/hf_config.h"
#include "units/error.h"

namespace vramgauge {

/// Reads the model that a header (merged, when the model is split) describes. The tensors settle
/// what the keys leave open: which layers have attention, a recurrent state or experts, which
/// projections have biases and norms. spec.model_type is the Hugging Face name of the architecture.
/// Everything the header lists is in the layers or their extras, so that weight_tensors() of the
/// result has as many elements as the file. Errors: model.unknown_architecture for an architecture
/// whose cache rule is not known, model.unsupported, model.encoder_only, model.adapter, gguf.*.
Result<ImportedModel> import_gguf(const GgufHeader& header);

}  // namespace vramgauge

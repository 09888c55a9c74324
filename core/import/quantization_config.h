// quantization_config of a Hugging Face config.json, in its dialects.
#pragma once

#include <optional>

#include "specs/quantization.h"
#include "units/json.h"

namespace vramgauge {

/// Reads how a checkpoint is quantised; nothing when it is not. `config` is the whole config.json;
/// `beside` is hf_quant_config.json, or null. Errors point into `config` (or, for `beside`, into
/// that file): format.unknown_quantization for a method whose layout is not known, format.refused
/// where the configuration alone does not fix the sizes, format.unsupported_pattern for a module
/// pattern that is not understood.
///
/// Sources: the configuration classes of huggingface/transformers (utils/quantization_config.py),
/// vllm-project/compressed-tensors (quant_args.py, quant_config.py) and NVIDIA's Model Optimizer
/// (torch/export), and what their writers store beside the codes.
Result<std::optional<QuantizationConfig>> read_quantization(const json::Value& config,
                                                            const json::Value* beside);

}  // namespace vramgauge

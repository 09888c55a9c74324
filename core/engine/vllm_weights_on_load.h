// Quantisation that vLLM does itself while it loads a 16-bit checkpoint (--quantization NAME), as
// the configuration that such a checkpoint would have. Other engines that take the same names
// (SGLang's fp8) leave the same layers alone.
#pragma once

#include <string>
#include <string_view>

#include "specs/quantization.h"
#include "units/error.h"

namespace vramgauge {

/// What `name` does to a 16-bit checkpoint. Embeddings, the output and routers stay as they are;
/// methods for experts leave everything else. Error: format.unknown_quantization for a name that
/// needs a quantised checkpoint or that is not known (pointer: `path`).
///
/// Sources: vLLM 0.19, model_executor/layers/quantization: fp8.py (Fp8LinearMethod and
/// Fp8MoEMethod with a checkpoint that is not fp8), experts_int8.py, bitsandbytes.py with
/// model_loader/bitsandbytes_loader.py, and config/quantization.py for the online names.
Result<QuantizationConfig> vllm_quantization_on_load(std::string_view name, std::string path = {});

}  // namespace vramgauge

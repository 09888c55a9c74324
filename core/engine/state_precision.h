// Widths of recurrent states in server engines.
#pragma once

#include "model/cache_layout.h"

namespace vramgauge {

/// Convolutions' tails have the model's width; temporal states what the configuration asks for
/// (mamba_ssm_dtype, mamba_ssm_cache_dtype), else that of the model too, but fp32 where the delta
/// rule is channel-wise (vLLM's model_executor/layers/mamba/mamba_utils.py, _mamba_state_dtype and
/// kda_state_dtype; models/config.py copies the configuration's type into mamba_ssm_cache_dtype).
StatePrecision server_state_precision(const ModelSpec& spec, uint64_t dtype_bytes);

}  // namespace vramgauge

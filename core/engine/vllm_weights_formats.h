// What vLLM makes of a checkpoint's own format: which codes, scales and zeros stay in memory, and
// what its kernels pad. Rules as of vLLM 0.19 on CUDA (model_executor/layers/quantization).
#pragma once

#include <vector>

#include "engine/vllm_weights.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// How vLLM keeps each of `tensors` (weight_tensors of the model that `quantization` was resolved
/// against) on a GPU of this compute capability (times ten: 90). Errors: quantization.refused;
/// format.refused for a format that vLLM does not load and for experts of one layer that are stored
/// differently.
Result<std::vector<VllmStorage>> vllm_storage(const std::vector<WeightTensor>& tensors,
                                              const ResolvedQuantization& quantization,
                                              uint64_t compute_capability);

}  // namespace vramgauge

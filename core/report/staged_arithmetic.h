// The arithmetic of engines that are asked stage by stage: SGLang, TensorRT-LLM, Transformers.
#pragma once

#include <vector>

#include "engine/cache_sums.h"
#include "engine/sglang.h"
#include "engine/transformers.h"
#include "engine/trtllm.h"
#include "engine/vllm_weights.h"

namespace vramgauge {

/// Parameters, tables and rounding of the first rank of a stage.
std::vector<ArithmeticLine> loaded_weight_lines(const VllmLoadedWeights& weights);

/// One line for each kind of layer that a stage has.
std::vector<ArithmeticLine> counted_cache_lines(const CacheSums& sums, const CacheCounts& counts);

/// Fill in the arithmetic of all terms but the weights.
void explain_sglang(SglangEstimate& estimate, const SglangInputs& inputs,
                    const SglangProfile& profile);
void explain_trtllm(TrtllmEstimate& estimate, const TrtllmInputs& inputs,
                    const TrtllmProfile& profile);
void explain_transformers(TransformersEstimate& estimate, const TransformersInputs& inputs,
                          const TransformersProfile& profile);

}  // namespace vramgauge

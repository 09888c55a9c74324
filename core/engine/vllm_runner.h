// Which of vLLM's two model runners serves a model, and which sampler it profiles. From 0.21 on
// the second one (v1/worker/gpu/model_runner.py) took over by kinds of models; it profiles a
// sampler that neither filters nor sorts, and up to 0.28 it set nothing aside for CUDA graphs.
#pragma once

#include "engine/vllm.h"

namespace vramgauge {

/// Whether the second runner serves such a model by default (config/vllm.py, use_v2_model_runner;
/// models it does not know how to run, such as those that draft by n-grams, are not told apart).
bool runs_on_second_runner(const VllmInputs& inputs, const VllmSecondRunner& rules);

/// The constants as they hold for this model, its runner and its sampler. Applied twice it gives
/// the same.
VllmProfile vllm_profile_for(const VllmInputs& inputs, const VllmProfile& profile);

}  // namespace vramgauge

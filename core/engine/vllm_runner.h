// Which of vLLM's two model runners serves a model, and which sampler it profiles. From 0.22 on
// the second one (v1/worker/gpu/model_runner.py) took over by kinds of models; it profiles a
// sampler that neither filters nor sorts, and up to 0.28 it set nothing aside for CUDA graphs.
#pragma once

#include "engine/vllm.h"

namespace vramgauge {

/// Whether the second runner serves such a model by default (config/vllm.py, use_v2_model_runner).
/// What it cannot do falls back to the first; of that, drafts of other origin are known here.
bool runs_on_second_runner(const VllmInputs& inputs, const VllmSecondRunner& rules);

/// The constants as they hold for this model, its runner and its sampler. Applied twice it gives
/// the same.
VllmProfile vllm_profile_for(const VllmInputs& inputs, const VllmProfile& profile);

}  // namespace vramgauge

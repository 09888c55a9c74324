// The arithmetic of vLLM's terms, with the numbers in it.
#pragma once

#include "engine/vllm.h"

namespace vramgauge {

/// Fills in the lines and the sources of all terms of an estimate.
void explain_vllm(VllmEstimate& estimate, const VllmInputs& inputs, const VllmProfile& profile);

}  // namespace vramgauge

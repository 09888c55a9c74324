// The arithmetic of an estimate of llama.cpp, with the numbers in it.
#pragma once

#include <string>

#include "engine/llama_cpp.h"

namespace vramgauge {

/// Fills lines and sources of every term of every device.
void explain_llama_cpp(LlamaCppEstimate& estimate, const LlamaCppModel& model,
                       const std::string& source);

}  // namespace vramgauge

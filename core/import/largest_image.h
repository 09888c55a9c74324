// The largest image that a configuration's vision tower takes.
#pragma once

#include <optional>

#include "specs/model_spec.h"
#include "units/json.h"

namespace vramgauge {

/// The image of a config.json's vision tower; nothing without one, and for a tower whose largest
/// image is not known. Sizes are those of vLLM 0.19's model files (gemma3_mm.py, pixtral.py,
/// qwen2_vl.py, qwen3_vl.py).
std::optional<LargestImage> largest_image(const json::Value& config);

}  // namespace vramgauge

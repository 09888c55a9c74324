// Questions about a whole model that several engines and the planner ask.
#pragma once

#include <algorithm>
#include <variant>

#include "specs/model_spec.h"

namespace vramgauge {

/// Whether any layer routes tokens to experts.
inline bool has_experts(const ModelSpec& spec) {
  return std::any_of(spec.layers.begin(), spec.layers.end(),
                     [](const Layer& layer) { return std::holds_alternative<MoeFfn>(layer.ffn); });
}

}  // namespace vramgauge

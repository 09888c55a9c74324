// Questions about a whole model that several engines and the planner ask.
#pragma once

#include <algorithm>
#include <variant>

#include "specs/model_spec.h"

namespace vramgauge {

/// Whether `is_asked_for` holds for any mixer of any layer.
template <typename Predicate>
bool any_mixer(const ModelSpec& spec, Predicate is_asked_for) {
  return std::any_of(spec.layers.begin(), spec.layers.end(), [&](const Layer& layer) {
    return std::any_of(layer.mixers.begin(), layer.mixers.end(), is_asked_for);
  });
}

/// Whether any layer has a mixer of this kind.
template <typename Kind>
bool has_mixer(const ModelSpec& spec) {
  return any_mixer(spec, [](const Mixer& mixer) { return std::holds_alternative<Kind>(mixer); });
}

/// Whether any layer routes tokens to experts.
inline bool has_experts(const ModelSpec& spec) {
  return std::any_of(spec.layers.begin(), spec.layers.end(),
                     [](const Layer& layer) { return std::holds_alternative<MoeFfn>(layer.ffn); });
}

}  // namespace vramgauge

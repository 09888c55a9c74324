// The arithmetic of a breakdown, with the numbers in it.
#pragma once

#include <vector>

#include "engine/generic.h"
#include "model/weight_formats.h"
#include "specs/breakdown.h"

namespace vramgauge {

/// One line per way of storing, their sum, and the division over devices.
std::vector<ArithmeticLine> weight_lines(const FormattedWeights& weights,
                                         const WeightFormat& format, uint64_t gpu_count);

/// Bytes per token of each kind of layer, bytes of one request, and of all.
std::vector<ArithmeticLine> cache_lines(const CacheLayout& layout, const Scenario& scenario);

/// The activation and fixed terms of the rule of thumb.
std::vector<ArithmeticLine> generic_activation_lines(const Scenario& scenario,
                                                     const GenericModel& model, Bytes weights,
                                                     Bytes cache);
std::vector<ArithmeticLine> generic_runtime_lines(const Scenario& scenario);

}  // namespace vramgauge

// A calibration in an estimate's arithmetic.
#pragma once

#include "specs/breakdown.h"
#include "specs/calibration.h"

namespace vramgauge {

/// The label of the line that says what a log added.
inline constexpr std::string_view kCalibratedLabel = "calibrated";

/// Says of each corrected term of a GPU what was predicted, what was added and that a log said so.
void explain_calibration(Breakdown& breakdown, const Calibration& calibration);

}  // namespace vramgauge

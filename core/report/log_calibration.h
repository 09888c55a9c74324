// What a log teaches: by how much each term of an estimate is to be moved from now on.
#pragma once

#include "plan/log_check.h"
#include "specs/calibration.h"
#include "units/json.h"

namespace vramgauge {

/// The correction that makes an estimate say what the log measured, with the one that was in force
/// while it was predicted. Terms that the log states are moved by their residuals, but exact ones
/// not at all; what agrees as far as it is printed stays. Where a log states no term but the pool,
/// the whole difference goes to the term with the widest band; where it is all that llama.cpp's
/// process holds, to its context (runtime).
Calibration log_correction(const LogCheck& check, const Calibration& in_force);

/// {"engine", "engine_version", "gpu", "model", "terms": [{"term", "add_bytes"}], "text",
/// "scenario_patch"} or null when there is nothing to move. `text` is what the scenario's field
/// calibration takes: "activations=+0.42,runtime=-0.11", in GiB.
json::Value log_calibration(const EngineLog& log, const Calibration& correction);

}  // namespace vramgauge

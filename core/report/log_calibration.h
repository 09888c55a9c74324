// What a log teaches: by how much each term of an estimate is to be moved from now on.
#pragma once

#include "plan/log_check.h"
#include "units/json.h"

namespace vramgauge {

/// {"engine", "engine_version", "gpu", "model", "terms": [{"term", "add_bytes", "line"}], "text"}
/// or null when there is nothing to move. A term is one of an estimate's (weights, activations,
/// runtime); `text` is the same as one short word for a scenario or link:
/// "activations=+0.42,runtime=-0.11", in GiB. What agrees as far as it is printed is left out.
json::Value log_calibration(const EngineLog& log, const LogCheck& check);

}  // namespace vramgauge

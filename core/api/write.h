// Results as JSON, see core/api/README.md.
#pragma once

#include "api/resolve.h"
#include "specs/breakdown.h"
#include "units/json.h"

namespace vramgauge::api {

json::Value write_model(const LoadedModel& model);

json::Value write_estimate(const Scenario& scenario, const LoadedModel& model,
                           const Resolved& resolved, const EngineAnswer& answer);

}  // namespace vramgauge::api

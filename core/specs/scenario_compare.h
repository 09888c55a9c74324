// Scenarios field by field.
#pragma once

#include "specs/scenario.h"

namespace vramgauge {

/// Whether two scenarios hold the same in a field.
bool has_same(const Scenario& a, const Scenario& b, const Field& field);

void copy_field(const Scenario& from, Scenario& to, const Field& field);

/// The fields of `to` that differ from `from`, as JSON.
json::Value scenario_patch(const Scenario& from, const Scenario& to);

}  // namespace vramgauge

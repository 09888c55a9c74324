// The methods `command` and `parse_command`: a scenario as its engine's command line, and back.
// Neither needs a catalogue; what a model's name means there is added by command_models.h.
#pragma once

#include "api/envelope.h"

namespace vramgauge::api {

/// {"scenario", "launcher"} -> {"engine", "lines", "not_carried"}.
Answer write_command(const json::Value& request);

/// {"text"} -> {"engine", "launcher", "program", "model", "scenario_patch", "unknown", "ignored",
/// "not_modelled"}; `model` has the names that a catalogue may know it by.
Answer parse_command(const json::Value& request);

}  // namespace vramgauge::api

// A scenario against what a machine really has.
#pragma once

#include <vector>

#include "probe_report.h"
#include "program.h"

namespace vramgauge::tools {

/// An envelope whose result compares the prediction with each device's free memory:
/// {"verdict", "devices", "scenario", "estimate"}. `probe` is the machine's document, whose GPUs
/// enter the program's catalogue; the engine's GPUs are the first that the machine shows. Where the
/// engine's own rules say more than free memory does, the worse verdict stands.
json::Value validate_scenario(Program& program, json::Value scenario, const json::Value& probe);

/// The result of validate_scenario for people.
std::string validate_text(const json::Value& result);

/// Exit code of a verdict: 0 fits, 1 does not, 2 tight.
int exit_code_of(const json::Value& result);

}  // namespace vramgauge::tools

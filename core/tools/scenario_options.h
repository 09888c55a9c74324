// The options of commands that take a scenario.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace vramgauge::tools {

/// A flag for each field, and the sources that fields come from.
void add_scenario_options(CLI::App& command, ScenarioSource& source);

}  // namespace vramgauge::tools

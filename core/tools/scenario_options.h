// The options of commands that take a scenario.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace vramgauge::tools {

/// A flag for each field, and the sources that fields come from; also a link as an argument.
void add_scenario_options(CLI::App& command, ScenarioSource& source);
/// The same without the argument, for commands that have arguments of their own.
void add_scenario_flags(CLI::App& command, ScenarioSource& source);

}  // namespace vramgauge::tools

// The commands of the planner: solve, advise, search, sweep, traffic, speed.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace vramgauge::tools {

/// Adds the commands; the references must outlive the parse.
void add_plan_commands(CLI::App& app, ScenarioSource& source, bool& as_json, int& exit_code);

}  // namespace vramgauge::tools

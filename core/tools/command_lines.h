// vramgauge command and vramgauge parse-command: a scenario as its engine's command line, and back.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "program.h"

namespace vramgauge::tools {

void add_command_line_commands(CLI::App& app, int& exit_code);

/// Puts what the command line in a file (or standard input, for "-") means into a scenario, and
/// lists what it does not mean on the error stream; false, with the exit code, when it cannot be
/// read.
bool add_command_file(Program& program, const std::string& path, json::Value& scenario,
                      int& exit_code);

}  // namespace vramgauge::tools

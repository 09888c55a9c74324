// The commands that ask this machine's driver, for main().
#pragma once

#include <CLI/CLI.hpp>

namespace vramgauge::tools {

/// Adds calibrate, probe, serve and validate; each leaves its exit code in `exit_code`.
void add_device_commands(CLI::App& app, int& exit_code);

}  // namespace vramgauge::tools

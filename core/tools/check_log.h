// The command that sets a start-up log beside what is predicted for it.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "commands.h"

namespace vramgauge::tools {

struct CheckLogOptions {
  /// The log, or - for standard input; read in pieces, of any length.
  std::string file;
  /// What the log does not state, or states otherwise.
  ScenarioSource source;
  /// Takes the log as a row of a truth file, which `accuracy` reads; - for standard output.
  std::string observation_file;
  /// Takes by how much the estimate's terms are to be moved.
  std::string calibration_file;
  bool as_json = false;
};

/// Prints the comparison. Returns an exit code of commands.h: kCannotTell when nothing in the text
/// is of a log.
int run_check_log(const CheckLogOptions& options);

/// Adds the command check-log.
void add_check_log_command(CLI::App& app, int& exit_code);

}  // namespace vramgauge::tools

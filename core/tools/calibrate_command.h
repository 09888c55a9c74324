// vramgauge calibrate
#pragma once

#include <string>
#include <vector>

#include "calibrate_device.h"
#include "commands.h"

namespace vramgauge::tools {

struct CalibrateOptions {
  /// http://127.0.0.1:PORT of a running engine, or files with what its endpoints answered, or
  /// "device".
  std::vector<std::string> from;
  /// Takes the figures as a row of a truth file, which `accuracy` reads; - for standard output.
  std::string observation_file;
  /// Takes what to change in estimates from now on.
  std::string calibration_file;
  /// What an engine does not state of its own scenario.
  ScenarioSource source;
  /// For "device".
  PrefillShape shape;
  bool as_json = false;
};

/// Reads what a running engine states, or measures the device's own scratch. Exit code 3 when
/// nothing is learnt.
int run_calibrate(const CalibrateOptions& options);

}  // namespace vramgauge::tools

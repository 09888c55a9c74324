// vramgauge validate
#pragma once

#include <string>

#include "commands.h"

namespace vramgauge::tools {

struct ValidateOptions {
  /// With `hardware_file`, the machine is the saved one.
  ScenarioSource source;
  bool allocates = false;
  /// Stays free on each device while allocating, in GiB.
  double margin_gib = 0.25;
  uint64_t timeout_s = 120;
  bool as_json = false;
};

/// Compares a scenario with this machine. Exit code 0 fits, 1 does not fit, 2 tight, 3 cannot tell,
/// 64 wrong usage.
int run_validate(const ValidateOptions& options);

}  // namespace vramgauge::tools

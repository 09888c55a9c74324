// From single settings to a scenario: what they mean together, by engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/command_line.h"

namespace vramgauge {

/// A setting that a row of the table knows.
struct CommandSetting {
  const EngineFlag* row = nullptr;
  std::string flag;
  std::string value;
  bool is_negated = false;
};

/// Fills the scenario, its fields and the model of `command` from settings in the order in which
/// later ones win. `command.engine` and `command.program` are set.
void settle_command(ParsedCommand& command, const std::vector<CommandSetting>& settings);

}  // namespace vramgauge

// A scenario as the command line of its engine. It has what differs from the engine's own choice
// and what the answer depends on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "specs/engine_flags.h"
#include "specs/scenario.h"

namespace vramgauge {

/// A text to run or to save, and what reads it: "vllm", "Modelfile".
struct CommandText {
  std::string program;
  std::string text;
};

struct WrittenCommand {
  CommandEngine engine = CommandEngine::vllm;
  /// In the order in which they are used; together they are read again by parse_command_line.
  std::vector<CommandText> lines;
  /// Fields that the engine reads, that differ from their defaults and that no setting says: how
  /// many requests come, which GPU it is.
  std::vector<std::string_view> not_carried;
  Diagnostics notes;
};

/// Writes a scenario. `launcher` is "ollama" for llama.cpp started by it, else empty. Errors carry
/// pointers below /scenario: command.no_program, engine.not_divisible; value.not_a_choice for a
/// launcher.
Result<WrittenCommand> write_command_line(const Scenario& scenario, std::string_view launcher);

}  // namespace vramgauge

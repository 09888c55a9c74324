// An engine's command line as a scenario.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/model_name.h"
#include "specs/engine_flags.h"
#include "specs/scenario.h"

namespace vramgauge {

/// A setting as it was given; no value where it has none or may be a secret.
struct GivenFlag {
  std::string flag;
  std::string value;
};

/// What a command line means.
struct ParsedCommand {
  CommandEngine engine = CommandEngine::vllm;
  std::string program;
  ModelName model;
  /// A model that drafts; its text is empty where none does.
  ModelName draft;
  /// `fields` of it are what the command says or, by leaving them out, means.
  Scenario scenario;
  std::vector<std::string_view> fields;
  /// Settings that nothing is known of.
  std::vector<GivenFlag> unknown;
  /// Known to have nothing to do with memory.
  std::vector<GivenFlag> ignored;
  /// They have, but no field of a scenario is for them.
  std::vector<GivenFlag> not_modelled;
  Diagnostics warnings;
};

/// Reads a text (import/command_source.h says in which forms). Errors: command.unreadable,
/// command.not_found.
Result<ParsedCommand> parse_command_line(std::string_view text);

}  // namespace vramgauge

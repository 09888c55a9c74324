// Where a command stands in a text: in a shell, in docker run, in a Compose file or a Kubernetes
// manifest, in a Modelfile or a Python script.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/shell_words.h"
#include "specs/engine_flags.h"
#include "units/json.h"

namespace vramgauge {

/// A program of an engine and what it is given.
struct CommandSource {
  CommandEngine engine = CommandEngine::vllm;
  /// As it is called: "vllm serve", "llama-bench", "ollama run".
  std::string program;
  /// From an image's tag: "0.11.0", "b6975"; or empty.
  std::string version;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> arguments;
  std::vector<HereDocument> documents;
  /// Parameters of a Modelfile or arguments of a script, lower-case names, in their order.
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// Finds the first command of an engine. Variables that the text itself sets are filled in.
/// Errors: command.unreadable, command.not_found.
Result<CommandSource> find_command(std::string_view text);

}  // namespace vramgauge

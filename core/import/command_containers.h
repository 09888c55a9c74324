// Commands in Compose files, Kubernetes manifests and lists of arguments.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramgauge {

/// What a container runs: its entry point, command and arguments together.
struct ContainerCommand {
  std::string image;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// All containers of a text in YAML or JSON, in their order, or a bare list of arguments; nothing
/// where it does not look like one.
std::vector<ContainerCommand> container_commands(std::string_view text);

}  // namespace vramgauge

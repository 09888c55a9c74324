// Settings as texts that a shell, Ollama or Python reads.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/command_line.h"

namespace vramgauge {

/// Collects settings by where they stand: on the command line, in the environment, in a file.
class ShellText {
 public:
  /// `program` is the scenario's.
  ShellText(CommandEngine engine, std::string_view program) : engine_(engine), program_(program) {}

  void set_model(std::string_view flag, std::string model);
  /// A setting by its spelling with the mark of its kind (EngineFlag::names); no value = a switch.
  void add(std::string_view name, std::string_view value);

  std::vector<CommandText> lines() const;

 private:
  std::string command(std::string_view start) const;
  std::vector<CommandText> ollama_lines() const;
  std::string script() const;

  using Settings = std::vector<std::pair<std::string, std::string>>;

  CommandEngine engine_;
  std::string program_;
  std::string model_flag_;
  std::string model_;
  std::string arguments_;
  Settings environment_;
  /// Parameters of a Modelfile, options of a file, arguments of a script.
  Settings parameters_;
};

}  // namespace vramgauge

#include "scenario_options.h"

#include <string>

#include "specs/scenario.h"

namespace vramgauge::tools {
namespace {

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  for (char& c : flag) {
    if (c == '_') c = '-';
  }
  return flag;
}

}  // namespace

void add_scenario_options(CLI::App& command, ScenarioSource& source) {
  command.add_option("link", source.link, "a scenario link, or its part after #");
  add_scenario_flags(command, source);
}

void add_scenario_flags(CLI::App& command, ScenarioSource& source) {
  command.add_option("--scenario", source.file,
                     "file with a scenario as JSON, or - for standard input");
  command.add_option("--config", source.config_file, "file with the model's config.json, or -");
  command.add_option("--from-command", source.command_file,
                     "file with an engine's command line (vllm serve ...), or -");
  command
      .add_option("--model-file", source.model_files,
                  "file of the model (GGUF, safetensors, index, config.json, saved JSON), or a "
                  "folder of them; may be repeated")
      ->take_all()
      ->expected(1);
  command.add_option("--hardware", source.hardware_file,
                     "file from vramgauge probe --json: its GPU in place of the catalogue's");
  for (const Field& field : scenario_fields()) {
    const std::string key(field.key);
    command.add_option_function<std::string>(
        flag_of(field.key),
        [&source, key](const std::string& value) { source.fields[key] = value; },
        "default " + field_text({}, field));
  }
}

}  // namespace vramgauge::tools

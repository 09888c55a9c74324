// The commands of the program. Each returns its exit code.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace vramgauge::tools {

/// Exit codes, the same for every command.
inline constexpr int kDone = 0;
inline constexpr int kCannotTell = 3;
inline constexpr int kUsage = 64;

/// How a scenario was given; later sources override earlier ones.
struct ScenarioSource {
  std::string link;
  /// File with a scenario as JSON, or - for standard input.
  std::string file;
  /// File with the model's config.json, or - for standard input.
  std::string config_file;
  /// File with an engine's command line, or - for standard input.
  std::string command_file;
  /// What `vramgauge probe --json` wrote: its first GPU takes the place of the catalogue's.
  std::string hardware_file;
  /// The model's own files, or a folder of them.
  std::vector<std::string> model_files;
  /// Field values by key, as typed.
  std::map<std::string, std::string> fields;
};

int run_estimate(const ScenarioSource& source, bool as_json);
/// What llama.cpp, or the launcher that is named, chooses where the scenario names nothing.
int run_fit(const ScenarioSource& source, const std::string& launcher, bool as_json);
int run_link(const ScenarioSource& source, bool decode);
int run_catalogue(const std::string& kind, const std::string& query, const std::string& limit,
                  bool as_json);
/// What the files of a model say; `spec_file`, when given, takes it as JSON for later.
int run_import(const std::vector<std::string>& files, const std::string& spec_file, bool as_json);
/// Any method of the facade: the request is JSON text, or - for standard input.
int run_call(const std::string& method, const std::string& request);

}  // namespace vramgauge::tools

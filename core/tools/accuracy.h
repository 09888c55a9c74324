// The command that compares predictions with what engines reported.
#pragma once

#include <string>
#include <vector>

namespace vramgauge::tools {

/// What to compare.
struct AccuracySource {
  /// Truth files, deflated or not.
  std::vector<std::string> files;
  /// Folders with the headers of the models that the files name.
  std::vector<std::string> header_folders;
  /// Folders with configurations (org__name.json) of models that the catalogue lacks.
  std::vector<std::string> config_folders;
  /// Whose rules apply: a build of llama.cpp such as b6975, a release of vLLM such as 0.19.0. Of an
  /// engine that is not named: the newest build, the release that a row states.
  std::vector<std::string> engine_versions;
  /// File with llama.cpp's rules by build; empty = the catalogue inside the program.
  std::string engine_file;
  uint64_t num_worst = 5;
};

/// Predicts every row of every file and prints how it compares. Returns an exit code of commands.h.
int run_accuracy(const AccuracySource& source, bool as_json);

}  // namespace vramgauge::tools

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
  /// Build whose rules apply, such as b6975; empty = the newest known.
  std::string engine_version;
  /// File with the engine's rules by build; empty = the catalogue inside the program.
  std::string engine_file;
  uint64_t num_worst = 5;
};

/// Predicts every row of every file and prints how it compares. Returns an exit code of commands.h.
int run_accuracy(const AccuracySource& source, bool as_json);

}  // namespace vramgauge::tools

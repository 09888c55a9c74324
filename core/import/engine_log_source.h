// Which worker of an engine wrote a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vramgauge {

/// Names workers by the prefixes of their lines.
class LogSources {
 public:
  /// "TP0", "PP1_TP0", "DP3", "rank2", or "worker1" where only a process is named (in the order in
  /// which processes come); empty for the engine itself and for lines without a prefix.
  std::string of(std::string_view line);

 private:
  std::string number_of(std::string_view process);

  std::vector<std::string> processes_;
};

/// What a record of a line in JSON holds ({"log": "...", "stream": ...}, {"message": ...}); empty
/// for a line that is no such record.
std::string inner_text(std::string_view line);

/// The text without escape sequences that colour a terminal.
std::string without_colours(std::string_view text);

}  // namespace vramgauge

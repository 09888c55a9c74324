// Reading test data.
#pragma once

#include <string>
#include <vector>

namespace vramgauge::testing {

/// A whole file; empty when it cannot be read.
std::string read_file(const std::string& path);
/// Names in a folder that end in `suffix`, sorted.
std::vector<std::string> names_in(const std::string& folder, const std::string& suffix);

}  // namespace vramgauge::testing

// Truth files as they are kept: deflated or not.
#pragma once

#include <optional>
#include <string>

namespace vramgauge::tools {

/// A whole file, inflated when it is a gzip file; nothing when it cannot be read or is too large.
std::optional<std::string> read_packed_file(const std::string& path);

}  // namespace vramgauge::tools

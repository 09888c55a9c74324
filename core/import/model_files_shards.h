// Files that their names number: model-00002-of-00005.safetensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramgauge::files {

/// The name of a file that belongs to a numbered set of which others are there, or nothing.
std::optional<std::string> missing_shard(const std::vector<std::string_view>& names);

}  // namespace vramgauge::files

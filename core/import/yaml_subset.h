// The YAML that Compose files, Kubernetes manifests and files of options are written in: mappings,
// lists, quoted and plain texts, texts of several lines. Every scalar stays text.
#pragma once

#include <string_view>

#include "units/json.h"

namespace vramgauge {

/// Reads all documents of a text as a list. What is not understood (anchors, tags, complex keys) is
/// text or left out: this only looks for commands. Never fails; deep or long texts are cut off.
json::Value read_yaml(std::string_view text);

}  // namespace vramgauge

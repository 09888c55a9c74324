// Headers of real GGUF files (tests/data/gguf_headers).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/gguf_header.h"

namespace vramgauge::testing {

/// Names of the headers there are: "llama-3.1-8b.Q4_K_M".
std::vector<std::string> gguf_names();
/// The bytes of one, unpacked.
std::string gguf_bytes(const std::string& name);
/// The header of one; throws when it does not parse.
GgufHeader gguf_header(const std::string& name);

/// Rows of a comma-separated table in tests/data, by column.
std::vector<std::map<std::string, std::string>> data_table(const std::string& file);

}  // namespace vramgauge::testing

// The flag columns of a table of llama.cpp's allocations.
#pragma once

#include <optional>
#include <string>

#include "accuracy_table.h"
#include "engine/llama_cpp_context.h"

namespace vramgauge::tools {

/// What the row's run was asked for; nothing, with the reason, when a column cannot be read.
std::optional<LlamaCppOptions> read_llama_cpp_flags(const TruthTable& table, uint64_t row,
                                                    std::string& reason);

}  // namespace vramgauge::tools

// Files that have been read, put together to one model.
#pragma once

#include <vector>

#include "import/model_files.h"

namespace vramgauge::files {

/// What the files say together; every one that is read is done.
Result<ImportedFiles> join(std::vector<File> files, const json::Value* class_defaults);

/// Adds what is said about a file, with its name where it is one of several, and with the line and
/// column where it is a text.
void append_located(Diagnostics& to, const File& file, uint64_t num_files,
                    const Diagnostics& diagnostics);

}  // namespace vramgauge::files

// Commands that are no command lines: Ollama's Modelfiles, scripts for Transformers, TensorRT-LLM's
// files of options.
#pragma once

#include <optional>
#include <string_view>

#include "import/command_source.h"

namespace vramgauge {

/// A text that is a Modelfile (it begins with FROM), a Python script that calls from_pretrained, or
/// nothing.
std::optional<CommandSource> read_script(std::string_view text);

/// Adds the parameters of the Modelfiles among a source's documents.
void read_modelfiles(CommandSource& source);

/// Adds the keys of the files of options among a source's documents, nested ones with a point
/// between: kv_cache_config.dtype.
void read_option_files(CommandSource& source);

}  // namespace vramgauge

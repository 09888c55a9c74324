// Settings that an engine prints as a list of keys and values on one line.
#pragma once

#include <string_view>
#include <vector>

#include "import/engine_log.h"

namespace vramgauge {

/// The settings in the rest of a line, in the forms key=value and 'key': value. Only keys that have
/// to do with memory are taken; "None" is no value. Names are those of the engine's command line.
std::vector<LogFlag> log_settings(LogEngine engine, std::string_view text);

}  // namespace vramgauge

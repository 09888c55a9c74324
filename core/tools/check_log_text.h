// A log's comparison as text.
#pragma once

#include <string>

#include "units/json.h"

namespace vramgauge::tools {

/// The result of the method check_log.
std::string log_check_text(const json::Value& result);

}  // namespace vramgauge::tools

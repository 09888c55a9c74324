// The planner's answers as text for people.
#pragma once

#include <string>

#include "units/json.h"

namespace vramgauge::tools {

std::string solve_text(const json::Value& result);

}  // namespace vramgauge::tools

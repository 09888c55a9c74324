// The planner's answers as text for people.
#pragma once

#include <string>

#include "units/json.h"

namespace vramgauge::tools {

std::string solve_text(const json::Value& result);
std::string advise_text(const json::Value& result);
std::string search_text(const json::Value& result);
/// A row of letters per value of y.
std::string sweep_text(const json::Value& result);
/// Names and values, one a line.
std::string facts_text(const json::Value& result);

}  // namespace vramgauge::tools

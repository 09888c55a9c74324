// Reading JSON that this program wrote itself: what is missing reads as nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "units/json.h"

namespace vramgauge::tools {

/// A member, or null.
const json::Value& member(const json::Value& value, std::string_view key);
/// The items of a list; none when it is no list.
const json::Value::Array& items(const json::Value& value);
/// A text; empty when it is none.
std::string text_of(const json::Value& value);
/// A whole number; 0 when it is none.
uint64_t number_of(const json::Value& value);
bool is_true(const json::Value& value);

}  // namespace vramgauge::tools

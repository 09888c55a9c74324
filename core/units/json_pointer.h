// What a JSON pointer (RFC 6901) leads to.
#pragma once

#include <string_view>

#include "units/json.h"

namespace vramgauge::json {

/// The value under `root` that a pointer of pointer_to leads to; null where it leads to none.
const Value* value_at(const Value& root, std::string_view pointer);

}  // namespace vramgauge::json

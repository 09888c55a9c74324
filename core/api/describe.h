// What the facade can be asked: fields with their ranges and defaults, names of terms, error codes.
#pragma once

#include "import/catalogue.h"
#include "units/json.h"

namespace vramgauge::api {

/// The answer of the method describe.
json::Value describe(const Catalogue& catalogue);

/// The release of the program.
std::string_view version();

}  // namespace vramgauge::api

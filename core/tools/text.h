// Text for people: the one place of the command line that turns bytes into GiB.
#pragma once

#include <string>

#include "units/json.h"

namespace vramgauge::tools {

/// "39.60 GiB" from exact bytes.
std::string gib_text(double bytes);

/// The breakdown of an estimate's result.
std::string estimate_text(const json::Value& result);
/// What was chosen for a scenario.
std::string fit_text(const json::Value& result);
/// The summary of a model or import result.
std::string model_text(const json::Value& result);
/// A list of catalogue entries.
std::string catalogue_text(const json::Value& result);
/// Errors or warnings, one a paragraph.
std::string diagnostics_text(const json::Value& diagnostics, const char* kind);

}  // namespace vramgauge::tools

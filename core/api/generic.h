// A scenario as the rule of thumb reads it.
#pragma once

#include <string>

#include "api/parts.h"
#include "specs/breakdown.h"
#include "units/error.h"

namespace vramgauge::api {

/// Memory per device with its arithmetic, the verdict and the inverse answers. Errors carry
/// pointers below `path`.
Result<EngineAnswer> estimate_with_generic(const Resolved& resolved, const std::string& path);

/// The same without arithmetic and inverse answers (EngineFace::breakdown).
Result<Breakdown> generic_breakdown(const Resolved& resolved, const std::string& path,
                                    std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

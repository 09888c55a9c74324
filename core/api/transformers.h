// A scenario as Hugging Face Transformers reads it.
#pragma once

#include "api/parts.h"
#include "api/resolve.h"

namespace vramgauge::api {

/// Memory per GPU, the verdict and the inverse answers. Errors carry pointers below `path`:
/// engine.format_not_served, engine.cache_type_not_served, engine.not_divisible, and those of
/// estimate_transformers.
Result<EngineAnswer> estimate_with_transformers(const Resolved& resolved, const std::string& path);

/// The same without arithmetic, notes and inverse answers (EngineFace::breakdown).
Result<Breakdown> transformers_breakdown(const Resolved& resolved, const std::string& path,
                                         std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

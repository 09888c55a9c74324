// A scenario as SGLang reads it.
#pragma once

#include "api/parts.h"
#include "api/resolve.h"

namespace vramgauge::api {

/// Memory per GPU, the verdict, the pools and the inverse answers. Errors carry pointers below
/// `path`: those of server_model, server_weights and estimate_sglang.
Result<EngineAnswer> estimate_with_sglang(const Resolved& resolved, const std::string& path);

/// The same without arithmetic, notes and inverse answers (EngineFace::breakdown).
Result<Breakdown> sglang_breakdown(const Resolved& resolved, const std::string& path,
                                   std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

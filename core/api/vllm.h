// A scenario as vLLM's engine model reads it.
#pragma once

#include "api/parts.h"
#include "api/resolve.h"
#include "engine/vllm.h"

namespace vramgauge::api {

/// A scenario in the engine's own terms.
struct VllmQuestion {
  VllmInputs inputs;
  VllmProfile profile;
  /// About the model, the card and the weights.
  Diagnostics notes;
};

/// Errors carry pointers below `path`.
Result<VllmQuestion> vllm_question(const Resolved& resolved, const std::string& path);

/// Memory per device with its arithmetic, the verdict, the inverse answers and the engine's own
/// figures. Errors carry pointers below `path`.
Result<EngineAnswer> estimate_with_vllm(const Resolved& resolved, const std::string& path);

/// The same without arithmetic, notes and inverse answers (EngineFace::breakdown).
Result<Breakdown> vllm_breakdown(const Resolved& resolved, const std::string& path,
                                 std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

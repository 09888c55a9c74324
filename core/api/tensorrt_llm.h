// A scenario as TensorRT-LLM reads it.
#pragma once

#include "api/parts.h"
#include "api/resolve.h"

namespace vramgauge::api {

/// Memory per GPU, the verdict, the pool and the inverse answers. Errors carry pointers below
/// `path`: those of server_model, server_weights and estimate_trtllm.
Result<EngineAnswer> estimate_with_tensorrt_llm(const Resolved& resolved, const std::string& path);

/// The same without arithmetic, notes and inverse answers (EngineFace::breakdown).
Result<Breakdown> tensorrt_llm_breakdown(const Resolved& resolved, const std::string& path,
                                         std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

// A scenario as llama.cpp's engine model reads it.
#pragma once

#include <memory>

#include "api/parts.h"
#include "engine/llama_cpp.h"
#include "units/error.h"

namespace vramgauge::api {

/// A scenario in the engine's own terms.
struct LlamaCppQuestion {
  LlamaCppModel model;
  /// The draft model that `extras` points to; null = none.
  std::unique_ptr<const LlamaCppModel> draft;
  LlamaCppOptions options;
  LlamaCppMachine machine;
  LlamaCppExtras extras;
  LlamaCppProfile profile;
};

/// Errors carry pointers below `path`.
Result<LlamaCppQuestion> llama_cpp_question(const Resolved& resolved, const std::string& path);

/// Memory per GPU and of the host, the verdict and the inverse answers. Errors carry pointers below
/// `path`.
Result<EngineAnswer> estimate_with_llama_cpp(const Resolved& resolved, const std::string& path);

/// The same without arithmetic and inverse answers (EngineFace::breakdown).
Result<Breakdown> llama_cpp_breakdown(const Resolved& resolved, const std::string& path,
                                      std::unique_ptr<Kept>& kept);

}  // namespace vramgauge::api

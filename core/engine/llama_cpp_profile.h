// What holds for one build of llama.cpp: constants and rules of presets/engines/llama_cpp.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/llama_cpp_context.h"
#include "units/bytes.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge {

/// A constant with its bounds.
struct LlamaCppBandedBytes {
  Bytes value;
  Bytes low;
  Bytes high;
};

/// Measured and default sizes.
struct LlamaCppConstants {
  /// What CUDA itself takes of each GPU that is used.
  LlamaCppBandedBytes cuda_context;
  /// --cache-ram: the most that the server's cache of earlier prompts grows to.
  Bytes prompt_cache;
  /// --ctx-checkpoints: the most snapshots per slot of caches that cannot be rewound.
  uint64_t context_checkpoints = 0;
};

struct LlamaCppProfile {
  LlamaCppConstants constants;
  LlamaCppRules rules;
  std::string source;
};

/// The newest build.
inline constexpr uint64_t kNewestLlamaCppBuild = ~uint64_t{0};

/// The number of a release: 6975 of "b6975". Nothing for anything else.
std::optional<uint64_t> llama_cpp_build(std::string_view text);

/// Reads the constants and rules that hold for a build. Errors: json.missing_key for one that the
/// entry lacks.
Result<LlamaCppProfile> llama_cpp_profile(const json::Value& entry,
                                          uint64_t build = kNewestLlamaCppBuild);

}  // namespace vramgauge

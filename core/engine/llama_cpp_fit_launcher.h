// Programs that start llama.cpp's server with settings of their own: what they ask it for, by the
// constants of presets/engines (ollama.json, lm_studio.json). Rules of Ollama's server/routes.go,
// server/sched.go and llm/llama_server.go at fb307609 (2026-08-21, 0.33).
#pragma once

#include <cstdint>
#include <string>

#include "engine/llama_cpp_fit.h"
#include "units/decimal.h"
#include "units/json.h"

namespace vramgauge {

/// A choice among three by size: small unless more than a bound.
struct LlamaCppLauncherTiers {
  uint64_t small = 0;
  uint64_t medium = 0;
  uint64_t large = 0;
};

/// The defaults of one launcher.
struct LlamaCppLauncher {
  std::string source;
  /// Context of a request by the memory of all GPUs, and from where on the larger ones hold.
  LlamaCppLauncherTiers context_tokens;
  Bytes medium_context_from;
  Bytes large_context_from;
  /// Requests at once, and whether they share one stream of cells.
  uint64_t num_parallel = 1;
  bool kv_unified = false;
  /// Batch (logical and physical) by context, and the contexts that the larger ones need to exceed.
  LlamaCppLauncherTiers batch_tokens;
  uint64_t medium_batch_above_tokens = 0;
  uint64_t large_batch_above_tokens = 0;
  /// A larger batch is for models that are thought to take at most this share of the free memory,
  /// and with its cost no more than room_frac.
  Decimal medium_batch_room_frac;
  Decimal large_batch_room_frac;
  Decimal room_frac;
  Bytes medium_batch_cost;
  Bytes large_batch_cost;
  /// One GPU alone is used when the model is thought to take at most this share of it; 0 = never.
  Decimal single_gpu_frac;
  /// Kept free of each GPU beside the size of a projector, if there is one.
  Bytes projector_margin;
};

/// Reads the constants of a launcher. Errors: json.missing_key for one that the entry lacks.
Result<LlamaCppLauncher> llama_cpp_launcher(const json::Value& entry);

/// What a launcher starts.
struct LlamaCppLaunch {
  LlamaCppOptions options;
  /// The GPUs that it uses.
  LlamaCppMachine machine;
  LlamaCppFitTargets targets;
};

/// What the launcher makes of a question. Of `options`, ctx_tokens (all requests together) and
/// n_seq_max are taken unless they are 0, and cache types and placement as they are. What it thinks
/// of a model's size is the sum of the file's tensors and a cache at 16 bit.
LlamaCppLaunch llama_cpp_launch(const LlamaCppLauncher& launcher, const LlamaCppModel& model,
                                LlamaCppOptions options, const LlamaCppMachine& machine,
                                const LlamaCppExtras& extras, const LlamaCppConstants& constants);

}  // namespace vramgauge

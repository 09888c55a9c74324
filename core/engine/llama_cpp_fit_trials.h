// Estimates in place of the trial loads by which llama.cpp's --fit decides.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llama_cpp.h"

namespace vramgauge {

/// Memory by GPU (of the host where there is none), and weights on all of them, as the engine
/// counts: in host memory neither repacked weights nor output rows; nowhere projectors, adapters
/// and CUDA's own.
struct LlamaCppUsage {
  std::vector<int64_t> bytes;
  int64_t weights_bytes = 0;

  int64_t sum() const;
};

/// Tries options on one machine. A trial that fails is remembered; its usage is zero.
class LlamaCppTrials {
 public:
  /// The arguments must outlive this.
  LlamaCppTrials(const LlamaCppModel& model, const LlamaCppMachine& machine,
                 const LlamaCppExtras& extras, const LlamaCppConstants& constants);

  LlamaCppUsage usage(const LlamaCppOptions& options);

  /// Of the first trial that failed; empty when none did.
  const Diagnostics& errors() const { return errors_; }

 private:
  const LlamaCppModel& model_;
  const LlamaCppMachine& machine_;
  const LlamaCppConstants& constants_;
  LlamaCppExtras counted_;
  Diagnostics errors_;
};

}  // namespace vramgauge

// Rows of start-up logs that are about other engines than vLLM.
#pragma once

#include "accuracy_log_vllm.h"
#include "accuracy_score.h"
#include "specs/breakdown.h"

namespace vramgauge::tools {

/// What such a row can be compared with.
struct ServedFigures {
  /// Of layers that keep every token.
  double bytes_per_token = 0;
  PredictedReal pool;
  double pool_tokens = 0;
  /// Whether the engine starts: at the least of the band, at the estimate, or not.
  VerdictState verdict = VerdictState::does_not_fit;
};

/// Inputs with the row's own weights as this engine loads them; 0 where they are not known.
Predictable<SglangInputs> sglang_inputs_of_log(const EngineLog& row, TruthContext& context);
Predictable<TrtllmInputs> trtllm_inputs_of_log(const EngineLog& row, TruthContext& context);

Predictable<ServedFigures> sglang_figures(const EngineLog& row, TruthContext& context);
Predictable<ServedFigures> trtllm_figures(const EngineLog& row, TruthContext& context);
/// Only the verdict: whether weights, cache and buffers go into the GPUs' memory. On a CPU, or what
/// shares its memory, llama.cpp is refused nothing.
Predictable<ServedFigures> llama_cpp_figures(const EngineLog& row, TruthContext& context);

}  // namespace vramgauge::tools

// Rows of start-up logs that are about vLLM, as inputs of an estimate.
#pragma once

#include "accuracy_engines.h"
#include "accuracy_log.h"

namespace vramgauge::tools {

/// Where predictions take models and constants from.
struct TruthContext {
  ModelStore& models;
  const EnginePresets& presets;
  /// Release of vLLM whose rules apply to each of its rows; empty = what the row states.
  std::string engine_version;
};

/// The model that serves a row: its preset with what is known of the checkpoint.
Predictable<const TruthModel*> model_of_log(const EngineLog& row, TruthContext& context);
/// The GGUF type or mix of a row's file, such as Q4_K_M; empty for other files.
std::string gguf_format_of_log(const EngineLog& row);
/// The cache type that a row's flags name or its checkpoint does, by the catalogue's ids.
std::string cache_type_of_log(const EngineLog& row, const TruthModel& model);
/// How a row spreads its model: tensor parallelism over all GPUs unless it states another number.
ParallelPlan plan_of_log(const EngineLog& row);
/// The card; a row's own total goes first. A row of several unlike cards has the first one's.
Predictable<TruthCard> card_of_log(const EngineLog& row, const EnginePresets& presets);
Predictable<VllmProfile> vllm_profile_of_log(const EngineLog& row, const TruthContext& context);

/// Settings of a row without what depends on weights. A row that names no known card gets a usual
/// one: what depends on the card is then not predicted (card_of_log tells).
Predictable<VllmInputs> vllm_settings_of_log(const EngineLog& row, TruthContext& context);
/// The same with the weights of each stage.
Predictable<VllmInputs> vllm_inputs_of_log(const EngineLog& row, TruthContext& context);

/// The planner's answer to a pool of that size on every stage.
struct PlannedPool {
  VllmKvPlan plan;
  VllmKvPool pool;
};
Predictable<PlannedPool> vllm_pool_of_log(const EngineLog& row, double pool_gib,
                                          TruthContext& context);

/// Weights of the stage whose first rank holds the most, as the engine prints them: allocated by
/// vLLM, whole segments by SGLang.
Predictable<Bytes> weights_of_log(const EngineLog& row, TruthContext& context);

}  // namespace vramgauge::tools

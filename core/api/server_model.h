// A scenario as server engines read it: how the model is spread, the card, the cache type, and what
// the first rank of each stage holds after loading.
#pragma once

#include "api/resolve.h"
#include "engine/vllm.h"

namespace vramgauge::api {

/// How one engine differs from the others.
struct ServerRules {
  /// Its name in messages.
  std::string_view engine;
  /// Families of weight formats that it loads, separated by commas (presets/formats.json); "gguf"
  /// among them for files of llama.cpp.
  std::string_view families;
  /// Cache types that it has, by the catalogue's ids.
  std::string_view cache_types;
  /// Vendors of the devices that it runs on.
  std::string_view vendors;
  /// Rotary tables stay in fp32 (SGLang).
  bool has_wide_tables = false;
  /// Each rank keeps whole vision and audio towers.
  bool replicates_towers = false;
};

/// What engines compute from.
struct ServerModel {
  /// The model; with a draft layer of its own for speculative=eagle, with the layers of the draft
  /// model behind its own for speculative=draft.
  const ModelSpec* spec = nullptr;
  /// The draft model, loaded beside it on the last stage; null = none.
  const LoadedModel* draft = nullptr;
  ParallelPlan plan;
  VllmDevice device;
  CacheType cache_type;
  StatePrecision state_precision;
  /// Of activations and logits: 4 with weight_format=fp32.
  uint64_t dtype_bytes = 2;
  /// Longest request that is taken.
  uint64_t max_model_len = 0;
  /// Requests and tokens of one replica; data ranks that divide only attention share none.
  uint64_t requests_per_replica = 1;
  /// Tokens drafted per step; 0 = none.
  uint64_t draft_tokens = 0;
  /// Layers that draft, loaded and cached beside the model's own.
  bool loads_drafts = false;
  /// What had to be assumed; pointers like those of errors.
  Diagnostics notes;
};

/// The same scenario in numbers. Errors carry pointers below `path`: engine.plan_mismatch where the
/// ranks do not make up gpu_count, engine.not_divisible, engine.cache_type_not_served,
/// engine.device_not_served, engine.no_draft_layers, json.missing_key.
Result<ServerModel> server_model(const Resolved& resolved, const ServerRules& rules,
                                 const std::string& path);

/// Requests of one replica, among which they are shared out.
uint64_t requests_per_replica(const Scenario& scenario);

/// The model with one layer that drafts, for speculative=eagle; null for a model without attention.
/// The model keeps it.
const ModelSpec* spec_with_draft(const LoadedModel& model);

/// The model with the layers of another one to cache beside its own, in place of draft layers that
/// it came with. The model keeps it. Error: model.unsupported for layers that are not attention
/// with caches of their own.
Result<const ModelSpec*> spec_with_model(const LoadedModel& model, const LoadedModel& draft);

/// What loading depends on beside the model and its spread.
struct ServerLoad {
  VllmAdapters adapters;
  /// False with language_model_only.
  bool loads_towers = true;
  /// Weights that stay in host memory, per rank.
  Bytes host_offload;
  /// By which vision models size their inputs (VllmModel); 0 = not counted.
  uint64_t max_batched_tokens = 0;
};

/// Weights of the first rank of each stage.
struct ServerWeights {
  std::vector<VllmLoadedWeights> stages;
  Basis basis = Basis::modelled;
  Diagnostics notes;
};

/// Loads them, once for each different question; the model keeps the answers. Errors carry pointers
/// below `path`: engine.format_not_served, engine.not_divisible, format.*, value.overflow.
Result<const ServerWeights*> server_weights(const Resolved& resolved, const ServerModel& model,
                                            const ServerRules& rules, const ServerLoad& load,
                                            const std::string& path);

}  // namespace vramgauge::api

// From names to facts: the model, format, device and cache types that a scenario means.
#pragma once

#include <string>
#include <vector>

#include "api/models.h"
#include "import/catalogue.h"
#include "model/cache_layout.h"
#include "model/weight_formats.h"
#include "specs/breakdown.h"
#include "specs/hardware.h"
#include "specs/scenario.h"

namespace vramgauge::api {

/// Ids of engines in the catalogue.
inline constexpr std::string_view kGeneric = "generic";
inline constexpr std::string_view kLlamaCpp = "llama_cpp";
inline constexpr std::string_view kVllm = "vllm";
inline constexpr std::string_view kSglang = "sglang";
inline constexpr std::string_view kTensorRtLlm = "tensorrt_llm";
inline constexpr std::string_view kTransformers = "transformers";

/// Everything that an engine needs, with the scenario's names and its model_config made canonical.
struct Resolved {
  Scenario scenario;
  const LoadedModel* model = nullptr;
  WeightFormat format;
  const FormattedWeights* weights = nullptr;
  HardwareSpec hardware;
  /// What the scenario's cache types come to, with the checkpoint's own in place of "auto".
  CacheType cache_type_k;
  CacheType cache_type_v;
  CacheLayout cache;
  /// The model that drafts and its weight format; null where none does.
  const LoadedModel* draft = nullptr;
  WeightFormat draft_format;
  /// For server engines.
  const FormattedWeights* draft_weights = nullptr;
  /// Cards of other kinds behind those of `hardware`, each by itself.
  std::vector<HardwareSpec> more_gpus;
  /// The engine's entry in the catalogue.
  const json::Value* engine = nullptr;
  /// About the model, its weights and its cache.
  Diagnostics warnings;
};

/// A figure that only one engine has.
struct EngineFact {
  std::string_view id;
  json::Value value;
  /// bytes, tokens, blocks, requests, factor, fraction or none.
  std::string_view unit;
};

/// What an engine makes of it.
struct EngineAnswer {
  Breakdown breakdown;
  /// What is worth knowing about the estimate.
  Diagnostics notes;
  /// In the order in which they are shown.
  std::vector<EngineFact> facts{};
};

/// Looks up and checks every name; collects the errors of all fields.
Result<Resolved> resolve(const Catalogue& catalogue, Models& models, const Scenario& scenario,
                         const std::string& path);

}  // namespace vramgauge::api

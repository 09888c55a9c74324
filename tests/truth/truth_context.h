// What the comparison predicts rows from, as the command does, but with the presets of the tree.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "accuracy_log_vllm.h"
#include "accuracy_score.h"
#include "models.h"

namespace vramgauge::test {

template <typename T>
T given(tools::Predictable<T> value) {
  if (!value) throw std::runtime_error(value.error());
  return std::move(*value);
}

inline json::Value read_large_json(const std::string& path) {
  json::Limits limits;
  limits.max_bytes = uint64_t{64} << 20;
  auto value = json::parse(read_text(path), limits);
  if (!value) throw std::runtime_error(path + ": " + first_message(value.error()));
  return std::move(*value);
}

inline const tools::EnginePresets& engine_presets() {
  static const tools::EnginePresets presets = [] {
    json::Value engines = json::Value::array();
    for (const char* name : {"vllm", "sglang", "tensorrt_llm", "llama_cpp"})
      engines.push(read_json(std::string(VRAMGAUGE_PRESET_DIR "/engines/") + name + ".json"));
    json::Value document = json::Value::object();
    document.set("engines", std::move(engines));
    return tools::EnginePresets(read_large_json(VRAMGAUGE_CATALOGUE_DIR "/all.json"),
                                std::move(document));
  }();
  return presets;
}

/// Models of the presets' own files.
inline tools::ModelStore preset_models() {
  json::Value document = json::Value::object();
  document.set("class_defaults", read_json(VRAMGAUGE_PRESET_DIR "/class_defaults.json"));
  return {std::move(document), {VRAMGAUGE_PRESET_DIR "/models"}};
}

inline tools::TruthContext& truth_context() {
  static tools::ModelStore models = preset_models();
  static tools::TruthContext context{models, engine_presets(), {}};
  return context;
}

inline bool has_quantity(const tools::Scores& scores, std::string_view name) {
  const auto summary = scores.summary(0);
  return std::any_of(summary.begin(), summary.end(),
                     [name](const tools::QuantityScore& score) { return score.name == name; });
}

/// One quantity of a comparison, with every row that is off.
inline tools::QuantityScore quantity(const tools::Scores& scores, std::string_view name) {
  for (tools::QuantityScore& score : scores.summary(UINT64_MAX)) {
    if (score.name == name) return std::move(score);
  }
  throw std::runtime_error("no quantity " + std::string(name));
}

}  // namespace vramgauge::test

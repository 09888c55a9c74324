// Model presets as the core reads them.
#pragma once

#include <optional>
#include <string>

#include "import/hf_config.h"
#include "preset_files.h"

namespace vramgauge::test {

inline const json::Value& class_defaults() {
  static const json::Value document = read_json(VRAMGAUGE_PRESET_DIR "/class_defaults.json");
  return *document.find("classes");
}

/// The model of presets/models/<slug>.json, or nothing when there is no such file.
inline std::optional<ModelSpec> preset_model(const std::string& slug) {
  const std::string path = std::string(VRAMGAUGE_PRESET_DIR "/models/") + slug + ".json";
  if (!std::ifstream(path)) return std::nullopt;
  const json::Value preset = read_json(path);
  auto model = import_hf_config(*preset.find("config"), &class_defaults());
  if (!model) throw std::runtime_error(slug + ": " + first_message(model.error()));
  return std::move(model->spec);
}

}  // namespace vramgauge::test

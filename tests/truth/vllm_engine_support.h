// Models and profiles of the presets, for tests that make their own inputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/vllm.h"
#include "model/weights.h"
#include "models.h"

namespace vramgauge::test {

inline double gib(double bytes) { return bytes / (1U << 30U); }
inline double gib(Bytes bytes) { return gib(static_cast<double>(bytes.count())); }
inline double gib(BytesDelta bytes) { return gib(static_cast<double>(bytes.count())); }

inline Bytes bytes_from_gib(double value) {
  return Bytes(static_cast<uint64_t>(value * (uint64_t{1} << 30)));
}

inline const ModelSpec& preset_spec(const std::string& slug) {
  static std::map<std::string, ModelSpec> specs;
  if (specs.count(slug) == 0) {
    auto spec = preset_model(slug);
    if (!spec) throw std::runtime_error("no preset " + slug);
    specs[slug] = std::move(*spec);
  }
  return specs[slug];
}

inline VllmProfile vllm_profile_named(const std::string& version, bool is_first_engine = false) {
  static const json::Value entry = read_json(VRAMGAUGE_PRESET_DIR "/engines/vllm.json");
  const auto number = release_number(version);
  if (!number) throw std::runtime_error("no version " + version);
  auto profile = vllm_profile(entry, *number, is_first_engine);
  if (!profile) throw std::runtime_error(first_message(profile.error()));
  return *profile;
}

template <typename T>
T value_or_throw(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + first_message(result.error()));
  return std::move(*result);
}

}  // namespace vramgauge::test

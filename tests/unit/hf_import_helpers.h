// Importing a configuration that a test writes as text, and counting what comes out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "import/hf_config.h"
#include "model/parameters.h"

namespace vramgauge::test {

/// The model of a configuration that must import without class defaults.
inline ImportedModel imported(const std::string& config_text) {
  const auto config = json::parse(config_text);
  EXPECT_TRUE(config.has_value()) << config_text;
  if (!config) return {};
  auto model = import_hf_config(*config, nullptr);
  if (!model) {
    for (const Diagnostic& error : model.error())
      ADD_FAILURE() << error.path << ": " << message_of(error);
    return {};
  }
  return *std::move(model);
}

inline uint64_t total_parameters(const std::string& config_text) {
  return count_parameters(imported(config_text).spec).total.value_or(0);
}

/// The first error of a configuration that must not import.
inline Diagnostic refusal(const std::string& config_text) {
  const auto config = json::parse(config_text);
  EXPECT_TRUE(config.has_value()) << config_text;
  if (!config) return {ErrorCode::api_internal, "", {}, {}};
  const auto model = import_hf_config(*config, nullptr);
  EXPECT_FALSE(model.has_value()) << config_text;
  return model ? Diagnostic{ErrorCode::api_internal, "", {}, {}} : model.error().front();
}

inline bool has_warning(const ImportedModel& model, ErrorCode code) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const Diagnostic& warning) { return warning.code == code; });
}

/// A JSON list of `count` strings, the items of `cycle` in turn.
inline std::string json_cycle(std::initializer_list<std::string_view> cycle, uint64_t count) {
  std::string list = "[";
  for (uint64_t i = 0; i < count; ++i) {
    if (i != 0) list += ",";
    list += "\"" + std::string(cycle.begin()[i % cycle.size()]) + "\"";
  }
  return list + "]";
}

}  // namespace vramgauge::test

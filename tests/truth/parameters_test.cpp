// Parameter counts of every preset against the published ones. A published count is of the whole
// checkpoint: decoder, towers and draft layers, whatever is stored.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "model/parameters.h"
#include "models.h"
#include "support/files.h"

namespace vramgauge::test {
namespace {

struct Row {
  std::string slug;
  uint64_t published = 0;
  uint64_t derived = 0;

  double error() const {
    return static_cast<double>(derived) / static_cast<double>(published) - 1.0;
  }
};

struct Survey {
  std::vector<Row> judged;
  std::vector<std::string> refused;
  std::vector<std::string> poisoned;
  uint64_t num_models = 0;
};

std::string text_member(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

/// A row is judged when its count is marked exact or comes from a safetensors total.
bool is_judged(const json::Value& preset) {
  const std::string source = text_member(preset, "total_params_source");
  const bool is_counted = source.find("exact") != std::string::npos ||
                          source.find("safetensors") != std::string::npos ||
                          preset.find("safetensors_total_size_bytes") != nullptr;
  return is_counted && text_member(preset, "count_scope") != "not_comparable" &&
         preset.find("total_params") != nullptr;
}

void survey_model(Survey& survey, const std::string& name) {
  const json::Value preset = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + name);
  const std::string slug = name.substr(0, name.size() - 5);
  ++survey.num_models;
  const auto model = import_hf_config(*preset.find("config"), &class_defaults());
  if (!model) {
    survey.refused.push_back(slug + ": " + first_message(model.error()));
    return;
  }
  const ParameterCount count = count_parameters(model->spec);
  if (!count.total.valid()) survey.poisoned.push_back(slug);
  if (!is_judged(preset)) return;
  survey.judged.push_back(
      {slug, preset.find("total_params")->as_u64().value_or(0), count.total.value_or(0)});
}

const Survey& survey() {
  static const Survey result = [] {
    Survey all;
    for (const std::string& name : testing::names_in(VRAMGAUGE_PRESET_DIR "/models", ".json"))
      survey_model(all, name);
    return all;
  }();
  return result;
}

uint64_t count_within(double tolerance) {
  uint64_t count = 0;
  for (const Row& row : survey().judged) {
    if (row.error() <= tolerance && row.error() >= -tolerance) ++count;
  }
  return count;
}

void print_misses() {
  std::printf("%-55s %16s %16s %9s\n", "beyond 0.1 %", "published", "derived", "error");
  for (const Row& row : survey().judged) {
    if (row.error() <= 0.001 && row.error() >= -0.001) continue;
    std::printf("%-55s %16llu %16llu %8.3f%%\n", row.slug.c_str(),
                static_cast<unsigned long long>(row.published),
                static_cast<unsigned long long>(row.derived), 100 * row.error());
  }
}

TEST(Parameters, EveryPresetImports) {
  EXPECT_GE(survey().num_models, 443U);
  for (const std::string& line : survey().refused)
    std::printf("refused: %s\n", line.c_str());
  EXPECT_LE(survey().refused.size(), 8U);
  EXPECT_TRUE(survey().poisoned.empty());
}

TEST(Parameters, WithinATenthOfAPercent) {
  print_misses();
  ASSERT_GE(survey().judged.size(), 200U);
  EXPECT_GE(count_within(0.001) * 100, survey().judged.size() * 95);
}

TEST(Parameters, WithinOnePercent) {
  EXPECT_GE(count_within(0.01) * 100, survey().judged.size() * 98);
}

/// The groups and the parts add up to the whole for every preset.
TEST(Parameters, GroupsAddUp) {
  for (const std::string& name : testing::names_in(VRAMGAUGE_PRESET_DIR "/models", ".json")) {
    const auto model = preset_model(name.substr(0, name.size() - 5));
    ASSERT_TRUE(model.has_value()) << name;
    const ParameterCount count = count_parameters(*model);
    CheckedU64 groups;
    for (const CheckedU64 group : count.by_group)
      groups += group;
    EXPECT_TRUE(groups == count.total) << name;
    EXPECT_TRUE(count.text + count.towers + count.mtp == count.total) << name;
    EXPECT_LE(count.active.value_or(0), count.text.value_or(0)) << name;
  }
}

/// Published active parameters: 12.9 B of Mixtral-8x7B and 37 B of DeepSeek-V3 (their papers).
TEST(Parameters, ActiveParameters) {
  const auto mixtral = preset_model("mistralai__Mixtral-8x7B-Instruct-v0.1");
  const auto deepseek = preset_model("deepseek-ai__DeepSeek-V3");
  ASSERT_TRUE(mixtral && deepseek);
  EXPECT_NEAR(static_cast<double>(count_parameters(*mixtral).active.value_or(0)), 12.9e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(count_parameters(*deepseek).active.value_or(0)), 37e9, 1.0e9);
}

}  // namespace
}  // namespace vramgauge::test

// Every preset as JSON and back: nothing that memory depends on is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "import/quantization_config.h"
#include "import/spec_json.h"
#include "model/cache_layout.h"
#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "model/parameters.h"
#include "model/weights.h"
#include "models.h"
#include "support/files.h"
#include "support/spec_members.h"

namespace vramgauge::test {
namespace {

std::optional<ResolvedQuantization> quantization_of(const json::Value& preset,
                                                    const ModelSpec& spec) {
  auto read = read_quantization(*preset.find("config"), preset.find("quant_config"));
  if (!read) return refused_quantization("", std::move(read.error()));
  if (!*read) return std::nullopt;
  return resolve_quantization(weight_tensors(spec), spec, **read);
}

SpecDocument document_of(const json::Value& preset) {
  auto model = import_hf_config(*preset.find("config"), &class_defaults());
  if (!model) throw std::runtime_error(first_message(model.error()));
  SpecDocument document;
  document.quantization = quantization_of(preset, model->spec);
  document.model = std::move(*model);
  return document;
}

std::string cache_of(const ModelSpec& spec) {
  const CacheType type = cache_type_named("fp16");
  const auto layout = cache_layout(spec, type, type, 2);
  if (!layout) return first_message(layout.error());
  std::string text;
  for (const CacheSegment& segment : layout->segments) {
    for (const uint64_t number : {segment.layers, segment.entry_bytes, segment.fixed_bytes,
                                  segment.saturation_tokens, segment.tokens_per_entry})
      text += std::to_string(number) + " ";
  }
  return text;
}

std::optional<uint64_t> quantised_bytes(const SpecDocument& document) {
  if (!document.quantization) return std::nullopt;
  const ModelSpec& spec = document.model.spec;
  const auto result = format_resolved(weight_tensors(spec), spec, *document.quantization);
  if (!result) return std::nullopt;
  return result->total.count();
}

TEST(SpecPresets, EveryPresetComesBack) {
  uint64_t read = 0;
  uint64_t bytes = 0;
  uint64_t longest = 0;
  for (const std::string& name : testing::names_in(VRAMGAUGE_PRESET_DIR "/models", ".json")) {
    const json::Value preset = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + name);
    const SpecDocument document = document_of(preset);
    const std::string text = json::write(write_spec(document));
    const auto copy = read_spec(parse_or_throw(text, name));
    ASSERT_TRUE(copy.has_value()) << name << ": " << first_message(copy.error());
    ++read;
    bytes += text.size();
    longest = std::max<uint64_t>(longest, text.size());
    EXPECT_EQ(json::write(write_spec(*copy)), text) << name;
    EXPECT_TRUE(testing::same(document, *copy)) << name;
    const ModelSpec& before = document.model.spec;
    const ModelSpec& after = copy->model.spec;
    EXPECT_TRUE(testing::same(weight_tensors(before), weight_tensors(after))) << name;
    EXPECT_EQ(count_parameters(before).active, count_parameters(after).active) << name;
    EXPECT_EQ(cache_of(before), cache_of(after)) << name;
    EXPECT_EQ(quantised_bytes(document), quantised_bytes(*copy)) << name;
  }
  std::printf("%llu presets, %llu bytes of JSON, the longest %llu\n",
              static_cast<unsigned long long>(read), static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(longest));
  EXPECT_GE(read, 443U);
}

}  // namespace
}  // namespace vramgauge::test

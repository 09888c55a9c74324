// Which runner serves a model, and what its profiling run holds, by version. Expected values come
// from vllm/config/vllm.py and the release notes that presets/engines/vllm.json names.
#include "engine/vllm_runner.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/files.h"

namespace vramgauge {
namespace {

Decimal decimal(uint64_t whole) { return Decimal::from_micros(whole * Decimal::kScale); }

VllmProfile profile_of(uint64_t version, bool is_first_engine = false) {
  const auto entry = json::parse(testing::read_file(VRAMGAUGE_PRESET_DIR "/engines/vllm.json"));
  EXPECT_TRUE(entry.has_value());
  auto profile = vllm_profile(*entry, version, is_first_engine);
  EXPECT_TRUE(profile.has_value()) << version;
  return profile.value_or(VllmProfile());
}

Layer layer_with(Ffn ffn, Mixer mixer) {
  Layer layer;
  layer.ffn = std::move(ffn);
  layer.mixers.push_back(std::move(mixer));
  return layer;
}

ModelSpec model_of(std::string type, Ffn ffn = DenseFfn(), Mixer mixer = Attention()) {
  ModelSpec spec;
  spec.model_type = std::move(type);
  spec.layers.push_back(layer_with(std::move(ffn), std::move(mixer)));
  return spec;
}

bool is_second(const ModelSpec& spec, uint64_t version, bool is_quantized = false) {
  VllmInputs inputs;
  inputs.spec = &spec;
  inputs.is_quantized = is_quantized;
  return runs_on_second_runner(inputs, profile_of(version).second_runner);
}

VllmProfile profile_for(const ModelSpec& spec, uint64_t version,
                        VllmSampler sampler = VllmSampler::by_version) {
  VllmInputs inputs;
  inputs.spec = &spec;
  inputs.flags.sampler = sampler;
  return vllm_profile_for(inputs, profile_of(version));
}

TEST(VllmRunner, ModelsByVersion) {
  const ModelSpec qwen3 = model_of("qwen3");
  EXPECT_FALSE(is_second(qwen3, 21'000));
  EXPECT_TRUE(is_second(qwen3, 22'000));
  EXPECT_FALSE(is_second(qwen3, 23'000, true));
  EXPECT_TRUE(is_second(qwen3, 24'000, true));
  const ModelSpec llama = model_of("llama");
  EXPECT_FALSE(is_second(llama, 22'000));
  EXPECT_TRUE(is_second(llama, 23'000));
  const ModelSpec qwen2 = model_of("qwen2");
  EXPECT_FALSE(is_second(qwen2, 24'000));
  EXPECT_TRUE(is_second(qwen2, 25'000));
}

TEST(VllmRunner, ExpertsAndStatesComeLast) {
  const ModelSpec experts = model_of("gpt_oss", MoeFfn());
  const ModelSpec hybrid = model_of("qwen3_5_text", DenseFfn(), GatedDelta());
  for (const ModelSpec* spec : {&experts, &hybrid}) {
    EXPECT_FALSE(is_second(*spec, 28'000)) << spec->model_type;
    EXPECT_TRUE(is_second(*spec, 29'000)) << spec->model_type;
  }
  EXPECT_FALSE(is_second(model_of("granitemoe", MoeFfn()), 23'000));
  EXPECT_TRUE(is_second(model_of("granitemoe", MoeFfn()), 24'000));
  const ModelSpec v4 = model_of("deepseek_v4", MoeFfn(), CompressedAttention());
  EXPECT_FALSE(is_second(v4, 27'000));
  EXPECT_TRUE(is_second(v4, 28'000));
}

TEST(VllmRunner, TheSecondOneCopiesLogitsAndForgetsGraphs) {
  const ModelSpec llama = model_of("llama");
  const VllmProfile before = profile_for(llama, 22'000);
  EXPECT_TRUE(before.deducts_graphs);
  EXPECT_EQ(before.sampler_logit_bytes.value, decimal(12));
  const VllmProfile own = profile_for(llama, 26'000);
  EXPECT_FALSE(own.deducts_graphs);
  EXPECT_FALSE(own.has_sampler_rows);
  EXPECT_EQ(own.sampler_logit_bytes.high, decimal(4));
  EXPECT_TRUE(profile_for(llama, 29'000).deducts_graphs);
}

TEST(VllmRunner, FlashInferWhereItIsInstalled) {
  const ModelSpec llama = model_of("llama");
  const VllmProfile unknown = profile_for(llama, 11'000);
  EXPECT_EQ(unknown.sampler_logit_bytes.low, decimal(12));
  EXPECT_EQ(unknown.sampler_logit_bytes.value, decimal(36));
  EXPECT_EQ(profile_for(llama, 11'000, VllmSampler::flashinfer).sampler_logit_bytes.high,
            decimal(12));
  EXPECT_GT(profile_for(llama, 11'000, VllmSampler::native).sampler_logit_bytes.low, decimal(35));
  // Pull request 26859 turned it off.
  EXPECT_GT(profile_for(llama, 11'001).sampler_logit_bytes.low, decimal(35));
}

TEST(VllmRunner, WhatTheSecondCannotDo) {
  const ModelSpec llama = model_of("llama");
  VllmInputs inputs;
  inputs.spec = &llama;
  inputs.has_drafts_apart = true;
  EXPECT_FALSE(runs_on_second_runner(inputs, profile_of(29'000).second_runner));
}

TEST(VllmRunner, NoFlashInferOnAmd) {
  const ModelSpec llama = model_of("llama");
  VllmInputs inputs;
  inputs.spec = &llama;
  inputs.device.is_rocm = true;
  EXPECT_GT(vllm_profile_for(inputs, profile_of(11'000)).sampler_logit_bytes.low, decimal(35));
}

TEST(VllmRunner, TheFirstEngineSortsItself) {
  const ModelSpec llama = model_of("llama");
  VllmInputs inputs;
  inputs.spec = &llama;
  const VllmProfile own = vllm_profile_for(inputs, profile_of(9'000, true));
  EXPECT_GT(own.sampler_logit_bytes.low, decimal(35));
}

}  // namespace
}  // namespace vramgauge

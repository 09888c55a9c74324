// Models of which there is both a list of their GGUF file's tensors and the original configuration.
#pragma once

#include <string>

#include <gtest/gtest.h>

namespace vramgauge::test {

/// The name of a list, and that of a preset's configuration.
struct ModelPair {
  const char* file;
  const char* preset;
};

inline constexpr ModelPair kModelPairs[] = {
    {"command-r-v01", "CohereLabs__c4ai-command-r-v01"},
    {"command-r7b", "CohereLabs__c4ai-command-r7b-12-2024"},
    {"deepseek-v2-lite", "deepseek-ai__DeepSeek-V2-Lite"},
    {"deepseek-v3", "deepseek-ai__DeepSeek-V3"},
    {"deepseek-v3.2", "deepseek-ai__DeepSeek-V3.2"},
    {"falcon-7b", "tiiuae__falcon-7b"},
    {"gemma-2-9b", "google__gemma-2-9b"},
    {"gemma-3-12b", "google__gemma-3-12b-it"},
    {"gemma-3-1b", "google__gemma-3-1b-it"},
    {"gemma-4-26b-a4b", "google__gemma-4-26B-A4B"},
    {"gpt-oss-20b", "openai__gpt-oss-20b"},
    {"granite-4.0-h-small", "ibm-granite__granite-4.0-h-small"},
    {"jamba-mini-1.5", "ai21labs__AI21-Jamba-1.5-Mini"},
    {"lfm2-1.2b", "LiquidAI__LFM2-1.2B"},
    {"llama-2-7b", "meta-llama__Llama-2-7b-hf"},
    {"llama-3.1-8b", "meta-llama__Llama-3.1-8B"},
    {"llama-3.3-70b", "meta-llama__Llama-3.3-70B-Instruct"},
    {"llama-4-scout", "meta-llama__Llama-4-Scout-17B-16E-Instruct"},
    {"mamba-2.8b", "state-spaces__mamba-2.8b-hf"},
    {"mistral-7b-v0.1", "mistralai__Mistral-7B-v0.1"},
    {"mixtral-8x7b", "mistralai__Mixtral-8x7B-v0.1"},
    {"nemotron-h-8b", "nvidia__Nemotron-H-8B-Base-8K"},
    {"phi-3-mini-4k", "microsoft__Phi-3-mini-4k-instruct"},
    {"qwen2.5-0.5b", "Qwen__Qwen2.5-0.5B"},
    {"qwen2.5-7b", "Qwen__Qwen2.5-7B"},
    {"qwen3-30b-a3b", "Qwen__Qwen3-30B-A3B"},
    {"qwen3-8b", "Qwen__Qwen3-8B"},
    {"qwen3-next-80b-a3b", "Qwen__Qwen3-Next-80B-A3B-Instruct"},
    {"qwen3.5-27b", "Qwen__Qwen3.5-27B"},
    {"qwen3.5-35b-a3b", "Qwen__Qwen3.5-35B-A3B"},
    {"starcoder2-7b", "bigcode__starcoder2-7b"},
};

/// The name of a pair's test.
inline std::string model_pair_name(const ::testing::TestParamInfo<ModelPair>& pair) {
  std::string name = pair.param.file;
  for (char& c : name) {
    if (c == '-' || c == '.') c = '_';
  }
  return name;
}

}  // namespace vramgauge::test

// Which preset describes the model of which GGUF header.
#pragma once

namespace vramgauge::test {

struct GgufPreset {
  /// Model of the header, without its quantisation.
  const char* model;
  /// A quantisation that there is a header of.
  const char* wide;
  /// File below presets/models.
  const char* preset;
};

inline constexpr GgufPreset kGgufPresets[] = {
    {"command-r-v01", "F16", "CohereLabs__c4ai-command-r-v01"},
    {"command-r7b", "BF16", "CohereLabs__c4ai-command-r7b-12-2024"},
    {"deepseek-v2-lite", "F16", "deepseek-ai__DeepSeek-V2-Lite"},
    {"deepseek-v3", "BF16", "deepseek-ai__DeepSeek-V3"},
    {"deepseek-v3.2", "BF16", "deepseek-ai__DeepSeek-V3.2"},
    {"falcon-7b", "F16", "tiiuae__falcon-7b"},
    {"gemma-2-9b", "F16", "google__gemma-2-9b"},
    {"gemma-3-12b", "F16", "google__gemma-3-12b-it"},
    {"gemma-3-1b", "F16", "google__gemma-3-1b-it"},
    {"gemma-3n-e4b", "BF16", "google__gemma-3n-E4B-it"},
    {"gemma-4-26b-a4b", "BF16", "google__gemma-4-26B-A4B"},
    {"gpt-oss-20b", "BF16", "openai__gpt-oss-20b"},
    {"granite-4.0-h-small", "F16", "ibm-granite__granite-4.0-h-small"},
    {"jamba-mini-1.5", "F16", "ai21labs__AI21-Jamba-1.5-Mini"},
    {"lfm2-1.2b", "BF16", "LiquidAI__LFM2-1.2B"},
    {"llama-2-7b", "F16", "meta-llama__Llama-2-7b-hf"},
    {"llama-3.1-8b", "F16", "meta-llama__Llama-3.1-8B"},
    {"llama-3.3-70b", "F16", "meta-llama__Llama-3.3-70B-Instruct"},
    {"llama-4-scout", "BF16", "meta-llama__Llama-4-Scout-17B-16E-Instruct"},
    {"mamba-2.8b", "F16", "state-spaces__mamba-2.8b-hf"},
    {"mistral-7b-v0.1", "F16", "mistralai__Mistral-7B-v0.1"},
    {"mixtral-8x7b", "F16", "mistralai__Mixtral-8x7B-v0.1"},
    {"nemotron-h-8b", "BF16", "nvidia__Nemotron-H-8B-Base-8K"},
    {"phi-3-mini-4k", "F16", "microsoft__Phi-3-mini-4k-instruct"},
    {"qwen2.5-0.5b", "F16", "Qwen__Qwen2.5-0.5B"},
    {"qwen2.5-7b", "F16", "Qwen__Qwen2.5-7B"},
    {"qwen3-30b-a3b", "F16", "Qwen__Qwen3-30B-A3B"},
    {"qwen3-8b", "F16", "Qwen__Qwen3-8B"},
    {"qwen3-next-80b-a3b", "BF16", "Qwen__Qwen3-Next-80B-A3B-Instruct"},
    {"qwen3.5-27b", "BF16", "Qwen__Qwen3.5-27B"},
    {"qwen3.5-35b-a3b", "BF16", "Qwen__Qwen3.5-35B-A3B"},
    {"starcoder2-7b", "BF16", "bigcode__starcoder2-7b"},
};

}  // namespace vramgauge::test

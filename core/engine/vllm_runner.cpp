#include "engine/vllm_runner.h"

#include <algorithm>
#include <string_view>

#include "specs/model_traits.h"

namespace vramgauge {
namespace {

/// Layers whose state does not grow, which make a model "hybrid" or "attention-free".
bool has_states(const ModelSpec& spec) {
  return any_mixer(spec, [](const Mixer& mixer) {
    return !std::holds_alternative<Attention>(mixer) &&
           !std::holds_alternative<LatentAttention>(mixer) &&
           !std::holds_alternative<CompressedAttention>(mixer);
  });
}

/// Models that versions name one by one (DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES).
bool is_named(std::string_view type, const VllmSecondRunner& rules) {
  if (type == "qwen3") return rules.runs_qwen3;
  if (type == "llama" || type == "mistral") return rules.runs_llama;
  if (type == "deepseek_v2" || type == "qwen2_moe" || type == "granitemoe")
    return rules.runs_small_experts;
  return type == "deepseek_v4" && rules.runs_deepseek_v4;
}

BandedDecimal hull(const BandedDecimal& value, const BandedDecimal& other) {
  return {value.value, std::min(value.low, other.low), std::max(value.high, other.high)};
}

/// Of the first runner's sampler: its own, or FlashInfer's where that is installed and used.
BandedDecimal first_runner_bytes(const VllmInputs& inputs, const VllmSamplerBytes& bytes) {
  const VllmSampler sampler = inputs.flags.sampler;
  if (sampler == VllmSampler::native || inputs.device.is_rocm) return bytes.native;
  if (sampler == VllmSampler::flashinfer) return bytes.flashinfer;
  return bytes.may_be_flashinfer ? hull(bytes.native, bytes.flashinfer) : bytes.native;
}

}  // namespace

bool runs_on_second_runner(const VllmInputs& inputs, const VllmSecondRunner& rules) {
  if (inputs.has_drafts_apart) return false;
  if (rules.runs_all) return true;
  if (inputs.is_quantized && !rules.runs_quantized) return false;
  const ModelSpec& spec = *inputs.spec;
  if (is_named(spec.model_type, rules)) return true;
  return rules.runs_dense && !has_experts(spec) && !has_states(spec);
}

VllmProfile vllm_profile_for(const VllmInputs& inputs, const VllmProfile& profile) {
  VllmProfile own = profile;
  own.sampler_logit_bytes = first_runner_bytes(inputs, profile.sampler_bytes);
  if (!runs_on_second_runner(inputs, profile.second_runner)) return own;
  own.sampler_logit_bytes = profile.second_runner.sampler_logit_bytes;
  own.has_sampler_rows = false;
  own.deducts_graphs = profile.second_runner.deducts_graphs;
  return own;
}

}  // namespace vramgauge

#include "api/tensorrt_llm.h"

#include <utility>

#include "api/staged.h"
#include "engine/trtllm.h"
#include "report/staged_arithmetic.h"
#include "units/index.h"

namespace vramgauge::api {
namespace {

/// Checkpoints of llm-api's quantisation modes (docs, features/quantization of 1.0).
constexpr ServerRules kRules = {
    "TensorRT-LLM", "compressed-tensors,gptq,awq,fp8", "fp16,bf16,fp8,nvfp4", "NVIDIA", false,
    false};

/// The model with its draft layers among the others: they have blocks of the same pool.
std::optional<ModelSpec> with_drafts(const ServerModel& model) {
  if (!model.loads_drafts || model.spec->mtp_layers.empty()) return std::nullopt;
  ModelSpec spec = *model.spec;
  spec.layers.insert(spec.layers.end(), spec.mtp_layers.begin(), spec.mtp_layers.end());
  return spec;
}

std::vector<EngineFact> facts_of(const TrtllmEstimate& estimate, uint64_t replicas) {
  const int64_t free = estimate.free.count();
  Facts facts;
  facts.fraction("free_gpu_memory_fraction", estimate.free_gpu_memory_fraction)
      .number("max_num_tokens", estimate.max_num_tokens, "tokens")
      .number("tokens_per_block", estimate.tokens_per_block, "tokens")
      .number("free_after_load", free > 0 ? static_cast<uint64_t>(free) : 0, "bytes")
      .number("pool", estimate.pool.count(), "bytes")
      .number("full_tokens", estimate.pool_tokens, "tokens")
      .number("admitted_requests", estimate.breakdown.answers.max_requests.value_or(0) * replicas,
              "requests");
  return std::move(facts.list);
}

}  // namespace

Result<EngineAnswer> estimate_with_tensorrt_llm(const Resolved& resolved, const std::string& path) {
  const Scenario& scenario = resolved.scenario;
  const auto release = release_of(scenario, path);
  if (!release) return fail(release.error());
  const auto profile = trtllm_profile(*resolved.engine, *release);
  if (!profile) return fail(profile.error());
  auto model = server_model(resolved, kRules, path);
  if (!model) return fail(std::move(model.error()));
  TrtllmInputs inputs;
  // Replicas share nothing.
  ServerModel loaded = *model;
  loaded.plan.data_ranks = 1;
  const auto weights = set_stages(inputs, resolved, loaded, kRules, path);
  if (!weights) return fail(weights.error());
  inputs.plan = model->plan;
  const std::optional<ModelSpec> drafted = with_drafts(*model);
  if (drafted) inputs.spec = &*drafted;
  if (!scenario.memory_frac.is_zero()) inputs.free_gpu_memory_fraction = scenario.memory_frac;
  inputs.tokens_per_block = scenario.block_tokens;
  inputs.max_num_tokens = scenario.max_num_batched_tokens;
  inputs.max_batch_size = scenario.max_num_seqs;
  auto estimate = estimate_trtllm(inputs, *profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_trtllm(*estimate, inputs, *profile);
  for (uint64_t stage = 0; stage < estimate->breakdown.devices.size(); ++stage) {
    estimate->breakdown.devices[index_of(stage)].terms.front().lines =
        loaded_weight_lines((*weights)->stages[index_of(stage)]);
  }
  EngineAnswer answer;
  answer.notes = std::move(model->notes);
  answer.notes.insert(answer.notes.end(), (*weights)->notes.begin(), (*weights)->notes.end());
  note_short_pool(answer.notes, kRules.engine, estimate->pool_tokens, scenario.context_tokens,
                  path);
  answer.facts = facts_of(*estimate, scenario.data_ranks);
  multiply(estimate->breakdown.answers, scenario.data_ranks);
  answer.breakdown = std::move(estimate->breakdown);
  return answer;
}

}  // namespace vramgauge::api

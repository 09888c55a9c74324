#include "api/tensorrt_llm.h"

#include <memory>
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
std::unique_ptr<ModelSpec> with_drafts(const ServerModel& model) {
  if (!model.loads_drafts || model.spec->mtp_layers.empty()) return nullptr;
  auto spec = std::make_unique<ModelSpec>(*model.spec);
  spec->layers.insert(spec->layers.end(), spec->mtp_layers.begin(), spec->mtp_layers.end());
  return spec;
}

std::vector<EngineFact> facts_of(const TrtllmEstimate& estimate, uint64_t replicas) {
  const int64_t free = estimate.free.count();
  Facts facts;
  facts.fraction("free_gpu_memory_fraction", estimate.free_gpu_memory_fraction)
      .number("max_num_tokens", estimate.max_num_tokens, "tokens")
      .number("tokens_per_block", estimate.tokens_per_block, "tokens")
      .number("free_after_load", free > 0 ? static_cast<uint64_t>(free) : 0, "bytes")
      .number("pool", estimate.pool.count(), "bytes");
  const Answers& answers = estimate.breakdown.answers;
  if (answers.max_cached_tokens) facts.number("full_tokens", *answers.max_cached_tokens, "tokens");
  if (answers.max_requests)
    facts.number("admitted_requests", *answers.max_requests * replicas, "requests");
  return std::move(facts.list);
}

/// A scenario in the engine's own terms.
struct Question {
  TrtllmProfile profile;
  ServerModel model;
  TrtllmInputs inputs;
  /// The model that the inputs point to, where drafts were added to it.
  std::unique_ptr<ModelSpec> drafted;
  const ServerWeights* weights = nullptr;
};

Result<Question> question_of(const Resolved& resolved, const std::string& path) {
  const Scenario& scenario = resolved.scenario;
  const auto release = release_of(scenario, path);
  if (!release) return fail(release.error());
  const auto profile = trtllm_profile(*resolved.engine, *release);
  if (!profile) return fail(profile.error());
  auto model = server_model(resolved, kRules, path);
  if (!model) return fail(std::move(model.error()));
  Question question{*profile, std::move(*model), {}, nullptr, nullptr};
  TrtllmInputs& inputs = question.inputs;
  // Replicas share nothing.
  ServerModel loaded = question.model;
  loaded.plan.data_ranks = 1;
  const auto weights = set_stages(inputs, resolved, loaded, kRules, path);
  if (!weights) return fail(weights.error());
  question.weights = *weights;
  inputs.plan = question.model.plan;
  question.drafted = with_drafts(question.model);
  if (question.drafted != nullptr) inputs.spec = question.drafted.get();
  if (!scenario.memory_frac.is_zero()) inputs.free_gpu_memory_fraction = scenario.memory_frac;
  inputs.tokens_per_block = scenario.block_tokens;
  inputs.max_num_tokens = scenario.max_num_batched_tokens;
  inputs.max_batch_size = scenario.max_num_seqs;
  return question;
}

}  // namespace

Result<EngineAnswer> estimate_with_tensorrt_llm(const Resolved& resolved, const std::string& path) {
  auto question = question_of(resolved, path);
  if (!question) return fail(std::move(question.error()));
  auto estimate = estimate_trtllm(question->inputs, question->profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_trtllm(*estimate, question->inputs, question->profile);
  const ServerWeights& weights = *question->weights;
  for (uint64_t stage = 0; stage < estimate->breakdown.devices.size(); ++stage) {
    estimate->breakdown.devices[index_of(stage)].terms.front().lines =
        loaded_weight_lines(weights.stages[index_of(stage)]);
  }
  EngineAnswer answer;
  answer.notes = std::move(question->model.notes);
  answer.notes.insert(answer.notes.end(), weights.notes.begin(), weights.notes.end());
  note_short_pool(answer.notes, kRules.engine, estimate->pool_tokens,
                  resolved.scenario.context_tokens, path);
  answer.facts = facts_of(*estimate, resolved.scenario.data_ranks);
  multiply(estimate->breakdown.answers, resolved.scenario.data_ranks);
  answer.breakdown = std::move(estimate->breakdown);
  return answer;
}

Result<Breakdown> tensorrt_llm_breakdown(const Resolved& resolved, const std::string& path,
                                         std::unique_ptr<Kept>& kept) {
  const auto question = kept_question(question_of, resolved, path, kept);
  if (!question) return fail(question.error());
  (*question)->inputs.num_requests = requests_per_replica(resolved.scenario);
  auto estimate = estimate_trtllm((*question)->inputs, (*question)->profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  return std::move(estimate->breakdown);
}

}  // namespace vramgauge::api

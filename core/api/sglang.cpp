#include "api/sglang.h"

#include <algorithm>
#include <utility>

#include "api/staged.h"
#include "engine/sglang.h"
#include "report/staged_arithmetic.h"
#include "specs/model_traits.h"
#include "units/index.h"
#include "units/text_list.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kOn = "on";

/// layers/quantization and server_args.py of 0.5; rotary tables are made in fp32.
constexpr ServerRules kRules = {"SGLang",
                                "compressed-tensors,gptq,awq,fp8,torchao,bitsandbytes,gguf",
                                "fp16,bf16,fp8,fp8_ds_mla",
                                "NVIDIA,AMD,Intel",
                                true,
                                false};

/// Loading with data-parallel attention: heads are split within a replica, experts over all.
/// Replicas of the whole model share nothing.
ServerModel as_loaded(const ServerModel& model, uint64_t replicas) {
  ServerModel loaded = model;
  loaded.plan.tensor_ranks /= replicas;
  loaded.plan.data_ranks = replicas;
  if (replicas > 1) loaded.plan.is_expert_parallel = true;
  return loaded;
}

/// Its pool of adapters is there before those of the cache are sized, and as large as vLLM's: of
/// each matrix of the decoder a thin one per member towards the rank and one back (lora/mem_pool.py
/// and lora/utils.py of 0.5, get_stacked_multiply), for all linear layers but experts.
ServerLoad load_of(const Scenario& scenario) {
  ServerLoad load;
  load.adapters = {scenario.max_loras, scenario.max_lora_rank};
  return load;
}

Result<SglangInputs> inputs_of(const Resolved& resolved, const ServerModel& model,
                               const std::string& path) {
  const Scenario& scenario = resolved.scenario;
  SglangInputs inputs;
  if (scenario.dp_attention == kOn) inputs.attention_replicas = scenario.data_ranks;
  if (model.plan.tensor_ranks % inputs.attention_replicas != 0) {
    return fail(ErrorCode::engine_not_divisible, path + "/data_ranks",
                {{"what", std::string_view("tensor_ranks")},
                 {"size", model.plan.tensor_ranks},
                 {"ranks", inputs.attention_replicas}});
  }
  const auto set = set_stages(inputs, resolved, as_loaded(model, inputs.attention_replicas), kRules,
                              path, load_of(scenario));
  if (!set) return fail(set.error());
  inputs.plan = model.plan;
  if (!scenario.memory_frac.is_zero()) inputs.mem_fraction_static = scenario.memory_frac;
  if (!scenario.swa_full_tokens_ratio.is_zero())
    inputs.swa_full_tokens_ratio = scenario.swa_full_tokens_ratio;
  inputs.chunked_prefill_size = scenario.max_num_batched_tokens;
  inputs.cuda_graph_max_bs = scenario.cuda_graph_max_bs;
  inputs.max_running_requests = scenario.max_num_seqs;
  inputs.page_size = std::max<uint64_t>(scenario.block_tokens, 1);
  inputs.has_draft_model = model.loads_drafts;
  return inputs;
}

void explain_weights(Breakdown& breakdown, const ServerWeights& weights) {
  for (uint64_t stage = 0; stage < breakdown.devices.size(); ++stage) {
    breakdown.devices[index_of(stage)].terms.front().lines =
        loaded_weight_lines(weights.stages[index_of(stage)]);
  }
}

/// How the weights are quantised, in a word; empty = not.
std::string method_of(const Resolved& resolved) {
  if (resolved.format.id != kOwnFormat) return resolved.format.family;
  return resolved.model->quantization ? resolved.model->quantization->method : std::string();
}

/// What logs have shown that the rules do not say.
void note_kernels(Diagnostics& notes, const Resolved& resolved, const ServerModel& model,
                  const std::string& path) {
  const std::string method = method_of(resolved);
  if (!lists("awq,gptq", method)) return;
  notes.push_back({ErrorCode::engine_repacked,
                   path + "/weight_format",
                   {{"engine", kRules.engine}, {"id", method}},
                   std::nullopt});
  if (model.plan.tensor_ranks == 1 || !has_experts(*model.spec)) return;
  notes.push_back({ErrorCode::engine_experts_whole,
                   path + "/weight_format",
                   {{"id", method}, {"ranks", model.plan.tensor_ranks}},
                   std::nullopt});
}

/// A share that leaves less than the engine would; what it leaves is the larger part of captures.
void note_reserve(Diagnostics& notes, const SglangInputs& inputs, const SglangEstimate& estimate,
                  const std::string& path) {
  if (!inputs.mem_fraction_static) return;
  const CheckedU64 total = checked(inputs.device_total);
  const auto left = bytes_of(total - total * *inputs.mem_fraction_static);
  if (!left || *left >= estimate.rule_reserve) return;
  notes.push_back({ErrorCode::engine_reserve_small,
                   path + "/memory_frac",
                   {{"left", left->count()}, {"rule", estimate.rule_reserve.count()}},
                   std::nullopt});
}

uint64_t bytes_or_none(BytesDelta bytes) {
  return bytes.count() > 0 ? static_cast<uint64_t>(bytes.count()) : 0;
}

std::vector<EngineFact> facts_of(const SglangEstimate& estimate, uint64_t replicas) {
  Facts facts;
  facts.fraction("mem_fraction_static", estimate.mem_fraction_static)
      .number("chunked_prefill_size", estimate.chunked_prefill_size, "tokens")
      .number("cuda_graph_max_bs", estimate.cuda_graph_max_bs, "requests")
      .number("pool", bytes_or_none(estimate.rest), "bytes")
      .number("pool_low", bytes_or_none(estimate.rest_least), "bytes")
      .number("pool_high", bytes_or_none(estimate.rest_most), "bytes")
      .number("full_tokens", estimate.pools.full_tokens, "tokens");
  if (estimate.pools.window_tokens != 0)
    facts.number("window_tokens", estimate.pools.window_tokens, "tokens");
  if (estimate.pools.states != 0) facts.number("states", estimate.pools.states, "none");
  if (const auto& requests = estimate.breakdown.answers.max_requests)
    facts.number("admitted_requests", *requests * replicas, "requests");
  return std::move(facts.list);
}

/// A scenario in the engine's own terms.
struct Question {
  SglangProfile profile;
  ServerModel model;
  SglangInputs inputs;
};

Result<Question> question_of(const Resolved& resolved, const std::string& path) {
  const auto release = release_of(resolved.scenario, path);
  if (!release) return fail(release.error());
  const auto profile = sglang_profile(*resolved.engine, *release);
  if (!profile) return fail(profile.error());
  // It loads such a model, and caches for it, from what mem_fraction_static leaves
  // (server_args.py of 0.5 sets 6 GiB more aside): a remainder that is not modelled in parts.
  if (resolved.draft != nullptr) {
    return fail(ErrorCode::model_unsupported, path + "/draft_model",
                {{"what", "The memory of a draft model in SGLang"},
                 {"reason", "it comes out of a reserve whose parts are not known"}});
  }
  auto model = server_model(resolved, kRules, path);
  if (!model) return fail(std::move(model.error()));
  auto inputs = inputs_of(resolved, *model, path);
  if (!inputs) return fail(std::move(inputs.error()));
  return Question{*profile, std::move(*model), std::move(*inputs)};
}

}  // namespace

Result<EngineAnswer> estimate_with_sglang(const Resolved& resolved, const std::string& path) {
  auto question = question_of(resolved, path);
  if (!question) return fail(std::move(question.error()));
  auto& [profile, model, inputs] = *question;
  auto estimate = estimate_sglang(inputs, profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_sglang(*estimate, inputs, profile);
  const auto weights = server_weights(resolved, as_loaded(model, inputs.attention_replicas), kRules,
                                      load_of(resolved.scenario), path);
  if (!weights) return fail(weights.error());
  explain_weights(estimate->breakdown, **weights);
  EngineAnswer answer;
  answer.notes = std::move(model.notes);
  answer.notes.insert(answer.notes.end(), (*weights)->notes.begin(), (*weights)->notes.end());
  note_kernels(answer.notes, resolved, model, path);
  note_reserve(answer.notes, inputs, *estimate, path);
  note_short_pool(answer.notes, kRules.engine, estimate->pools.full_tokens,
                  resolved.scenario.context_tokens, path);
  answer.facts = facts_of(*estimate, resolved.scenario.data_ranks);
  multiply(estimate->breakdown.answers, resolved.scenario.data_ranks);
  answer.breakdown = std::move(estimate->breakdown);
  return answer;
}

Result<Breakdown> sglang_breakdown(const Resolved& resolved, const std::string& path,
                                   std::unique_ptr<Kept>& kept) {
  const auto question = kept_question(question_of, resolved, path, kept);
  if (!question) return fail(question.error());
  (*question)->inputs.num_requests = requests_per_replica(resolved.scenario);
  auto estimate = estimate_sglang((*question)->inputs, (*question)->profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  return std::move(estimate->breakdown);
}

}  // namespace vramgauge::api

#include "api/vllm_notes.h"

#include <algorithm>
#include <utility>

#include "units/text_list.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kEngine = "vLLM";
constexpr std::string_view kOn = "on";
/// Above that many tokens a step's peak has been seen beyond what profiling measured.
constexpr uint64_t kLargeStepTokens = 16'384;
/// Until then the profiling run allocated a state for every request (vllm issue 23230).
constexpr uint64_t kFirstLeanProfile = 11'000;

uint64_t bytes_or_none(BytesDelta bytes) {
  return bytes.count() > 0 ? static_cast<uint64_t>(bytes.count()) : 0;
}

/// The least over all stages, which sets the pool.
BytesDelta least(const VllmEstimate& estimate, BytesDelta VllmStage::*member) {
  BytesDelta bytes = estimate.stages.front().*member;
  for (const VllmStage& stage : estimate.stages)
    bytes = std::min(bytes, stage.*member);
  return bytes;
}

/// Notes under way.
class Notes {
 public:
  Notes(Diagnostics& notes, const std::string& path) : notes_(notes), path_(path) {}

  void add(ErrorCode code, std::string_view key, ErrorArgs args) {
    notes_.push_back({code, path_ + "/" + std::string(key), std::move(args), std::nullopt});
  }

 private:
  Diagnostics& notes_;
  const std::string& path_;
};

void note_refusals(Notes& notes, const VllmQuestion& question, const VllmEstimate& estimate) {
  const VllmDevice& device = question.inputs.device;
  if (estimate.lacks_free_memory) {
    notes.add(ErrorCode::vllm_lacks_free_memory, "memory_frac",
              {{"requested", estimate.requested.count()},
               {"free", bytes_or_none(device.total - device.held_by_others)}});
  }
  const VllmKvPool& pool = estimate.pool;
  const uint64_t available = bytes_or_none(least(estimate, &VllmStage::pool));
  if (pool.refusal == VllmRefusal::no_memory)
    notes.add(ErrorCode::vllm_no_memory, "gpu", {{"needed", pool.needed.count()}});
  if (pool.refusal == VllmRefusal::too_long) {
    notes.add(ErrorCode::vllm_too_long, "max_model_len",
              {{"tokens", question.inputs.cache.max_model_len},
               {"needed", pool.needed.count()},
               {"available", available},
               {"max_len", pool.max_len}});
  }
}

void note_budget(Notes& notes, const VllmQuestion& question, const VllmEstimate& estimate) {
  if (estimate.may_exceed_card) {
    notes.add(ErrorCode::vllm_outside_budget, "memory_frac",
              {{"low", estimate.outside.low.count()}, {"high", estimate.outside.high.count()}});
  }
  if (question.inputs.device.held_by_others != Bytes())
    notes.add(ErrorCode::vllm_shared_card, "held_gib", {});
  if (estimate.max_num_batched_tokens > kLargeStepTokens) {
    notes.add(ErrorCode::vllm_large_step, "max_num_batched_tokens",
              {{"tokens", estimate.max_num_batched_tokens}});
  }
}

void note_pool(Notes& notes, const VllmEstimate& estimate) {
  const VllmKvPool& pool = estimate.pool;
  const bool differs = pool.token_line != pool.capacity_tokens;
  if (estimate.plan.groups.size() > 1 && differs && pool.refusal == VllmRefusal::none) {
    notes.add(ErrorCode::vllm_token_line, "engine_version",
              {{"line", pool.token_line}, {"capacity", pool.capacity_tokens}});
  }
}

bool has_states(const VllmKvPlan& plan) {
  return std::any_of(plan.groups.begin(), plan.groups.end(),
                     [](const VllmKvGroup& group) { return group.kind == VllmKvKind::state; });
}

/// How the weights are quantised, in a word; empty = not.
std::string quantised_as(const Resolved& resolved) {
  if (resolved.format.id == "nvfp4") return resolved.format.id;
  if (resolved.format.id != kOwnFormat) return resolved.format.family;
  return resolved.model->quantization ? resolved.model->quantization->method : std::string();
}

void note_model(Notes& notes, const Resolved& resolved, const VllmQuestion& question,
                const VllmEstimate& estimate) {
  const ModelSpec& spec = *question.inputs.spec;
  const Scenario& scenario = resolved.scenario;
  const bool has_vision = std::any_of(spec.towers.begin(), spec.towers.end(),
                                      [](const Tower& t) { return t.kind == Tower::Kind::vision; });
  if (has_vision && scenario.language_model_only != kOn && !spec.largest_image)
    notes.add(ErrorCode::vllm_image_unknown, "model", {});
  if (has_states(estimate.plan) && question.profile.version < kFirstLeanProfile) {
    notes.add(ErrorCode::vllm_states_profiled, "max_num_seqs",
              {{"requests", estimate.max_num_seqs}});
  }
  if (scenario.expert_parallel == kOn)
    notes.add(ErrorCode::vllm_expert_copies, "expert_parallel", {});
  const std::string method = quantised_as(resolved);
  if (lists("awq,modelopt,modelopt_fp4,nvfp4", method)) {
    notes.add(ErrorCode::engine_repacked, "weight_format", {{"engine", kEngine}, {"id", method}});
  }
}

json::Value decimal(uint64_t hundredths) {
  return json::Value::decimal(Decimal::from_micros(hundredths * (Decimal::kScale / 100)));
}

std::string_view refusal_name(const VllmEstimate& estimate) {
  if (estimate.lacks_free_memory) return "lacks_free_memory";
  switch (estimate.pool.refusal) {
    case VllmRefusal::none: return "none";
    case VllmRefusal::no_memory: return "no_memory";
    case VllmRefusal::too_long: return "too_long";
  }
  return "";
}

}  // namespace

std::vector<EngineFact> vllm_facts(const VllmQuestion& question, const VllmEstimate& estimate,
                                   uint64_t replicas) {
  const VllmKvPool& pool = estimate.pool;
  const Decimal share = question.inputs.flags.gpu_memory_utilization.value_or(
      question.profile.gpu_memory_utilization_frac.value);
  const auto number = [](uint64_t value) { return json::Value::integer(value); };
  const auto bytes = [&](BytesDelta value) { return number(bytes_or_none(value)); };
  const auto all = [&](uint64_t value) {
    return number((CheckedU64(value) * replicas).value_or(value));
  };
  std::vector<EngineFact> facts;
  const auto add = [&facts](std::string_view key, json::Value value, std::string_view unit) {
    facts.push_back({key, std::move(value), unit});
  };
  if (!question.inputs.flags.kv_cache_memory)
    add("gpu_memory_utilization", json::Value::decimal(share), "fraction");
  add("max_num_batched_tokens", number(estimate.max_num_batched_tokens), "tokens");
  add("max_num_seqs", number(estimate.max_num_seqs), "requests");
  add("requested", number(estimate.requested.count()), "bytes");
  add("pool", bytes(least(estimate, &VllmStage::pool)), "bytes");
  add("pool_low", bytes(least(estimate, &VllmStage::pool_least)), "bytes");
  add("pool_high", bytes(least(estimate, &VllmStage::pool_most)), "bytes");
  add("num_blocks", number(pool.num_blocks), "blocks");
  if (estimate.plan.raised_block_tokens != 0)
    add("raised_block_tokens", number(estimate.plan.raised_block_tokens), "tokens");
  add("logged_tokens", number(pool.token_line), "tokens");
  add("logged_concurrency", decimal(pool.concurrency_hundredths()), "factor");
  add("admitted_requests", all(estimate.breakdown.answers.max_requests.value_or(0)), "requests");
  add("steady_requests", all(estimate.steady_requests), "requests");
  add("one_request_needs", number(pool.needed.count()), "bytes");
  add("estimated_max_len", number(pool.max_len), "tokens");
  if (const Bytes host = question.inputs.stage_weights.front().offloaded; host != Bytes())
    add("offloaded", number(host.count()), "bytes");
  add("outside", number(estimate.outside.bytes.count()), "bytes");
  add("refusal", json::Value::string(std::string(refusal_name(estimate))), "none");
  return facts;
}

void add_vllm_notes(Diagnostics& list, const Resolved& resolved, const VllmQuestion& question,
                    const VllmEstimate& estimate, const std::string& path) {
  Notes notes(list, path);
  note_refusals(notes, question, estimate);
  note_budget(notes, question, estimate);
  note_pool(notes, estimate);
  note_model(notes, resolved, question, estimate);
}

}  // namespace vramgauge::api

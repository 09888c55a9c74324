#include <algorithm>

#include "api/plan_formats.h"
#include "api/plan_levers.h"
#include "api/plan_methods.h"
#include "plan/solve.h"
#include "plan/splits.h"
#include "specs/model_traits.h"
#include "specs/scenario_compare.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kTargets =
    "num_requests,context_tokens,cached_tokens,prefill_budget,gpu_count,weight_format,cache_type,"
    "gpu_layers,cpu_moe_layers";
/// What engines call the tokens that they prefill at once.
constexpr std::string_view kPrefillFields[] = {"prefill_tokens", "ubatch_tokens",
                                               "max_num_batched_tokens"};
/// llama_max_devices(), src/llama.cpp.
constexpr uint64_t kMaxLlamaCppGpus = 16;
constexpr uint64_t kMaxSplitGpus = 1024;

/// One question under way.
struct Question {
  const PlanContext& context;
  const PlanRequest& request;
  const ModelSpec& spec;
  SessionProbe& probe;
  /// `for`.
  std::string target;

  const Scenario& scenario() const { return request.scenario; }
  bool holds(const Outcome& outcome) const { return vramgauge::holds(outcome, request.accept); }
};

tl::unexpected<Diagnostics> no_such_target(const Question& question) {
  return fail(
      ErrorCode::value_not_a_choice, "/for",
      {{"key", "for"}, {"value", question.target}, {"choices", "a quantity the engine has"}});
}

/// An outcome with the value it belongs to.
json::Value side_json(json::Value value, const Outcome& outcome) {
  json::Value out = outcome_json(outcome);
  out.set("value", std::move(value));
  return out;
}

json::Value binding_json(const Binding& binding) {
  json::Value out = json::Value::object();
  out.set("kind", binding_kind_name(binding.kind));
  if (binding.kind == BindingKind::memory) {
    out.set("term", term_name(binding.term));
    out.set("rank", binding.rank);
    out.set("device", binding.device);
  }
  return out;
}

json::Value count_or_null(const std::optional<uint64_t>& count) {
  return count ? json::Value::integer(*count) : json::Value::null();
}

/// What every answer has.
json::Value answer_json(const Question& question, json::Value value, json::Value patch) {
  json::Value out = json::Value::object();
  out.set("for", question.target);
  out.set("value", std::move(value));
  out.set("scenario_patch", std::move(patch));
  return out;
}

uint64_t one_step(const Span& span, uint64_t value) {
  return span.wants_largest ? value + 1 : value - 1;
}

json::Value found_json(const Question& question, const Field& field, const Span& span,
                       const Found& found) {
  Scenario patched = question.scenario();
  if (found.value) patched.*field.number = *found.value;
  json::Value out = answer_json(question, count_or_null(found.value),
                                scenario_patch(question.scenario(), patched));
  const uint64_t tried = found.value.value_or(span.wants_largest ? span.min : span.max);
  out.set("field", field.key);
  out.set("at", side_json(json::Value::integer(tried), found.at));
  if (found.next)
    out.set("next", side_json(json::Value::integer(one_step(span, tried)), *found.next));
  out.set("binding", binding_json(binding_of(found)));
  out.set("holds_again_at", count_or_null(found.holds_again_at));
  out.set("num_estimates", found.num_estimates);
  return out;
}

Found find(const Question& question, const Field& field, const Span& span) {
  return solve_field(question.probe, question.scenario(), field.number, span,
                     question.request.accept);
}

/// The longest context, or the model's own maximum where memory allows more.
json::Value solve_context(const Question& question, const Field& field) {
  const Span span{std::max<uint64_t>(1, question.scenario().shared_prefix_tokens), field.max, true};
  Found found = find(question, field, span);
  const uint64_t longest = question.spec.max_context_tokens;
  const std::optional<uint64_t> in_memory = found.value;
  const bool is_model_bound = longest != 0 && in_memory && *in_memory >= longest;
  if (is_model_bound && *in_memory > longest) {
    Scenario at = question.scenario();
    at.context_tokens = longest;
    found.value = longest;
    found.at = question.probe.estimate(at);
    found.next.reset();
  }
  json::Value out = found_json(question, field, span, found);
  if (is_model_bound) out.set("binding", binding_json({BindingKind::model_context, {}, 0, {}}));
  out.set("memory_value", count_or_null(in_memory));
  out.set("model_max_context_tokens", longest);
  return out;
}

/// Tokens of all requests: more of them at this context, or longer ones at this number.
json::Value solve_cached_tokens(const Question& question) {
  const auto by = [&question](std::string_view key, uint64_t each) {
    const Field& field = *find_field(key);
    const Span span{field.min, field.max, true};
    const Found found = find(question, field, span);
    const uint64_t total = (CheckedU64(found.value.value_or(0)) * each).value_or(kMaxApiBytes);
    return std::pair(total, found_json(question, field, span, found));
  };
  auto requests = by("num_requests", question.scenario().context_tokens);
  auto context = by("context_tokens", question.scenario().num_requests);
  auto& [total, out] = context.first >= requests.first ? context : requests;
  out.set("value", total == 0 ? json::Value::null() : json::Value::integer(total));
  return std::move(out);
}

uint64_t last_value(const Question& question, const Field& field) {
  const Scenario& scenario = question.scenario();
  const uint64_t num_layers = question.spec.layers.size();
  if (field.key == "gpu_layers") return num_layers + 1;
  if (field.key == "cpu_moe_layers") return num_layers;
  if (field.key == "prefill_tokens") return scenario.context_tokens;
  return field.key == "ubatch_tokens" ? scenario.batch_tokens : field.max;
}

Answer solve_number(const Question& question, std::string_view key) {
  const Field* field = find_field(key);
  if (key == "prefill_budget") {
    for (const std::string_view name : kPrefillFields) {
      const Field* prefill = find_field(name);
      if (prefill != nullptr && engine_reads(question.scenario().engine, prefill->key))
        field = prefill;
    }
  }
  if (field == nullptr || !engine_reads(question.scenario().engine, field->key))
    return no_such_target(question);
  if (key == "context_tokens") return solve_context(question, *field);
  // 0 stands for a default in most fields of tokens.
  const uint64_t first = field->unit == "layers" ? field->min : std::max<uint64_t>(1, field->min);
  const Span span{first, last_value(question, *field), key != "cpu_moe_layers"};
  return found_json(question, *field, span, find(question, *field, span));
}

json::Value split_json(const Question& question, const Split& split) {
  json::Value out = outcome_json(split.outcome);
  out.set("scenario_patch", scenario_patch(question.scenario(), split.scenario));
  return out;
}

json::Value splits_json(const Question& question, const std::vector<Split>& splits) {
  json::Value list = json::Value::array();
  for (const Split& split : splits)
    list.push(split_json(question, split));
  return list;
}

SplitRules rules_of(const Question& question) {
  const auto has = [&](std::string_view key) {
    return engine_reads(question.scenario().engine, key);
  };
  SplitRules rules;
  rules.has_ranks = has("tensor_ranks");
  rules.has_experts = has_experts(question.spec);
  rules.has_dp_attention = has("dp_attention");
  rules.max_gpus = rules.has_ranks ? kMaxSplitGpus : find_field("gpu_count")->max;
  if (question.scenario().engine == kLlamaCpp) rules.max_gpus = kMaxLlamaCppGpus;
  return rules;
}

Answer solve_gpus(const Question& question) {
  const FewestGpus fewest =
      fewest_gpus(question.probe, question.scenario(), rules_of(question), question.request.accept);
  const Split* best = first_that_holds(fewest.splits, question.request.accept);
  const bool is_found = best != nullptr;
  json::Value value = is_found ? json::Value::integer(fewest.num_gpus) : json::Value::null();
  json::Value patch =
      is_found ? scenario_patch(question.scenario(), best->scenario) : json::Value::object();
  json::Value out = answer_json(question, std::move(value), std::move(patch));
  out.set("at", split_json(question, is_found ? *best : fewest.splits.front()));
  out.set("splits", splits_json(question, fewest.splits));
  out.set("one_less", splits_json(question, fewest.one_less));
  out.set("num_estimates", fewest.num_estimates);
  return out;
}

/// Every choice, and the widest that holds.
Answer solve_choice(const Question& question, const std::vector<Choice>& choices) {
  const bool is_cache = question.target == "cache_type";
  const Scenario& scenario = question.scenario();
  json::Value list = json::Value::array();
  Found found;
  json::Value value = json::Value::null();
  Scenario patched = scenario;
  std::optional<Outcome> above;
  for (const Choice& choice : choices) {
    Scenario at = scenario;
    if (is_cache) {
      at.cache_type_k = at.cache_type_v = choice.id;
    } else {
      at.weight_format = choice.id;
    }
    Outcome outcome = question.probe.estimate(at);
    // What the engine does not load is no choice.
    if (outcome.is_refused()) continue;
    json::Value item = outcome_json(outcome);
    item.set("id", choice.id);
    item.set("bits", json::Value::decimal(Decimal::from_micros(choice.micro_bits)));
    list.push(std::move(item));
    const bool is_first = value.is_null() && question.holds(outcome);
    if (is_first) {
      value = json::Value::string(choice.id);
      patched = at;
      found = {0, outcome, above, std::nullopt, 0};
    }
    above = std::move(outcome);
  }
  if (value.is_null() && above) found.at = *above;
  json::Value out = answer_json(question, std::move(value), scenario_patch(scenario, patched));
  out.set("binding", binding_json(binding_of(found)));
  out.set("choices", std::move(list));
  return out;
}

Answer dispatch(const Question& question) {
  const std::string& target = question.target;
  if (target == "gpu_count") return solve_gpus(question);
  if (target == "cached_tokens") return solve_cached_tokens(question);
  if (target == "weight_format")
    return solve_choice(question, format_choices(question.context, question.scenario()));
  if (target == "cache_type") {
    std::vector<Choice> types = cache_type_choices(question.context);
    sort_widest_first(types);
    return solve_choice(question, types);
  }
  return solve_number(question, target);
}

}  // namespace

Answer solve(const PlanContext& context, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  PlanRequest asked = read_plan_request(reader);
  std::string target = read_word(reader, "for", kTargets);
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto resolved = probe.resolve(asked.scenario);
  if (!resolved) return fail(resolved.error());
  // The engine's name as the table of fields has it.
  asked.scenario.engine = (*resolved)->scenario.engine;
  const ModelSpec& spec = (*resolved)->model->spec;
  Diagnostics warnings = (*resolved)->warnings;
  Answer answer = dispatch({context, asked, spec, probe, std::move(target)});
  answer.warnings = std::move(warnings);
  return unknown_keys(reader, errors, std::move(answer));
}

}  // namespace vramgauge::api

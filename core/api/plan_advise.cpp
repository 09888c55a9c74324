#include "api/plan_levers.h"
#include "api/plan_methods.h"
#include "specs/scenario_compare.h"

namespace vramgauge::api {
namespace {

/// What one of the engine's answers gains; null where the engine does not give it.
json::Value gain(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
  if (!before || !after) return json::Value::null();
  return json::Value::signed_integer(static_cast<int64_t>(*after) - static_cast<int64_t>(*before));
}

json::Value lever_json(Probe& probe, const Scenario& base, const Advice& advice,
                       const Lever& lever) {
  const LeverFacts& facts = lever_facts(lever.order);
  const Answers before = advice.before.answers;
  const Answers after = probe.with_answers(lever.scenario).answers;
  json::Value patch = scenario_patch(base, lever.scenario);
  const json::Member& first = patch.as_object()->front();
  json::Value out = outcome_json(lever.outcome);
  out.set("id", facts.id);
  out.set("order", lever.order);
  out.set("field", first.key);
  out.set("value", first.value);
  out.set("flag", engine_flag(base.engine, first.key));
  out.set("caution", facts.caution);
  out.set("source", facts.source);
  out.set("freed_bytes", json::Value::signed_integer(lever.freed_bytes));
  out.set("gained_requests", gain(before.max_requests, after.max_requests));
  out.set("gained_tokens", gain(before.max_cached_tokens, after.max_cached_tokens));
  out.set("crosses", json::Value::boolean(lever.crosses));
  out.set("scenario_patch", std::move(patch));
  return out;
}

json::Value combination_json(Probe& probe, const Scenario& base, const Advice& advice,
                             const std::vector<uint64_t>& members) {
  Scenario at = base;
  json::Value ids = json::Value::array();
  for (const uint64_t member : members) {
    const Lever& lever = advice.levers[static_cast<std::size_t>(member)];
    apply_lever(base, lever.scenario, at);
    ids.push(json::Value::string(std::string(lever_facts(lever.order).id)));
  }
  json::Value out = outcome_json(probe.estimate(at));
  out.set("levers", std::move(ids));
  out.set("scenario_patch", scenario_patch(base, at));
  return out;
}

}  // namespace

Answer advise(const PlanContext& context, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const PlanRequest asked = read_plan_request(reader);
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto found = probe.resolve(asked.scenario);
  if (!found) return fail(found.error());
  // A copy: the probe's own changes with what it is asked.
  const Resolved resolved = **found;
  const Scenario& base = resolved.scenario;
  const auto offers = lever_offers(context, probe, resolved, asked.accept);
  const Advice advice = advise_scenario(probe, base, offers, asked.accept);
  if (advice.before.is_refused()) return fail(advice.before.refusal);
  json::Value levers = json::Value::array();
  for (const Lever& lever : advice.levers)
    levers.push(lever_json(probe, base, advice, lever));
  json::Value combinations = json::Value::array();
  for (const auto& members : advice.combinations)
    combinations.push(combination_json(probe, base, advice, members));
  json::Value out = json::Value::object();
  out.set("before", outcome_json(advice.before));
  out.set("levers", std::move(levers));
  out.set("combinations", std::move(combinations));
  return unknown_keys(reader, errors, {std::move(out), resolved.warnings});
}

}  // namespace vramgauge::api

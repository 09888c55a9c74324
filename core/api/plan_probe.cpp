#include "api/plan_probe.h"

#include <algorithm>

#include "api/plan_methods.h"
#include "specs/scenario_compare.h"

namespace vramgauge::api {
namespace {

/// Whether a look-up depends on the field: names, the model's own, and what divides a cache.
bool is_looked_up(const Field& field) {
  return field.kind == FieldKind::choice || (field.group != "workload" && field.group != "engine");
}

}  // namespace

bool is_word_of(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

SessionProbe::SessionProbe(const PlanContext& context) : context_(context) {
  for (const Field& field : scenario_fields())
    (is_looked_up(field) ? names_ : numbers_).push_back(&field);
}

void SessionProbe::vary(const std::vector<const Field*>& fields) {
  names_.clear();
  numbers_.clear();
  for (const Field* field : fields)
    (is_looked_up(*field) ? names_ : numbers_).push_back(field);
}

Result<const Resolved*> SessionProbe::resolve(const Scenario& scenario) {
  const bool has_same_names = std::all_of(names_.begin(), names_.end(), [&](const Field* field) {
    return has_same(asked_, scenario, *field);
  });
  if (resolved_ && has_same_names) {
    copy_numbers(scenario);
    return &*resolved_;
  }
  resolved_.reset();
  kept_.reset();
  auto resolved = api::resolve(context_.catalogue, context_.models, scenario, kScenarioPath);
  if (!resolved) return fail(std::move(resolved.error()));
  if (context_.parts.engine(resolved->scenario.engine) == nullptr) {
    return fail(ErrorCode::engine_module_needed, "/scenario/engine",
                {{"engine", resolved->scenario.engine}});
  }
  asked_ = scenario;
  resolved_ = std::move(*resolved);
  return &*resolved_;
}

void SessionProbe::copy_numbers(const Scenario& scenario) {
  Scenario& known = resolved_->scenario;
  for (const Field* field : numbers_) {
    if (has_same(known, scenario, *field)) continue;
    has_new_numbers_ = has_new_numbers_ || field->number != &Scenario::num_requests;
    copy_field(scenario, known, *field);
  }
}

Outcome SessionProbe::outcome(const Scenario& scenario, bool needs_answers) {
  Outcome out;
  const auto resolved = resolve(scenario);
  if (!resolved) {
    out.refusal = resolved.error();
    return out;
  }
  auto breakdown =
      this->breakdown(*context_.parts.engine((*resolved)->scenario.engine), needs_answers);
  if (breakdown) return outcome_of(std::move(*breakdown));
  out.refusal = std::move(breakdown.error());
  return out;
}

Result<Breakdown> SessionProbe::breakdown(const EngineFace& engine, bool needs_answers) {
  if (!needs_answers && engine.breakdown != nullptr) {
    if (kept_ != nullptr) kept_->has_new_numbers = has_new_numbers_;
    auto breakdown = engine.breakdown(*resolved_, kScenarioPath, kept_);
    // What an engine refuses it has not kept.
    has_new_numbers_ = !breakdown;
    return breakdown;
  }
  auto answer = engine.estimate(*resolved_, kScenarioPath);
  if (!answer) return fail(std::move(answer.error()));
  return std::move(answer->breakdown);
}

std::string read_word(json::ObjectReader& reader, std::string_view key, std::string_view words) {
  std::string word = reader.string(key).value_or(std::string(words.substr(0, words.find(','))));
  if (!is_word_of(words, word)) {
    reader.error(ErrorCode::value_not_a_choice, key,
                 {{"key", key}, {"value", word.substr(0, 80)}, {"choices", words}});
  }
  return word;
}

PlanRequest read_plan_request(json::ObjectReader& reader) {
  PlanRequest out;
  if (const json::Value* given = reader.raw("scenario")) {
    auto scenario = read_scenario(*given, kScenarioPath);
    if (scenario) {
      out.scenario = std::move(*scenario);
    } else {
      reader.errors().insert(reader.errors().end(), scenario.error().begin(),
                             scenario.error().end());
    }
  }
  if (read_word(reader, "accept", "tight,fits") == "fits") out.accept = Accept::fits;
  return out;
}

json::Value counts_json(std::initializer_list<std::pair<std::string_view, uint64_t>> members) {
  json::Value out = json::Value::object();
  for (const auto& [key, count] : members)
    out.set(key, count);
  return out;
}

json::Value outcome_json(const Outcome& outcome) {
  if (outcome.is_refused()) {
    json::Value out = json::Value::object();
    return std::move(out.set("refusal", diagnostic_json(outcome.refusal.front())));
  }
  json::Value out = counts_json({{"needed_bytes", outcome.needed.count()},
                                 {"usable_bytes", outcome.usable.count()},
                                 {"rank", outcome.rank}});
  out.set("state", verdict_name(outcome.state));
  out.set("margin_bytes", json::Value::signed_integer(outcome.margin().count()));
  out.set("device", outcome.device);
  return out;
}

PlanMethod plan_method(std::string_view name) {
  constexpr std::pair<std::string_view, PlanMethod> kMethods[] = {
      {"advise", advise}, {"search", search}, {"solve", solve},
      {"speed", speed},   {"sweep", sweep},   {"traffic", traffic},
  };
  for (const auto& [known, method] : kMethods)
    if (known == name) return method;
  return nullptr;
}

}  // namespace vramgauge::api

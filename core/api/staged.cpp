#include "api/staged.h"

namespace vramgauge::api {

Result<const ServerWeights*> set_stages(StagedInputs& inputs, const Resolved& resolved,
                                        const ServerModel& model, const ServerRules& rules,
                                        const std::string& path, const ServerLoad& load) {
  auto weights = server_weights(resolved, model, rules, load, path);
  if (!weights) return weights;
  auto calibration = Calibration::parse(resolved.scenario.calibration);
  if (!calibration) return fail(below(path, std::move(calibration.error())));
  inputs.calibration = *calibration;
  inputs.spec = model.spec;
  for (const VllmLoadedWeights& stage : (*weights)->stages)
    inputs.stage_weights.push_back(stage.allocated);
  inputs.weights_basis = (*weights)->basis;
  inputs.plan = model.plan;
  inputs.device_name = model.device.name;
  inputs.device_total = model.device.total;
  inputs.held_by_others = model.device.held_by_others;
  inputs.cache_type = model.cache_type;
  inputs.state_precision = model.state_precision;
  inputs.context_tokens = resolved.scenario.context_tokens;
  inputs.num_requests = model.requests_per_replica;
  return weights;
}

Result<uint64_t> release_of(const Scenario& scenario, const std::string& path) {
  const std::string& version = scenario.engine_version;
  if (version.empty()) return UINT64_MAX;
  if (const auto release = release_number(version)) return *release;
  return fail(ErrorCode::value_unreadable, path + "/engine_version",
              {{"key", "engine_version"},
               {"value", std::string_view(version).substr(0, 80)},
               {"expected", "a release such as 0.5.12"}});
}

void note_short_pool(Diagnostics& notes, std::string_view engine, uint64_t pool_tokens,
                     uint64_t context_tokens, const std::string& path) {
  if (pool_tokens == 0 || pool_tokens >= context_tokens) return;
  notes.push_back({ErrorCode::engine_starts_with_less,
                   path + "/context_tokens",
                   {{"engine", engine}, {"tokens", pool_tokens}, {"context", context_tokens}},
                   std::nullopt});
}

Facts& Facts::number(std::string_view key, uint64_t value, std::string_view unit) {
  list.push_back({key, json::Value::integer(value), unit});
  return *this;
}

Facts& Facts::fraction(std::string_view key, const Decimal& value) {
  list.push_back({key, json::Value::decimal(value), "fraction"});
  return *this;
}

void multiply(Answers& answers, uint64_t replicas) {
  for (auto* answer : {&answers.max_requests, &answers.max_cached_tokens}) {
    if (*answer) *answer = (CheckedU64(**answer) * replicas).value_or(UINT64_MAX);
  }
}

}  // namespace vramgauge::api

#include "api/check_log.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "api/link.h"
#include "api/log_scenario.h"
#include "import/engine_log_json.h"
#include "plan/log_check.h"
#include "report/calibration_lines.h"
#include "report/log_calibration.h"
#include "report/log_observation.h"

namespace vramgauge::api {
namespace {

constexpr const char* kPath = "/scenario";

Result<EngineLog> log_of(LogTextReader read_text, json::ObjectReader& reader) {
  const json::Value* document = reader.raw("log");
  const auto text = reader.string("text");
  if (document != nullptr) return read_engine_log(*document, "/log");
  if (!text) return fail(ErrorCode::json_missing_key, "/text", {{"key", "text"}});
  if (read_text == nullptr)
    return fail(ErrorCode::api_tools_needed, "/text", {{"method", std::string_view("check_log")}});
  return read_text(*text);
}

/// The log's fields with those of the request over them.
json::Value asked_scenario(const json::Value& patch, const json::Value* given) {
  json::Value asked = patch;
  if (given == nullptr || given->as_object() == nullptr) return asked;
  for (const json::Member& member : *given->as_object())
    asked.set(member.key, member.value);
  return asked;
}

LogFacts facts_of(const ModelSpec& spec, const Scenario& scenario) {
  LogFacts facts;
  facts.num_layers = spec.layers.size();
  facts.tensor_ranks = scenario.tensor_ranks != 0 ? scenario.tensor_ranks : scenario.gpu_count;
  facts.has_towers = !spec.towers.empty();
  facts.has_plain_cache = true;
  for (const Layer& layer : spec.layers) {
    facts.has_experts |= std::holds_alternative<MoeFfn>(layer.ffn);
    for (const Mixer& mixer : layer.mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention != nullptr && facts.num_kv_heads == 0)
        facts.num_kv_heads = attention->num_kv_heads;
      const bool is_plain = std::holds_alternative<LatentAttention>(mixer) ||
                            (attention != nullptr && attention->window_tokens == 0);
      facts.has_plain_cache &= is_plain;
    }
  }
  return facts;
}

/// What was predicted, or why nothing was.
struct Prediction {
  LogCheck check;
  std::optional<VerdictState> verdict;
  /// What was in force while it was predicted.
  Calibration calibration;
  Diagnostics errors;
};

/// One log with what a session has.
class Checker {
 public:
  Checker(const Parts& parts, const Catalogue& catalogue, Models& models, const EngineLog& log)
      : parts_(parts), catalogue_(catalogue), models_(models), log_(log) {}

  Prediction predict(const json::Value& asked) {
    Prediction out;
    auto predictions = predictions_for(asked, out);
    if (!predictions) out.errors = std::move(predictions.error());
    out.check = vramgauge::check_log(
        log_, predictions ? *predictions : std::vector<CheckPrediction>(), facts_);
    return out;
  }

 private:
  Result<std::vector<CheckPrediction>> predictions_for(const json::Value& asked, Prediction& out) {
    auto scenario = read_scenario(asked, kPath);
    if (!scenario) return fail(std::move(scenario.error()));
    const CatalogueEntry* entry = catalogue_.engines().find(scenario->engine);
    const EngineFace* engine = entry == nullptr ? nullptr : parts_.engine(entry->id);
    if (engine == nullptr) {
      return fail(ErrorCode::engine_module_needed, "/scenario/engine",
                  {{"engine", scenario->engine}});
    }
    auto resolved = resolve(catalogue_, models_, *scenario, kPath);
    if (!resolved) return fail(std::move(resolved.error()));
    auto answer = engine->estimate(*resolved, kPath);
    if (!answer) return fail(std::move(answer.error()));
    facts_ = facts_of(resolved->model->spec, resolved->scenario);
    if (auto calibration = Calibration::parse(resolved->scenario.calibration))
      out.calibration = *calibration;
    explain_calibration(answer->breakdown, out.calibration);
    out.verdict = answer->breakdown.verdict.state;
    return predictions_of(answer->breakdown, log_.engine);
  }

  const Parts& parts_;
  const Catalogue& catalogue_;
  Models& models_;
  const EngineLog& log_;
  LogFacts facts_;
};

/// Signed percent to two places.
json::Value percent_of(int64_t part, int64_t whole) {
  constexpr uint64_t kHundredth = Decimal::kScale / 100;
  constexpr double kMost = 1e9;
  const double share = static_cast<double>(part) / static_cast<double>(whole) * 100;
  const auto exact = Decimal::from_double(std::min(std::abs(share), kMost)).value_or(Decimal());
  const Decimal decimal =
      Decimal::from_micros((exact.micros() + kHundredth / 2) / kHundredth * kHundredth);
  if (share >= 0) return json::Value::decimal(decimal);
  return json::Value::real(-decimal.to_double(), "-" + decimal.text());
}

void set_prediction(json::Value& out, const CheckRow& row) {
  const PredictedValue& predicted = *row.predicted;
  out.set("predicted", json::Value::signed_integer(predicted.value));
  out.set("low", json::Value::signed_integer(predicted.low));
  out.set("high", json::Value::signed_integer(predicted.high));
  out.set("residual", json::Value::signed_integer(row.residual()));
  if (predicted.value != 0)
    out.set("residual_pct", percent_of(row.residual(), std::abs(predicted.value)));
  out.set("in_band", json::Value::boolean(row.is_in_band));
  out.set("is_large", json::Value::boolean(row.is_large));
}

json::Value row_json(const CheckRow& row) {
  json::Value out = json::Value::object();
  out.set("quantity", check_quantity_name(row.quantity));
  out.set("where", row.where);
  out.set("unit", is_in_bytes(row.quantity) ? "bytes" : "tokens");
  out.set("measured", json::Value::signed_integer(row.measured));
  out.set("tolerance", json::Value::signed_integer(row.tolerance));
  out.set("line", row.line);
  if (row.predicted) set_prediction(out, row);
  json::Value reasons = json::Value::array();
  for (const CheckReason reason : row.reasons) {
    const CheckReasonInfo& info = check_reason_info(reason);
    json::Value each = json::Value::object();
    each.set("name", info.name);
    each.set("text", info.text);
    reasons.push(std::move(each));
  }
  out.set("reasons", std::move(reasons));
  return out;
}

json::Value strings_json(const std::vector<std::string>& strings) {
  json::Value list = json::Value::array();
  for (const std::string& each : strings)
    list.push(json::Value::string(each));
  return list;
}

json::Value errors_json(const Diagnostics& errors) {
  json::Value list = json::Value::array();
  for (const Diagnostic& each : errors)
    list.push(diagnostic_json(each));
  return list;
}

Diagnostics notes_of(const EngineLog& log, const LogScenario& scenario) {
  Diagnostics notes;
  if (log.num_starts > 1) {
    notes.push_back(
        {ErrorCode::log_restarted, "/text", {{"starts", log.num_starts}}, std::nullopt});
  }
  if (!scenario.unknown_model.empty()) {
    notes.push_back({ErrorCode::log_model_unknown,
                     "/text",
                     {{"model", std::string_view(scenario.unknown_model).substr(0, 80)}},
                     std::nullopt});
  }
  if (scenario.is_card_by_memory) {
    const json::Value* gpu = scenario.patch.find("gpu");
    notes.push_back(
        {ErrorCode::log_card_by_memory, "/text", {{"gpu", *gpu->as_string()}}, std::nullopt});
  }
  return notes;
}

/// The correction with a link that carries it and what the log states.
json::Value calibration_of(const EngineLog& log, const json::Value& asked,
                           const Prediction& prediction) {
  const Calibration correction = log_correction(prediction.check, prediction.calibration);
  json::Value out = log_calibration(log, correction);
  if (out.is_null()) return out;
  json::Value calibrated = asked;
  calibrated.set("calibration", correction.text());
  if (const auto scenario = read_scenario(calibrated, kPath))
    out.set("link", encode_link(*scenario));
  return out;
}

json::Value result_of(const EngineLog& log, const LogScenario& scenario, const json::Value& asked,
                      const Prediction& prediction) {
  json::Value out = json::Value::object();
  out.set("engine", log_engine_name(log.engine));
  out.set("engine_version", log.flag("version"));
  out.set("outcome", log_outcome_name(log.outcome));
  if (prediction.verdict) out.set("verdict", verdict_name(*prediction.verdict));
  json::Value rows = json::Value::array();
  for (const CheckRow& row : prediction.check.rows)
    rows.push(row_json(row));
  out.set("rows", std::move(rows));
  out.set("prediction_errors", errors_json(prediction.errors));
  out.set("scenario_patch", scenario.patch);
  out.set("not_carried", strings_json(scenario.not_carried));
  out.set("observation", log_observation(log));
  out.set("calibration", calibration_of(log, asked, prediction));
  out.set("log", write_engine_log(log));
  return out;
}

}  // namespace

Answer check_read_log(const Parts& parts, const Catalogue& catalogue, Models& models,
                      const json::Value& request) {
  return check_log_with(nullptr, parts, catalogue, models, request);
}

Answer check_log_with(LogTextReader read_text, const Parts& parts, const Catalogue& catalogue,
                      Models& models, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const json::Value* given = reader.raw("scenario");
  const auto log = log_of(read_text, reader);
  if (!errors.empty()) return fail(std::move(errors));
  if (!log) return fail(log.error());
  if (log->engine == LogEngine::unknown)
    return fail(ErrorCode::log_no_engine, "/text", {{"lines", log->num_lines}});
  const LogScenario scenario = log_scenario(*log, catalogue);
  const json::Value asked = asked_scenario(scenario.patch, given);
  // A log that does not name a model that is known is predicted only for a model that is given.
  const auto is_given = [given](std::string_view key) {
    return given != nullptr && given->find(key) != nullptr;
  };
  const bool has_model =
      scenario.patch.find("model") != nullptr || is_given("model") || is_given("model_config");
  Prediction prediction;
  if (has_model) {
    prediction = Checker(parts, catalogue, models, *log).predict(asked);
  } else {
    prediction.check = vramgauge::check_log(*log, {}, {});
  }
  return unknown_keys(reader, errors,
                      {result_of(*log, scenario, asked, prediction), notes_of(*log, scenario)});
}

}  // namespace vramgauge::api

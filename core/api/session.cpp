#include "api/session.h"

#include "api/command_models.h"
#include "api/describe.h"
#include "api/device_notes.h"
#include "api/envelope.h"
#include "api/import_text.h"
#include "api/link.h"
#include "api/parts.h"
#include "api/plan_probe.h"
#include "api/resolve.h"
#include "api/write.h"
#include "model/parameters.h"
#include "report/calibration_lines.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kMaxListed = 1000;

void warn(Diagnostics& warnings, ErrorCode code, std::string path, ErrorArgs args) {
  warnings.push_back({code, std::move(path), std::move(args), std::nullopt});
}

Diagnostics module_needed(std::string_view engine) {
  return {
      {ErrorCode::engine_module_needed, "/scenario/engine", {{"engine", engine}}, std::nullopt}};
}

}  // namespace

struct Session::State {
  explicit State(const Parts& own) : parts(own), models(own.importers) {}

  const Parts& parts;
  Catalogue catalogue;
  Models models;

  Answer version(const json::Value& request);
  Answer describe(const json::Value& request);
  Answer list(const json::Value& request);
  Answer model(const json::Value& request);
  Answer import(const json::Value& request);
  Answer estimate(const json::Value& request);
  Answer link_encode(const json::Value& request);
  Answer link_decode(const json::Value& request);
  Answer concurrency(const json::Value& request);

  /// What to answer when another module has the engine; an unknown one is for resolve to name.
  std::optional<Diagnostics> needed_module(const std::string& engine) const;
  Answer dispatch(std::string_view method, const json::Value& request);
  Answer estimate(const Scenario& scenario);
  Answer fit(const json::Value& request);
  Answer tool(std::string_view method, const json::Value& request);
  Answer parse_command(const json::Value& request);
};

namespace {

/// The calibration of a scenario whose engine has taken it: what the arithmetic and a remark say.
void explain_calibration_of(const Scenario& scenario, Breakdown& breakdown, Diagnostics& warnings) {
  if (scenario.calibration.empty() || scenario.engine == kGeneric) return;
  const auto calibration = Calibration::parse(scenario.calibration);
  if (!calibration) return;
  explain_calibration(breakdown, *calibration);
  warn(warnings, ErrorCode::calibration_in_force, "/scenario/calibration",
       {{"terms", scenario.calibration}});
}

/// A request that must have no members.
Answer without_arguments(const json::Value& request, Answer answer) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  return unknown_keys(reader, errors, std::move(answer));
}

}  // namespace

Answer Session::State::version(const json::Value& request) {
  json::Value out = json::Value::object();
  out.set("version", api::version());
  out.set("link_version", kLinkVersion);
  return without_arguments(request, std::move(out));
}

Answer Session::State::describe(const json::Value& request) {
  return without_arguments(request, api::describe(catalogue));
}

Answer Session::State::list(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string kind = reader.string("kind").value_or("");
  const std::string query = reader.string("query").value_or("");
  uint64_t limit = kMaxListed;
  if (const json::Value* given = reader.raw("limit");
      given != nullptr && given->as_string() != nullptr) {
    limit = parse_count(*given->as_string()).value_or(kMaxListed);
  } else {
    limit = reader.u64("limit", {0, kMaxListed}).value_or(kMaxListed);
  }
  const CatalogueList* entries = catalogue.list(kind);
  if (entries == nullptr) reader.error(ErrorCode::catalogue_unknown_kind, "kind", {{"kind", kind}});
  if (!errors.empty()) return fail(std::move(errors));
  const std::vector<const CatalogueEntry*> found = entries->search(query);
  json::Value items = json::Value::array();
  for (const CatalogueEntry* entry : found) {
    if (items.as_array()->size() >= limit) break;
    items.push(entry->facts);
  }
  json::Value out = json::Value::object();
  out.set("items", std::move(items));
  out.set("total", uint64_t{found.size()});
  return unknown_keys(reader, errors, std::move(out));
}

Answer Session::State::model(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  Scenario scenario;
  scenario.model = reader.string("id").value_or(scenario.model);
  scenario.model_config = reader.string("config_text").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  const ModelPaths paths = {"/id", "/config_text"};
  Result<const LoadedModel*> loaded = models.load(catalogue, scenario, paths);
  if (!loaded) return fail(std::move(loaded.error()));
  const LoadedModel& model = **loaded;
  return unknown_keys(reader, errors, {write_model(model), below(paths.of(model), model.warnings)});
}

Answer Session::State::import(const json::Value& request) {
  return api::import_text(models, catalogue.class_defaults(), request);
}

Answer Session::State::estimate(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const json::Value* given = reader.raw("scenario");
  Result<Scenario> scenario =
      given == nullptr ? Result<Scenario>(Scenario{}) : read_scenario(*given, "/scenario");
  if (!scenario) return fail(std::move(scenario.error()));
  return unknown_keys(reader, errors, estimate(*scenario));
}

std::optional<Diagnostics> Session::State::needed_module(const std::string& engine) const {
  const CatalogueEntry* entry = catalogue.engines().find(engine);
  if (entry == nullptr || parts.engine(entry->id) != nullptr) return std::nullopt;
  return module_needed(entry->id);
}

Answer Session::State::estimate(const Scenario& asked) {
  if (auto lacking = needed_module(asked.engine)) return fail(std::move(*lacking));
  Result<Resolved> resolved = resolve(catalogue, models, asked, "/scenario");
  if (!resolved) return fail(std::move(resolved.error()));
  const Scenario& scenario = resolved->scenario;
  const LoadedModel& loaded = *resolved->model;
  Result<EngineAnswer> answer = parts.engine(scenario.engine)->estimate(*resolved, "/scenario");
  if (!answer) return fail(std::move(answer.error()));
  Diagnostics warnings = std::move(resolved->warnings);
  warnings.insert(warnings.end(), answer->notes.begin(), answer->notes.end());
  explain_calibration_of(scenario, answer->breakdown, warnings);
  const Diagnostics of_device = device_notes(*resolved, answer->breakdown.verdict, "/scenario");
  warnings.insert(warnings.end(), of_device.begin(), of_device.end());
  if (loaded.spec.max_context_tokens != 0 &&
      scenario.context_tokens > loaded.spec.max_context_tokens) {
    warn(warnings, ErrorCode::engine_context_beyond_model, "/scenario/context_tokens",
         {{"context", scenario.context_tokens}, {"max", loaded.spec.max_context_tokens}});
  }
  return {write_estimate(scenario, loaded, *resolved, *answer), std::move(warnings)};
}

Answer Session::State::fit(const json::Value& request) {
  if (parts.fit == nullptr) return fail(module_needed(kLlamaCpp));
  return parts.fit(catalogue, models, request);
}

Answer Session::State::tool(std::string_view method, const json::Value& request) {
  if (parts.tools == nullptr)
    return fail(ErrorCode::api_tools_needed, "", {{"method", method.substr(0, 80)}});
  return parts.tools(method, request);
}

/// A command's text, or what the module for tools made of it.
Answer Session::State::parse_command(const json::Value& request) {
  const json::Value* parsed = request.find("parsed");
  if (parsed != nullptr) return complete_command(catalogue, models, *parsed, {});
  Answer answer = tool("parse_command", request);
  if (!answer.result) return answer;
  return complete_command(catalogue, models, std::move(*answer.result), std::move(answer.warnings));
}

Answer Session::State::link_encode(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const json::Value* given = reader.raw("scenario");
  Result<Scenario> scenario =
      given == nullptr ? Result<Scenario>(Scenario{}) : read_scenario(*given, "/scenario");
  if (!scenario) return fail(std::move(scenario.error()));
  json::Value out = json::Value::object();
  out.set("fragment", encode_link(*scenario));
  return unknown_keys(reader, errors, std::move(out));
}

Answer Session::State::link_decode(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string link = reader.string("link").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  Result<DecodedLink> decoded = decode_link(link);
  if (!decoded) return fail(std::move(decoded.error()));
  json::Value out = json::Value::object();
  out.set("scenario", std::move(decoded->given));
  return unknown_keys(reader, errors, {std::move(out), std::move(decoded->warnings)});
}

Answer Session::State::concurrency(const json::Value& request) {
  constexpr uint64_t kMaxPoolTokens = 1'000'000'000'000;
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  for (const std::string_view key : {"kv_pool_tokens", "context_tokens"}) {
    if (!reader.has(key)) reader.error(ErrorCode::json_missing_key, key, {{"key", key}});
  }
  const uint64_t pool = reader.u64("kv_pool_tokens", {0, kMaxPoolTokens}).value_or(0);
  const uint64_t context = reader.u64("context_tokens", {1, kMaxPoolTokens}).value_or(1);
  const uint64_t ratio_micros = scaled(CheckedU64(pool), Decimal::kScale, context).value_or(0);
  json::Value out = json::Value::object();
  out.set("concurrency", json::Value::decimal(Decimal::from_micros(ratio_micros)));
  out.set("whole_requests", pool / context);
  return unknown_keys(reader, errors, std::move(out));
}

Answer Session::State::dispatch(std::string_view method, const json::Value& request) {
  if (request.as_object() == nullptr) return fail(ErrorCode::api_request_not_object, "");
  if (method == "version") return version(request);
  if (method == "describe") return describe(request);
  if (method == "link_encode") return link_encode(request);
  if (method == "link_decode") return link_decode(request);
  if (method == "import") return import(request);
  if (method == "catalogue") return list(request);
  if (method == "model") return model(request);
  if (method == "estimate") return estimate(request);
  if (method == "fit") return fit(request);
  if (method == "check_log" && parts.check_log != nullptr)
    return parts.check_log(parts, catalogue, models, request);
  if (method == "check_log") return fail(ErrorCode::api_tools_needed, "", {{"method", method}});
  if (method == "parse_command") return parse_command(request);
  if (is_tool(method)) return tool(method, request);
  if (method == "concurrency") return concurrency(request);
  if (const PlanMethod plan = plan_method(method)) return plan({catalogue, models, parts}, request);
  return fail(ErrorCode::api_unknown_method, "", {{"method", method.substr(0, 80)}});
}

Session::Session(const Parts& parts) : state_(std::make_unique<State>(parts)) {}
Session::~Session() = default;

std::string Session::load_catalogue(std::string_view document) {
  json::Limits limits;
  limits.max_bytes = kMaxCatalogueBytes;
  Result<json::Value> parsed = json::parse(document, limits);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  Diagnostics errors = state_->catalogue.merge(std::move(*parsed));
  if (!errors.empty()) return write_envelope(fail(std::move(errors)));
  state_->models.clear();
  json::Value out = json::Value::object();
  for (const std::string_view kind : {"models", "gpus", "formats", "cache_types", "engines"}) {
    out.set(kind, uint64_t{state_->catalogue.list(kind)->entries().size()});
  }
  return write_envelope(std::move(out));
}

std::string Session::call(std::string_view method, std::string_view request) {
  json::Limits limits;
  limits.max_bytes = kMaxRequestBytes;
  Result<json::Value> parsed = json::parse(request, limits);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  return write_envelope(state_->dispatch(method, *parsed));
}

}  // namespace vramgauge::api

#include <algorithm>

#include "api/plan_levers.h"
#include "api/plan_methods.h"
#include "plan/solve.h"
#include "plan/traffic.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kMaxTokens = 1'000'000'000;
constexpr uint64_t kMaxRequests = 1'000'000;
constexpr uint64_t kMaxShapes = 100'000;
/// vLLM's and the usual block, where the scenario leaves it to the engine.
constexpr uint64_t kUsualBlock = 16;
constexpr uint64_t kHundred = 100;
/// Of a hundred requests, those as long as the 99th percentile.
constexpr uint64_t kRare = 2;
constexpr uint64_t kCommon = kHundred - kRare;

Decimal read_decimal(json::ObjectReader& reader, std::string_view key, uint64_t max) {
  if (!reader.has(key)) return {};
  const auto value = Decimal::from_double(reader.real(key).value_or(-1));
  if (value && value->micros() <= max * Decimal::kScale) return *value;
  reader.error(ErrorCode::value_out_of_range, key,
               {{"key", key}, {"value", "what was given"}, {"min", uint64_t{0}}, {"max", max}});
  return {};
}

/// {"mean", "p99"} of prompts or outputs.
std::pair<uint64_t, uint64_t> read_spread(json::ObjectReader& request, std::string_view key) {
  const json::Value* given = request.object(key);
  if (given == nullptr) return {0, 0};
  json::ObjectReader reader(*given, request.path_to(key), request.errors());
  const uint64_t mean = reader.u64("mean", {0, kMaxTokens}).value_or(0);
  const uint64_t p99 = reader.u64("p99", {mean, kMaxTokens}).value_or(mean);
  for (const std::string& unread : reader.unread_keys())
    reader.error(ErrorCode::api_unknown_key, unread, {{"key", unread}});
  return {mean, p99};
}

/// A whole number of tokens per request whose sum over kCommon requests is given: `remainder` of
/// them have one more.
struct Parted {
  uint64_t quotient = 0;
  uint64_t remainder = 0;

  uint64_t of(uint64_t request) const { return quotient + (request < remainder ? 1 : 0); }
};

Parted common_part(std::pair<uint64_t, uint64_t> spread) {
  const uint64_t all = spread.first * kHundred;
  const uint64_t rare = spread.second * kRare;
  const uint64_t rest = all > rare ? all - rare : 0;
  return {rest / kCommon, rest % kCommon};
}

/// A mean and a 99th percentile as shapes of a hundred requests: two have the percentile's lengths,
/// and the others what makes the mean.
std::vector<RequestShape> shapes_of(std::pair<uint64_t, uint64_t> prompt,
                                    std::pair<uint64_t, uint64_t> output) {
  const Parted prompts = common_part(prompt);
  const Parted outputs = common_part(output);
  std::vector<RequestShape> shapes = {{prompt.second, output.second, kRare}};
  for (uint64_t i = 0; i < kCommon; ++i)
    shapes.push_back({prompts.of(i), outputs.of(i), 1});
  return shapes;
}

/// [[prompt, output], [prompt, output, count], ...]
std::vector<RequestShape> read_lengths(json::ObjectReader& reader, const json::Value::Array& rows) {
  std::vector<RequestShape> shapes;
  for (const json::Value& row : rows) {
    const json::Value::Array* numbers = row.as_array();
    const bool has_size = numbers != nullptr && (numbers->size() == 2 || numbers->size() == 3);
    const auto number = [&](std::size_t i) {
      return i < numbers->size() ? (*numbers)[i].as_u64().value_or(kMaxTokens + 1) : 1;
    };
    if (!has_size || std::max({number(0), number(1), number(2)}) > kMaxTokens ||
        shapes.size() == kMaxShapes) {
      reader.error(ErrorCode::value_unreadable, "lengths",
                   {{"key", "lengths"},
                    {"value", json::write(row).substr(0, 80)},
                    {"expected", "[prompt, output] or [prompt, output, count]"}});
      return {};
    }
    shapes.push_back({number(0), number(1), number(2)});
  }
  return shapes;
}

uint64_t live_requests(json::ObjectReader& reader) {
  const Decimal rate = read_decimal(reader, "requests_per_s", kMaxRequests);
  const Decimal duration = read_decimal(reader, "duration_s", kMaxRequests);
  const uint64_t given = reader.u64("live_requests", {1, kMaxRequests}).value_or(0);
  if (given != 0) return given;
  const CheckedU64 micros = CheckedU64(rate.micros()) * duration;
  const uint64_t live = ceil_div(micros, Decimal::kScale).value_or(kMaxRequests);
  return std::clamp<uint64_t>(live, 1, kMaxRequests);
}

uint64_t block_of(const Scenario& scenario) {
  if (!engine_reads(scenario.engine, "block_tokens")) return scenario.kv_block_tokens;
  return scenario.block_tokens == 0 ? kUsualBlock : scenario.block_tokens;
}

/// Requests of a length that one replica holds, and the replicas that hold all.
json::Value replicas_json(Probe& probe, const PlanRequest& asked, uint64_t tokens,
                          uint64_t live_requests) {
  Scenario at = asked.scenario;
  at.context_tokens = std::max<uint64_t>(1, tokens);
  at.shared_prefix_tokens = std::min(at.shared_prefix_tokens, at.context_tokens);
  const Found found =
      solve_field(probe, at, &Scenario::num_requests, {1, kMaxRequests, true}, asked.accept);
  json::Value out = json::Value::object();
  out.set("tokens_per_request", at.context_tokens);
  out.set("requests_per_replica", found.value.value_or(0));
  out.set("replicas",
          found.value
              ? json::Value::integer(
                    ceil_div(CheckedU64(live_requests), *found.value).value_or(live_requests))
              : json::Value::null());
  return out;
}

}  // namespace

Answer traffic(const PlanContext& context, const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  PlanRequest asked = read_plan_request(reader);
  TrafficInputs inputs;
  inputs.live_requests = live_requests(reader);
  const auto prompt = read_spread(reader, "prompt_tokens");
  const auto output = read_spread(reader, "output_tokens");
  const json::Value::Array* rows = reader.array("lengths");
  inputs.shapes = rows != nullptr ? read_lengths(reader, *rows) : shapes_of(prompt, output);
  inputs.shared_prefix_tokens = reader.u64("shared_prefix_tokens", {0, kMaxTokens})
                                    .value_or(asked.scenario.shared_prefix_tokens);
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto resolved = probe.resolve(asked.scenario);
  if (!resolved) return fail(resolved.error());
  asked.scenario.engine = (*resolved)->scenario.engine;
  Diagnostics warnings = (*resolved)->warnings;
  inputs.block_tokens = block_of(asked.scenario);
  inputs.reserved_tokens = asked.scenario.context_tokens;
  const auto found = traffic_of(inputs);
  if (!found) return fail(ErrorCode::value_overflow, "/lengths", {{"what", "The traffic"}});
  // The engine takes requests of the length that is reserved, whatever they come to.
  if (engine_reads(asked.scenario.engine, "max_model_len") && asked.scenario.max_model_len == 0)
    asked.scenario.max_model_len = inputs.reserved_tokens;
  const uint64_t live = inputs.live_requests;
  json::Value out = counts_json({{"live_requests", live},
                                 {"block_tokens", inputs.block_tokens},
                                 {"mean_tokens", found->mean_tokens},
                                 {"p99_tokens", found->p99_tokens},
                                 {"longest_tokens", found->longest_tokens},
                                 {"live_tokens", found->live_tokens},
                                 {"paged_tokens", found->paged_tokens},
                                 {"block_waste_tokens", found->block_waste_tokens},
                                 {"shared_saved_tokens", found->shared_saved_tokens},
                                 {"static_tokens", found->static_tokens}});
  out.set("static_waste_frac",
          json::Value::decimal(Decimal::from_micros(found->static_waste_micros)));
  out.set("paged_waste_frac",
          json::Value::decimal(Decimal::from_micros(found->paged_waste_micros)));
  out.set("mean", replicas_json(probe, asked, found->mean_tokens, live));
  out.set("p99", replicas_json(probe, asked, found->p99_tokens, live));
  out.set("static", replicas_json(probe, asked, inputs.reserved_tokens, live));
  return unknown_keys(reader, errors, {std::move(out), std::move(warnings)});
}

}  // namespace vramgauge::api

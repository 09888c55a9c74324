#include <algorithm>
#include <cmath>

#include "api/plan_levers.h"
#include "api/plan_methods.h"
#include "model/parameters.h"
#include "plan/roofline.h"
#include "specs/cache_type.h"

namespace vramgauge::api {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;
/// The bandwidth of an A100 80 GB SXM is 2,039 GB/s; a public table has 1,481.87 GB/s on each of
/// two at best (Llama-2-70B, 8 bit, batch 1) and 548.10 on each of eight at 4 bit.
constexpr uint64_t kLeastReachedMicros = 268'808;
constexpr uint64_t kMostReachedMicros = 726'763;
constexpr const char* kReachedSource =
    "pytorch-labs/gpt-fast, README.md: bandwidth reached on A100 80 GB, of 2,039 GB/s, at batch 1";

/// Three places are more than a bound deserves, and the same on every machine.
json::Value rounded(double value) {
  constexpr double kThousand = 1000;
  const auto decimal = Decimal::from_double(std::floor(value * kThousand + 0.5) / kThousand);
  return decimal ? json::Value::decimal(*decimal) : json::Value::null();
}

double fact(const json::Value& gpu, std::string_view key) {
  const json::Value* found = gpu.find(key);
  const json::Number* number = found == nullptr ? nullptr : found->as_number();
  return number == nullptr ? 0 : number->real;
}

/// Weights that a decode step reads; the embedding table only where it is the output as well.
RooflineModel model_of(const Resolved& resolved, const CacheLayout& cache) {
  const LoadedModel& loaded = *resolved.model;
  const FormattedWeights& weights = *resolved.weights;
  RooflineModel model;
  model.spec = &loaded.spec;
  model.cache = &cache;
  for (uint64_t i = 0; i < kNumRoleGroups; ++i) {
    const auto group = static_cast<RoleGroup>(i);
    const uint64_t bytes = weights.bytes_by_group[static_cast<std::size_t>(i)].count();
    const bool is_text =
        group != RoleGroup::vision && group != RoleGroup::audio && group != RoleGroup::mtp;
    const bool is_read = group != RoleGroup::embedding || loaded.spec.tie_word_embeddings;
    if (group == RoleGroup::expert) {
      model.expert_bytes = bytes;
    } else if (is_text && is_read) {
      model.fixed_weight_bytes += bytes;
    }
  }
  const uint64_t table =
      loaded.spec.tie_word_embeddings ? 0 : loaded.parameters.of(RoleGroup::embedding).value_or(0);
  const uint64_t text = loaded.parameters.text.value_or(0);
  const uint64_t active = loaded.parameters.active.value_or(0);
  model.active_parameters = active - std::min(active, table);
  model.all_parameters = text - std::min(text, table);
  if (loaded.spec.num_parameters) {
    model.active_parameters = model.all_parameters = *loaded.spec.num_parameters;
    model.fixed_weight_bytes = weights.total.count();
  }
  return model;
}

Result<CacheType> cache_type_of(const Catalogue& catalogue, const std::string& id) {
  const CatalogueEntry* entry = catalogue.cache_types().find(id);
  if (entry == nullptr || id == kOwnFormat) return sixteen_bit_cache();
  return parse_cache_type(entry->facts);
}

/// The cache of the whole model, whichever ranks share it.
Result<CacheLayout> whole_cache(const Catalogue& catalogue, const Resolved& resolved) {
  const auto k = cache_type_of(catalogue, resolved.scenario.cache_type_k);
  const auto v = cache_type_of(catalogue, resolved.scenario.cache_type_v);
  if (!k) return fail(k.error());
  if (!v) return fail(v.error());
  return cache_layout(resolved.model->spec, *k, *v, 1);
}

RooflineMachine card_of(const Catalogue& catalogue, const std::string& id, bool is_fp8) {
  const CatalogueEntry* entry = catalogue.gpus().find(id);
  if (entry == nullptr) return {};
  const double fp8 = is_fp8 ? fact(entry->facts, "fp8_dense_tflops") : 0;
  RooflineMachine card;
  card.bytes_per_s = fact(entry->facts, "bandwidth_gb_s") * kGiga;
  card.operations_per_s = (fp8 > 0 ? fp8 : fact(entry->facts, "fp16_dense_tflops")) * kTera;
  return card;
}

/// Of several kinds of cards the fastest: the bound stays one.
Result<RooflineMachine> machine_of(const Catalogue& catalogue, const Resolved& resolved) {
  const Scenario& scenario = resolved.scenario;
  const bool is_fp8 = resolved.format.family == "fp8";
  RooflineMachine machine = card_of(catalogue, scenario.gpu, is_fp8);
  for (const HardwareSpec& other : resolved.more_gpus) {
    const RooflineMachine card = card_of(catalogue, other.id, is_fp8);
    machine.bytes_per_s = std::max(machine.bytes_per_s, card.bytes_per_s);
    machine.operations_per_s = std::max(machine.operations_per_s, card.operations_per_s);
  }
  // llama.cpp gives GPUs whole layers, which run one after the other, as stages do.
  machine.num_gpus = scenario.engine == kLlamaCpp ? 1 : scenario.gpu_count;
  if (machine.bytes_per_s > 0 && machine.operations_per_s > 0) return machine;
  return fail(ErrorCode::json_missing_key, "/scenario/gpu",
              {{"key", "bandwidth_gb_s and fp16_dense_tflops"}});
}

json::Value reached_json() {
  json::Value out = json::Value::object();
  out.set("low", json::Value::decimal(Decimal::from_micros(kLeastReachedMicros)));
  out.set("high", json::Value::decimal(Decimal::from_micros(kMostReachedMicros)));
  out.set("source", kReachedSource);
  return out;
}

}  // namespace

Answer speed(const PlanContext& context, const json::Value& request) {
  constexpr double kMillion = 1e6;
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const PlanRequest asked = read_plan_request(reader);
  const auto prompt = reader.u64("prompt_tokens", {1, kMaxApiBytes});
  if (!errors.empty()) return fail(std::move(errors));
  SessionProbe probe(context);
  const auto found = probe.resolve(asked.scenario);
  if (!found) return fail(found.error());
  const Resolved& resolved = **found;
  const Scenario& scenario = resolved.scenario;
  const auto machine = machine_of(context.catalogue, resolved);
  if (!machine) return fail(machine.error());
  const auto cache = whole_cache(context.catalogue, resolved);
  if (!cache) return fail(cache.error());
  const RooflineLoad load{scenario.context_tokens, scenario.num_requests,
                          prompt.value_or(scenario.context_tokens)};
  const Roofline best = roofline(model_of(resolved, *cache), *machine, load);
  json::Value out = json::Value::object();
  out.set("is_upper_bound", json::Value::boolean(true));
  out.set("bound", best.is_memory_bound ? "memory" : "compute");
  out.set("weight_bytes_per_step", static_cast<uint64_t>(best.weight_bytes));
  out.set("cache_bytes_per_step", static_cast<uint64_t>(best.cache_bytes));
  out.set("tera_operations_per_step", rounded(best.operations / kTera));
  out.set("step_us", rounded(best.step_s * kMillion));
  out.set("tokens_per_s_per_request", rounded(1 / best.step_s));
  out.set("tokens_per_s", rounded(static_cast<double>(load.num_requests) / best.step_s));
  out.set("prefill_s", rounded(best.prefill_s));
  out.set("four_bit_full_gain_to_requests", rounded(best.four_bit_full_batch));
  out.set("four_bit_no_gain_from_requests", rounded(best.four_bit_no_gain_batch));
  out.set("reached", reached_json());
  return unknown_keys(reader, errors, {std::move(out), resolved.warnings});
}

}  // namespace vramgauge::api

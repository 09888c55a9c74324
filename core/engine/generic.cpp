#include "engine/generic.h"

#include <algorithm>

#include "engine/search.h"
#include "model/cache_bytes.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMaxContextTokens = 1'000'000'000;
constexpr uint64_t kMaxRequests = 1'000'000;
constexpr uint64_t kGiB = uint64_t{1} << 30;

/// Which end of the constants' bands.
enum class Bound { low, value, high };

Decimal pick(const BandedDecimal& constant, Bound bound) {
  switch (bound) {
    case Bound::low: return constant.low;
    case Bound::value: return constant.value;
    case Bound::high: return constant.high;
  }
  return constant.value;
}

/// Memory of one device in the rule's four terms.
struct Parts {
  CheckedU64 weights;
  CheckedU64 cache;
  CheckedU64 activations;
  CheckedU64 runtime;

  CheckedU64 total() const { return weights + cache + activations + runtime; }
};

class Rule {
 public:
  Rule(const Scenario& scenario, const GenericModel& model, const GenericConstants& constants)
      : scenario_(scenario), model_(model), constants_(constants) {}

  Parts parts(const Scenario& at, Bound bound) const {
    Parts parts;
    parts.weights = ceil_div(checked(model_.weights), scenario_.gpu_count);
    parts.cache = cache_bytes_for_requests(*model_.cache, at.context_tokens, at.num_requests,
                                           at.shared_prefix_tokens, {at.kv_block_tokens});
    parts.activations = activations(at, parts.weights + parts.cache, bound);
    parts.runtime = CheckedU64(kGiB) * pick(constants_.fixed_gib, bound);
    return parts;
  }

 private:
  CheckedU64 activations(const Scenario& at, CheckedU64 held, Bound bound) const {
    if (scenario_.live_buffers.is_zero())
      return held * pick(constants_.overhead_factor, bound) - held;
    const CheckedU64 elements = CheckedU64(prefill_batch(at)) * prefill_tokens(at) *
                                (CheckedU64(model_.hidden_size) + model_.intermediate_size);
    return elements * kActivationElementBytes * pick(constants_.live_buffers, bound);
  }

  const Scenario& scenario_;
  const GenericModel& model_;
  const GenericConstants& constants_;
};

std::optional<Term> term(TermId id, Basis basis, CheckedU64 value, CheckedU64 low,
                         CheckedU64 high) {
  const std::optional<Bytes> bytes = bytes_of(value);
  const std::optional<Bytes> low_bytes = bytes_of(low);
  const std::optional<Bytes> high_bytes = bytes_of(high);
  if (!bytes || !low_bytes || !high_bytes) return std::nullopt;
  Term out;
  out.id = id;
  out.bytes = *bytes;
  out.low = *low_bytes;
  out.high = *high_bytes;
  out.basis = basis;
  return out;
}

Basis cache_basis(const CacheLayout& layout) {
  Basis basis = Basis::exact;
  for (const CacheSegment& segment : layout.segments)
    basis = worse(basis, segment.basis);
  return basis;
}

tl::unexpected<Diagnostics> overflow(std::string what) {
  return fail(ErrorCode::value_overflow, "", {{"what", std::move(what)}});
}

Result<std::vector<Term>> terms_of(const Rule& rule, const Scenario& scenario,
                                   const GenericModel& model) {
  const Parts value = rule.parts(scenario, Bound::value);
  const Parts low = rule.parts(scenario, Bound::low);
  const Parts high = rule.parts(scenario, Bound::high);
  const Basis weights_basis =
      scenario.gpu_count > 1 ? worse(model.weights_basis, Basis::modelled) : model.weights_basis;
  const std::optional<Term> terms[] = {
      term(TermId::weights, weights_basis, value.weights, low.weights, high.weights),
      term(TermId::kv_cache, cache_basis(*model.cache), value.cache, low.cache, high.cache),
      term(TermId::activations, Basis::assumed, value.activations, low.activations,
           high.activations),
      term(TermId::runtime, Basis::assumed, value.runtime, low.runtime, high.runtime),
  };
  std::vector<Term> out;
  for (const std::optional<Term>& each : terms) {
    if (!each) return overflow("The memory needed");
    out.push_back(*each);
  }
  return out;
}

Result<Total> sum_of(const std::vector<Term>& terms) {
  CheckedU64 bytes(uint64_t{0});
  CheckedU64 low(uint64_t{0});
  CheckedU64 high(uint64_t{0});
  Total total;
  for (const Term& each : terms) {
    bytes += checked(each.bytes);
    low += checked(each.low);
    high += checked(each.high);
    total.basis = worse(total.basis, each.basis);
  }
  if (!bytes_of(high)) return overflow("The memory needed");
  total.bytes = bytes_of(bytes).value_or(Bytes());
  total.low = bytes_of(low).value_or(Bytes());
  total.high = bytes_of(high).value_or(Bytes());
  return total;
}

Verdict verdict_of(const Total& total, Bytes usable) {
  Verdict verdict;
  verdict.margin = usable - total.bytes;
  verdict.needed = total.bytes;
  verdict.usable = usable;
  if (total.high <= usable) {
    verdict.state = VerdictState::fits;
  } else {
    verdict.state = total.bytes <= usable ? VerdictState::tight : VerdictState::does_not_fit;
  }
  return verdict;
}

/// The inverse questions: the largest number for which the estimate still fits.
class Inverse {
 public:
  Inverse(const Rule& rule, const Scenario& scenario, Bytes usable)
      : rule_(rule), scenario_(scenario), usable_(usable) {}

  Answers answers() const {
    Answers out;
    out.max_requests = largest(&Scenario::num_requests, kMaxRequests);
    out.max_context_tokens = largest(&Scenario::context_tokens, kMaxContextTokens);
    if (out.max_context_tokens) {
      out.max_cached_tokens = (CheckedU64(*out.max_context_tokens) * scenario_.num_requests).get();
    }
    return out;
  }

 private:
  bool fits(const Scenario& at) const {
    const std::optional<Bytes> needed = bytes_of(rule_.parts(at, Bound::value).total());
    return needed && *needed <= usable_;
  }

  std::optional<uint64_t> largest(uint64_t Scenario::*field, uint64_t limit) const {
    const uint64_t found = largest_that_holds(limit, [&](uint64_t number) {
      Scenario at = scenario_;
      at.*field = number;
      return fits(at);
    });
    return found == limit ? std::nullopt : std::optional<uint64_t>(found);
  }

  const Rule& rule_;
  const Scenario& scenario_;
  Bytes usable_;
};

Result<CacheSummary> summary_of(const Scenario& scenario, const CacheLayout& layout,
                                const Term& cache_term) {
  const Paging paging{scenario.kv_block_tokens};
  const std::optional<Bytes> per_token = bytes_of(bytes_per_token(layout));
  const std::optional<Bytes> fixed = bytes_of(fixed_bytes_per_request(layout));
  const std::optional<Bytes> per_request =
      bytes_of(cache_bytes(layout, scenario.context_tokens, paging));
  if (!per_token || !fixed || !per_request) return overflow("The cache");
  return CacheSummary{*per_token, *fixed, *per_request, cache_term.bytes};
}

Diagnostics check(const Scenario& scenario, const GenericModel& model) {
  Diagnostics errors;
  if (scenario.shared_prefix_tokens > scenario.context_tokens) {
    errors.push_back(
        {ErrorCode::engine_prefix_longer_than_context,
         "/shared_prefix_tokens",
         {{"prefix", scenario.shared_prefix_tokens}, {"context", scenario.context_tokens}},
         std::nullopt});
  }
  if (!scenario.live_buffers.is_zero() &&
      (model.hidden_size == 0 || model.intermediate_size == 0)) {
    errors.push_back({ErrorCode::json_missing_key,
                      "/model_config",
                      {{"key", "hidden_size and intermediate_size"}},
                      std::nullopt});
  }
  return errors;
}

/// The band of the catalogue, unless the scenario says otherwise.
BandedDecimal banded(const json::Value& engine_entry, std::string_view key, Decimal given) {
  BandedDecimal out{given, given, given};
  const json::Value* constants = engine_entry.find("constants");
  if (constants == nullptr || constants->as_array() == nullptr) return out;
  for (const json::Value& constant : *constants->as_array()) {
    Diagnostics errors;
    json::ObjectReader reader(constant, "", errors);
    if (reader.string("key") != std::string(key)) continue;
    const auto value = Decimal::from_double(reader.real("value").value_or(-1));
    const auto low = Decimal::from_double(reader.real("low").value_or(-1));
    const auto high = Decimal::from_double(reader.real("high").value_or(-1));
    if (value && low && high && *value == given) out = {*value, *low, *high};
  }
  return out;
}

}  // namespace

uint64_t prefill_batch(const Scenario& scenario) {
  return scenario.prefill_batch == 0 ? 1 : scenario.prefill_batch;
}

uint64_t prefill_tokens(const Scenario& scenario) {
  return scenario.prefill_tokens == 0 ? scenario.context_tokens : scenario.prefill_tokens;
}

namespace {

uint64_t ffn_width(const Ffn& ffn) {
  if (const auto* dense = std::get_if<DenseFfn>(&ffn)) return dense->intermediate_size;
  const auto* moe = std::get_if<MoeFfn>(&ffn);
  return moe == nullptr ? 0
                        : moe->num_experts_per_tok * moe->moe_intermediate_size +
                              moe->shared_intermediate_size;
}

/// Channels of a state-space mixer, which in a layer without a feed-forward is the widest
/// activation.
uint64_t state_width(const Mixer& mixer) {
  if (const auto* mamba = std::get_if<Mamba1>(&mixer)) return mamba->d_inner;
  const auto* mamba2 = std::get_if<Mamba2>(&mixer);
  return mamba2 == nullptr ? 0 : mamba2->num_heads * mamba2->head_dim;
}

}  // namespace

uint64_t active_intermediate_size(const ModelSpec& spec) {
  uint64_t widest = 0;
  for (const Layer& layer : spec.layers) {
    widest = std::max(widest, ffn_width(layer.ffn));
    for (const Mixer& mixer : layer.mixers)
      widest = std::max(widest, state_width(mixer));
  }
  return widest;
}

Result<GenericConstants> generic_constants(const json::Value& engine_entry,
                                           const Scenario& scenario) {
  Diagnostics errors;
  json::ObjectReader reader(engine_entry, "", errors);
  GenericConstants constants;
  constants.source = reader.string("source").value_or("");
  constants.overhead_factor = banded(engine_entry, "overhead_factor", scenario.overhead_factor);
  constants.fixed_gib = banded(engine_entry, "fixed_gib", scenario.fixed_gib);
  constants.live_buffers = banded(engine_entry, "live_buffers", scenario.live_buffers);
  if (!errors.empty()) return fail(std::move(errors));
  return constants;
}

Answers generic_answers(const Scenario& scenario, const GenericModel& model,
                        const GenericConstants& constants, Bytes usable) {
  const Rule rule(scenario, model, constants);
  return Inverse(rule, scenario, usable).answers();
}

Result<Breakdown> estimate_generic(const Scenario& scenario, const GenericModel& model,
                                   const HardwareSpec& hardware,
                                   const GenericConstants& constants) {
  if (Diagnostics errors = check(scenario, model); !errors.empty()) return fail(std::move(errors));
  const Rule rule(scenario, model, constants);
  Result<std::vector<Term>> terms = terms_of(rule, scenario, model);
  if (!terms) return fail(std::move(terms.error()));
  Result<Total> total = sum_of(*terms);
  if (!total) return fail(std::move(total.error()));
  Result<CacheSummary> cache = summary_of(scenario, *model.cache, (*terms)[1]);
  if (!cache) return fail(std::move(cache.error()));

  DeviceBreakdown device;
  device.name = hardware.name;
  device.count = scenario.gpu_count;
  device.capacity = hardware.capacity;
  device.usable =
      bytes_of(checked(hardware.usable) * scenario.gpu_memory_utilization_frac).value_or(Bytes());
  device.terms = std::move(*terms);
  device.total = *total;

  Breakdown breakdown;
  breakdown.verdict = verdict_of(device.total, device.usable);
  breakdown.cache = *cache;
  breakdown.devices.push_back(std::move(device));
  return breakdown;
}

}  // namespace vramgauge

#include <algorithm>

#include "plan/log_check.h"

namespace vramgauge {
namespace {

int64_t count_of(Bytes bytes) { return static_cast<int64_t>(bytes.count()); }

PredictedValue exactly(uint64_t value) {
  const auto same = static_cast<int64_t>(value);
  return {same, same, same};
}

PredictedValue term_of(const DeviceBreakdown& device, TermId id) {
  for (const Term& term : device.terms) {
    if (term.id == id)
      return {count_of(term.bytes), count_of(term.low), count_of(term.high),
              term.basis == Basis::exact};
  }
  return {};
}

PredictedValue operator+(const PredictedValue& a, const PredictedValue& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high, a.is_exact && b.is_exact};
}

/// What everything else leaves of the usable memory.
PredictedValue pool_of(const DeviceBreakdown& device) {
  const int64_t usable = count_of(device.usable);
  const PredictedValue taken = term_of(device, TermId::weights) +
                               term_of(device, TermId::activations) +
                               term_of(device, TermId::runtime);
  return {usable - taken.value, usable - taken.high, usable - taken.low};
}

PredictedValue weights_and_runtime_of(const DeviceBreakdown& device) {
  return term_of(device, TermId::weights) + term_of(device, TermId::runtime);
}

/// The largest of a term over devices.
PredictedValue largest_term(const Breakdown& breakdown, TermId id) {
  PredictedValue best;
  for (const DeviceBreakdown& device : breakdown.devices) {
    const PredictedValue next = term_of(device, id);
    if (next.value > best.value) best = next;
  }
  return best;
}

/// Tokens that the pool holds; they have the pool's bounds.
void add_tokens(std::vector<CheckPrediction>& list, const PredictedValue& pool, uint64_t tokens) {
  if (pool.value <= 0 || tokens == 0) return;
  const auto held_by = [&pool, tokens](int64_t bytes) {
    const double share =
        static_cast<double>(std::max<int64_t>(0, bytes)) / static_cast<double>(pool.value);
    return static_cast<int64_t>(static_cast<double>(tokens) * share);
  };
  const auto value = static_cast<int64_t>(tokens);
  list.push_back({CheckQuantity::kv_tokens, "", {value, held_by(pool.low), held_by(pool.high)}});
  list.push_back(
      {CheckQuantity::kv_bytes_per_token, "", exactly(static_cast<uint64_t>(pool.value) / tokens)});
}

std::vector<CheckPrediction> of_ranks(const Breakdown& breakdown) {
  using enum CheckQuantity;
  std::vector<CheckPrediction> list = {
      {weights, "", largest_term(breakdown, TermId::weights)},
      {activations, "", largest_term(breakdown, TermId::activations)},
      {runtime, "", largest_term(breakdown, TermId::runtime)},
      {kv_needed, "", largest_term(breakdown, TermId::kv_cache)},
      {capacity, "", exactly(breakdown.devices.front().capacity.count())},
  };
  PredictedValue pool = pool_of(breakdown.devices.front());
  PredictedValue together = weights_and_runtime_of(breakdown.devices.front());
  for (const DeviceBreakdown& device : breakdown.devices) {
    if (pool_of(device).value < pool.value) pool = pool_of(device);
    if (weights_and_runtime_of(device).value > together.value)
      together = weights_and_runtime_of(device);
  }
  list.push_back({weights_and_runtime, "", together});
  list.push_back({kv_pool, "", pool});
  add_tokens(list, pool, breakdown.answers.max_cached_tokens.value_or(0));
  return list;
}

/// Lines of the arithmetic are llama.cpp's own buffers.
CheckQuantity quantity_of_line(std::string_view label, TermId id) {
  if (label == "states") return CheckQuantity::states;
  if (label == "output_buffer") return CheckQuantity::output_buffer;
  if (id == TermId::weights) return CheckQuantity::weights;
  return id == TermId::kv_cache ? CheckQuantity::kv_cache : CheckQuantity::compute_buffer;
}

/// The line with its term's bounds, when it is most of the term.
PredictedValue with_band(uint64_t value, const Term& term) {
  PredictedValue line = exactly(value);
  if (value < term.bytes.count() / 2) return line;
  line.low -= count_of(term.bytes) - count_of(term.low);
  line.high += count_of(term.high) - count_of(term.bytes);
  return line;
}

void add_line(std::vector<CheckPrediction>& list, const CheckPrediction& line) {
  const auto same = std::find_if(list.begin(), list.end(), [&line](const CheckPrediction& each) {
    return each.quantity == line.quantity && each.where == line.where;
  });
  if (same == list.end()) {
    list.push_back(line);
  } else {
    same->predicted = same->predicted + line.predicted;
  }
}

void add_device(std::vector<CheckPrediction>& list, const DeviceBreakdown& device,
                const std::string& where) {
  const Total& total = device.total;
  list.push_back({CheckQuantity::device_total,
                  where,
                  {count_of(total.bytes), count_of(total.low), count_of(total.high)}});
  // A line that says how another one comes about.
  constexpr std::string_view kDetail = "cells_of_layers";
  // A term that a log corrects: the whole of it.
  constexpr std::string_view kCorrected = "calibrated";
  for (const Term& term : device.terms) {
    if (!term.lines.empty() && term.lines.back().label == kCorrected) {
      if (term.id == TermId::activations)
        add_line(list, {CheckQuantity::compute_buffer, where, term_of(device, term.id)});
      continue;
    }
    for (const ArithmeticLine& line : term.lines) {
      if (term.id == TermId::runtime || line.label == kDetail) continue;
      add_line(list, {quantity_of_line(line.label, term.id), where, with_band(line.result, term)});
    }
  }
}

std::vector<CheckPrediction> of_devices(const Breakdown& breakdown) {
  std::vector<CheckPrediction> list;
  for (const DeviceBreakdown& device : breakdown.devices) {
    for (uint64_t i = 0; i < device.count; ++i)
      add_device(list, device,
                 device.name == "host" ? device.name : std::to_string(device.first_rank + i));
  }
  return list;
}

}  // namespace

std::vector<CheckPrediction> predictions_of(const Breakdown& breakdown, LogEngine engine) {
  if (breakdown.devices.empty()) return {};
  const bool has_buffers = engine == LogEngine::llama_cpp || engine == LogEngine::ollama;
  return has_buffers ? of_devices(breakdown) : of_ranks(breakdown);
}

}  // namespace vramgauge

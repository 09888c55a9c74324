#include "engine/terms.h"

#include <algorithm>
#include <utility>

#include "units/index.h"

namespace vramgauge {

BandedBytes& BandedBytes::operator+=(const BandedBytes& other) {
  value += other.value;
  low += other.low;
  high += other.high;
  return *this;
}

BandedBytes operator*(CheckedU64 bytes, const BandedDecimal& constant) {
  return {bytes * constant.value, bytes * constant.low, bytes * constant.high};
}

Result<Total> total_of(const BandedBytes& bytes, Basis basis) {
  const auto value = bytes_of(bytes.value);
  const auto low = bytes_of(bytes.low);
  const auto high = bytes_of(bytes.high);
  if (!value || !low || !high) {
    return fail(ErrorCode::value_overflow, {}, {{"what", std::string_view("the memory needed")}});
  }
  return Total{*value, *low, *high, basis};
}

Term term_of(TermId id, const Total& total, std::string_view source) {
  Term term;
  term.id = id;
  term.bytes = total.bytes;
  term.low = total.low;
  term.high = total.high;
  term.basis = total.basis;
  term.source = std::string(source);
  return term;
}

void add_up(DeviceBreakdown& device) {
  uint64_t bytes = 0;
  uint64_t low = 0;
  uint64_t high = 0;
  for (const Term& term : device.terms) {
    bytes += term.bytes.count();
    low += term.low.count();
    high += term.high.count();
    device.total.basis = worse(device.total.basis, term.basis);
  }
  device.total.bytes = Bytes(bytes);
  device.total.low = Bytes(low);
  device.total.high = Bytes(high);
}

BandedBytes weights_with_band(Bytes loaded, Basis basis) {
  constexpr uint64_t kDerivedPerMille = 5;
  constexpr uint64_t kNamedPerMille = 60;
  const CheckedU64 bytes = checked(loaded);
  if (basis == Basis::exact) return {bytes, bytes, bytes};
  const CheckedU64 band =
      scaled(bytes, basis == Basis::assumed ? kNamedPerMille : kDerivedPerMille, 1000);
  return {bytes, bytes - band, bytes + band};
}

Result<Total> loaded_weights(const StagedInputs& inputs, uint64_t stage) {
  return total_of(weights_with_band(inputs.stage_weights[index_of(stage)], inputs.weights_basis),
                  inputs.weights_basis);
}

void add_device(Breakdown& breakdown, const StagedInputs& inputs, uint64_t stage,
                std::vector<Term> terms) {
  DeviceBreakdown device;
  device.name = inputs.device_name;
  device.count = inputs.plan.tensor_ranks * inputs.plan.data_ranks;
  device.first_rank = stage * device.count;
  device.capacity = inputs.device_total;
  device.usable =
      bytes_of(checked(inputs.device_total) - inputs.held_by_others.count()).value_or(Bytes());
  device.terms = std::move(terms);
  add_up(device);
  breakdown.devices.push_back(std::move(device));
}

void set_worst_device(Breakdown& breakdown) {
  Verdict& verdict = breakdown.verdict;
  bool is_first = true;
  uint64_t index = 0;
  for (const DeviceBreakdown& device : breakdown.devices) {
    const BytesDelta margin = device.usable - device.total.bytes;
    if (is_first || margin < verdict.margin) {
      verdict.worst_device = index;
      verdict.margin = margin;
      verdict.needed = device.total.bytes;
      verdict.usable = device.usable;
    }
    is_first = false;
    ++index;
  }
}

void set_shortage(Verdict& verdict, CheckedU64 missing) {
  if (verdict.state != VerdictState::does_not_fit) return;
  const uint64_t bytes = std::min(missing.value_or(kMaxApiBytes), kMaxApiBytes);
  verdict.margin = std::min(verdict.margin, BytesDelta(-static_cast<int64_t>(bytes)));
}

}  // namespace vramgauge

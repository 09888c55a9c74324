#include "plan/solve.h"

#include <algorithm>

namespace vramgauge {
namespace {

/// A span as steps from its less demanding end.
class Line {
 public:
  Line(Probe& probe, const Scenario& scenario, uint64_t Scenario::*field, Span span, Accept accept)
      : probe_(probe), scenario_(scenario), field_(field), span_(span), accept_(accept) {}

  uint64_t last() const { return span_.max - span_.min; }
  uint64_t value(uint64_t step) const {
    return span_.wants_largest ? span_.min + step : span_.max - step;
  }

  Outcome estimate(uint64_t step) {
    ++num_estimates_;
    scenario_.*field_ = value(step);
    return probe_.estimate(scenario_);
  }
  bool holds(uint64_t step) { return vramgauge::holds(estimate(step), accept_); }

  uint64_t num_estimates() const { return num_estimates_; }

 private:
  Probe& probe_;
  Scenario scenario_;
  uint64_t Scenario::*field_;
  Span span_;
  Accept accept_;
  uint64_t num_estimates_ = 0;
};

/// The first of step, step + 1, + 2, + 4, ... that holds.
std::optional<uint64_t> first_that_holds(Line& line, uint64_t step) {
  for (uint64_t ahead = 1; step <= line.last(); step += ahead, ahead *= 2) {
    if (line.holds(step)) return step;
  }
  return std::nullopt;
}

/// The last step from `good` on before one that does not hold: doubling, then halving.
uint64_t last_before_line(Line& line, uint64_t good) {
  const uint64_t start = good;
  uint64_t bad = line.last() + 1;
  for (uint64_t ahead = 1; ahead <= line.last() - start; ahead *= 2) {
    if (!line.holds(start + ahead)) {
      bad = start + ahead;
      break;
    }
    good = start + ahead;
  }
  while (bad - good > 1) {
    const uint64_t middle = good + (bad - good) / 2;
    (line.holds(middle) ? good : bad) = middle;
  }
  return good;
}

std::optional<uint64_t> outermost(Line& line) {
  for (uint64_t step = line.last() + 1; step > 0; --step) {
    if (line.holds(step - 1)) return step - 1;
  }
  return std::nullopt;
}

}  // namespace

Found solve_field(Probe& probe, const Scenario& scenario, uint64_t Scenario::*field, Span span,
                  Accept accept) {
  Line line(probe, scenario, field, span, accept);
  const bool is_short = line.last() < kTriedOneByOne;
  std::optional<uint64_t> step = is_short ? outermost(line) : first_that_holds(line, 0);
  if (step && !is_short) step = last_before_line(line, *step);
  Found found;
  found.at = line.estimate(step.value_or(0));
  if (step) {
    found.value = line.value(*step);
    if (*step < line.last()) {
      found.next = line.estimate(*step + 1);
      const auto again = is_short ? std::nullopt : first_that_holds(line, *step + 2);
      if (again) found.holds_again_at = line.value(*again);
    }
  }
  found.num_estimates = line.num_estimates();
  return found;
}

std::string_view binding_kind_name(BindingKind kind) {
  switch (kind) {
    case BindingKind::none: return "none";
    case BindingKind::memory: return "memory";
    case BindingKind::engine: return "engine";
    case BindingKind::model_context: return "model_context";
  }
  return "";
}

Binding binding_of(const Found& found) {
  Binding out;
  if (found.value && !found.next) return out;
  const Outcome& beyond = found.value ? *found.next : found.at;
  out.kind = beyond.is_refused() ? BindingKind::engine : BindingKind::memory;
  out.rank = beyond.rank;
  out.device = beyond.device;
  out.term = beyond.largest_term();
  if (!found.value) return out;
  uint64_t most = 0;
  for (std::size_t i = 0; i < kNumTerms; ++i) {
    const uint64_t before = found.at.terms[i].count();
    const uint64_t after = beyond.terms[i].count();
    if (after > before && after - before > most) {
      most = after - before;
      out.term = static_cast<TermId>(i);
    }
  }
  return out;
}

}  // namespace vramgauge

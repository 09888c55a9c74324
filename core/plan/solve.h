// The largest or smallest value of one field for which an estimate holds, with both sides of the
// line as proof.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/probe.h"

namespace vramgauge {

/// Values of a field, both ends included, and which end is wanted.
struct Span {
  uint64_t min = 1;
  uint64_t max = 1;
  bool wants_largest = true;
};

/// A value that holds and the one beside it that does not.
struct Found {
  /// Absent when no value that was tried holds.
  std::optional<uint64_t> value;
  /// At `value`; at the least demanding end when nothing holds.
  Outcome at;
  /// One step towards more; absent at the end of the span.
  std::optional<Outcome> next;
  /// A value beyond `next` that holds again: engines round to blocks and pages, and have rules of
  /// their own, so that more may need less.
  std::optional<uint64_t> holds_again_at;
  /// Estimates that were made.
  uint64_t num_estimates = 0;
};

/// Spans of up to that many values are tried one by one; the answer is then the outermost value
/// that holds, whatever lies between.
inline constexpr uint64_t kTriedOneByOne = 256;

/// Searches a span from its less demanding end: doubling steps to the first value that does not
/// hold, halving between, then doubling steps beyond, which say whether more holds again.
Found solve_field(Probe& probe, const Scenario& scenario, uint64_t Scenario::*field, Span span,
                  Accept accept);

/// What keeps an answer from being larger.
enum class BindingKind {
  none,           ///< the span ends
  memory,         ///< a term of a device
  engine,         ///< a rule of the engine, see Outcome::refusal
  model_context,  ///< the longest context that the model was made for
};

std::string_view binding_kind_name(BindingKind kind);

struct Binding {
  BindingKind kind = BindingKind::none;
  /// Of `memory`: the term that grows on the device that runs out.
  TermId term = TermId::weights;
  uint64_t rank = 0;
  std::string device;
};

/// What separates both sides of a line; without a value, what is largest where nothing holds.
Binding binding_of(const Found& found);

}  // namespace vramgauge

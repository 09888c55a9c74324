// What searches know of an estimate, whichever engine made it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "specs/breakdown.h"
#include "specs/scenario.h"
#include "units/error.h"

namespace vramgauge {

inline constexpr uint64_t kNumTerms = 4;

/// An estimate, or why the engine refuses to make one.
struct Outcome {
  VerdictState state = VerdictState::does_not_fit;
  Bytes needed;
  Bytes usable;
  /// First rank of the device with the least margin, and its name.
  uint64_t rank = 0;
  std::string device;
  /// Terms of that device, by TermId.
  std::array<Bytes, kNumTerms> terms;
  CacheSummary cache;
  /// Only from Probe::with_answers.
  Answers answers;
  /// Errors of the estimate; empty when there is one.
  Diagnostics refusal;

  bool is_refused() const { return !refusal.empty(); }
  BytesDelta margin() const { return usable - needed; }
  /// The largest term of that device.
  TermId largest_term() const;
};

Outcome outcome_of(Breakdown breakdown);

/// Estimates, as a search asks for them.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  virtual Outcome estimate(const Scenario& scenario) = 0;
  /// The same with the engine's inverse answers, which cost more.
  virtual Outcome with_answers(const Scenario& scenario) = 0;
};

/// Which verdicts count as an answer.
enum class Accept {
  tight,  ///< the estimate fits
  fits,   ///< the upper bound fits as well
};

inline bool holds(const Outcome& outcome, Accept accept) {
  return !outcome.is_refused() &&
         (outcome.state == VerdictState::fits ||
          (accept == Accept::tight && outcome.state == VerdictState::tight));
}

}  // namespace vramgauge

// What to change so that a scenario fits, or holds more: levers by their effect, and the cheapest
// set of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/probe.h"

namespace vramgauge {

/// A lever with its settings from mild to strong, each as the scenario it makes.
struct LeverOffer {
  /// Index into the caller's table of levers, which is in the order of the articles.
  uint64_t order = 0;
  /// What it costs whoever serves or is served: 1 hardly anything, more = worse.
  uint64_t cost = 1;
  std::vector<Scenario> settings;
};

/// A lever as it is best set: the mildest setting that makes the scenario fit, or the strongest.
struct Lever {
  uint64_t order = 0;
  uint64_t cost = 1;
  Scenario scenario;
  Outcome outcome;
  /// Growth of the margin on the device that decides.
  int64_t freed_bytes = 0;
  /// The scenario does not fit without it, and fits with it alone.
  bool crosses = false;
};

struct Advice {
  Outcome before;
  /// Levers that help, by effect; in the order of the articles where that is equal.
  std::vector<Lever> levers;
  /// Indices into `levers` of sets that make the scenario fit together, cheapest first; only where
  /// it does not fit as it is.
  std::vector<std::vector<uint64_t>> combinations;
};

/// Applies what `lever` changes in `base` to `scenario`; false when both change the same field.
bool apply_lever(const Scenario& base, const Scenario& lever, Scenario& scenario);

Advice advise_scenario(Probe& probe, const Scenario& scenario,
                       const std::vector<LeverOffer>& offers, Accept accept);

}  // namespace vramgauge

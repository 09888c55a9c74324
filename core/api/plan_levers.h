// The levers of a scenario: what can be changed in its engine, mildest setting first.
#pragma once

#include <string_view>
#include <vector>

#include "api/plan_probe.h"
#include "plan/advise.h"

namespace vramgauge::api {

/// What is told of a lever.
struct LeverFacts {
  std::string_view id;
  /// The field that it sets first.
  std::string_view field;
  /// Key of what is at stake, and where that is said; empty where nothing is.
  std::string_view caution;
  std::string_view source;
  uint64_t cost = 1;
};

/// By LeverOffer::order.
const LeverFacts& lever_facts(uint64_t order);

/// The engine's own flag for a field; empty where it has none.
std::string_view engine_flag(std::string_view engine, std::string_view field);

/// Offers for a scenario whose names are canonical.
std::vector<LeverOffer> lever_offers(const PlanContext& context, Probe& probe,
                                     const Resolved& resolved, Accept accept);

/// Whether the engine of a scenario reads a field.
bool engine_reads(std::string_view engine, std::string_view field);

}  // namespace vramgauge::api

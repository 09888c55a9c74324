// Estimates for the planner: a scenario is resolved once and asked about many times.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/envelope.h"
#include "api/parts.h"
#include "plan/probe.h"

namespace vramgauge::api {

/// Where errors about a scenario point to.
inline constexpr const char* kScenarioPath = "/scenario";

/// What a method of the planner works on.
struct PlanContext {
  const Catalogue& catalogue;
  Models& models;
  const Parts& parts;
};

/// Names are looked up again only when one changes.
class SessionProbe final : public Probe {
 public:
  explicit SessionProbe(const PlanContext& context);

  /// From now on scenarios differ in these fields only, and no others are looked at.
  void vary(const std::vector<const Field*>& fields);

  Outcome estimate(const Scenario& scenario) override { return outcome(scenario, false); }
  Outcome with_answers(const Scenario& scenario) override { return outcome(scenario, true); }

  /// The scenario with its names looked up; it holds until the next call. Error: also
  /// engine.module_needed.
  Result<const Resolved*> resolve(const Scenario& scenario);

 private:
  Outcome outcome(const Scenario& scenario, bool needs_answers);
  Result<Breakdown> breakdown(const EngineFace& engine, bool needs_answers);
  /// Takes over what has no look-up.
  void copy_numbers(const Scenario& scenario);

  const PlanContext& context_;
  /// Fields that are compared: those that are looked up, and the others.
  std::vector<const Field*> names_;
  std::vector<const Field*> numbers_;
  /// As it was asked, with its names not yet canonical.
  Scenario asked_;
  std::optional<Resolved> resolved_;
  std::unique_ptr<Kept> kept_;
  /// More than num_requests has changed since kept_ was used.
  bool has_new_numbers_ = false;
};

/// What every request of the planner has.
struct PlanRequest {
  Scenario scenario;
  Accept accept = Accept::tight;
};

/// Reads `scenario` and `accept`; reports what is wrong to the reader's errors.
PlanRequest read_plan_request(json::ObjectReader& reader);

/// Whether a list of words between commas has one.
bool is_word_of(std::string_view list, std::string_view word);

/// A member that must be one of a few words; the first of them when it is absent.
std::string read_word(json::ObjectReader& reader, std::string_view key, std::string_view words);

/// state, needed_bytes, usable_bytes, margin_bytes, rank and device; or refusal.
json::Value outcome_json(const Outcome& outcome);

/// An object of whole numbers.
json::Value counts_json(std::initializer_list<std::pair<std::string_view, uint64_t>> members);

/// A method of the planner, or null.
using PlanMethod = Answer (*)(const PlanContext& context, const json::Value& request);
PlanMethod plan_method(std::string_view name);

}  // namespace vramgauge::api

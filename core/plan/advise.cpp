#include "plan/advise.h"

#include <algorithm>
#include <utility>

#include "plan/short_sort.h"
#include "specs/scenario_compare.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMaxCombinations = 3;
constexpr uint64_t kMaxTogether = 4;
/// Sets that are tried at most.
constexpr uint64_t kMaxTries = 400;

int64_t margin_growth(const Outcome& before, const Outcome& after) {
  return after.margin().count() - before.margin().count();
}

/// The lever at its best setting; nothing when it does not help.
std::optional<Lever> best_setting(Probe& probe, const LeverOffer& offer, const Outcome& before,
                                  Accept accept) {
  const bool is_short = !holds(before, accept);
  std::optional<Lever> best;
  for (const Scenario& setting : offer.settings) {
    Outcome outcome = probe.estimate(setting);
    if (outcome.is_refused()) continue;
    const int64_t freed = before.is_refused() ? 0 : margin_growth(before, outcome);
    const bool crosses = is_short && holds(outcome, accept);
    if (!crosses && freed <= 0) continue;
    best = Lever{offer.order, offer.cost, setting, std::move(outcome), freed, crosses};
    // Nothing is gained by a stronger setting, except where there is no line to cross.
    if (crosses || !is_short) break;
  }
  return best;
}

bool comes_first(const Lever& a, const Lever& b) {
  if (a.crosses != b.crosses) return a.crosses;
  if (a.freed_bytes != b.freed_bytes) return a.freed_bytes > b.freed_bytes;
  return a.order < b.order;
}

/// Sets of levers by what they cost together.
class Combiner {
 public:
  Combiner(Probe& probe, const Scenario& base, const std::vector<Lever>& levers, Accept accept)
      : probe_(probe), base_(base), levers_(levers), accept_(accept) {}

  std::vector<std::vector<uint64_t>> cheapest() {
    collect({}, 0, 0);
    std::vector<std::vector<uint64_t>> found;
    uint64_t tries = 0;
    for (uint64_t cost = 1; cost <= dearest_; ++cost) {
      for (const Set& set : sets_) {
        if (found.size() == kMaxCombinations || tries == kMaxTries) return found;
        if (set.cost != cost || holds_more_than(found, set)) continue;
        ++tries;
        if (makes_it_fit(set)) found.push_back(set.members);
      }
    }
    return found;
  }

 private:
  struct Set {
    std::vector<uint64_t> members;
    uint64_t cost = 0;
  };

  void collect(std::vector<uint64_t> members, uint64_t next, uint64_t cost) {
    if (!members.empty()) sets_.push_back({members, cost});
    dearest_ = std::max(dearest_, cost);
    // What crosses alone needs no company.
    if (members.size() == kMaxTogether) return;
    if (!members.empty() && levers_[index_of(members.front())].crosses) return;
    for (uint64_t i = next; i < levers_.size(); ++i) {
      if (!members.empty() && levers_[index_of(i)].crosses) continue;
      std::vector<uint64_t> more = members;
      more.push_back(i);
      collect(std::move(more), i + 1, cost + levers_[index_of(i)].cost);
    }
  }

  /// A set that holds one that was found already is not worth more.
  static bool holds_more_than(const std::vector<std::vector<uint64_t>>& found, const Set& set) {
    return std::any_of(found.begin(), found.end(), [&set](const auto& smaller) {
      return std::includes(set.members.begin(), set.members.end(), smaller.begin(), smaller.end());
    });
  }

  bool makes_it_fit(const Set& set) {
    Scenario at = base_;
    for (const uint64_t member : set.members)
      if (!apply_lever(base_, levers_[index_of(member)].scenario, at)) return false;
    return holds(probe_.estimate(at), accept_);
  }

  Probe& probe_;
  const Scenario& base_;
  const std::vector<Lever>& levers_;
  Accept accept_;
  std::vector<Set> sets_;
  uint64_t dearest_ = 0;
};

}  // namespace

bool apply_lever(const Scenario& base, const Scenario& lever, Scenario& scenario) {
  for (const Field& field : scenario_fields()) {
    if (has_same(base, lever, field)) continue;
    if (!has_same(base, scenario, field)) return false;
    copy_field(lever, scenario, field);
  }
  return true;
}

Advice advise_scenario(Probe& probe, const Scenario& scenario,
                       const std::vector<LeverOffer>& offers, Accept accept) {
  Advice advice;
  advice.before = probe.with_answers(scenario);
  for (const LeverOffer& offer : offers) {
    if (auto lever = best_setting(probe, offer, advice.before, accept))
      advice.levers.push_back(std::move(*lever));
  }
  short_sort(advice.levers, comes_first);
  if (!holds(advice.before, accept))
    advice.combinations = Combiner(probe, scenario, advice.levers, accept).cheapest();
  return advice;
}

}  // namespace vramgauge

#include "plan/probe.h"

#include <algorithm>
#include <utility>

#include "units/index.h"

namespace vramgauge {

TermId Outcome::largest_term() const {
  return static_cast<TermId>(std::max_element(terms.begin(), terms.end()) - terms.begin());
}

Outcome outcome_of(Breakdown breakdown) {
  const Verdict& verdict = breakdown.verdict;
  Outcome out;
  out.state = verdict.state;
  out.needed = verdict.needed;
  out.usable = verdict.usable;
  out.cache = breakdown.cache;
  out.answers = breakdown.answers;
  if (verdict.worst_device >= breakdown.devices.size()) return out;
  DeviceBreakdown& worst = breakdown.devices[index_of(verdict.worst_device)];
  out.rank = worst.first_rank;
  out.device = std::move(worst.name);
  for (const Term& term : worst.terms) {
    Bytes& sum = out.terms[static_cast<std::size_t>(term.id)];
    sum = bytes_of(checked(sum) + checked(term.bytes)).value_or(sum);
  }
  return out;
}

}  // namespace vramgauge

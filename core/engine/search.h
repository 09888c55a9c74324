// Integer search over questions whose answer turns from yes to no once.
#pragma once

#include <cstdint>

namespace vramgauge {

/// The largest n in [1, limit] for which holds(n), or 0 when not even 1 does. `holds` must not turn
/// from no to yes as n grows.
template <typename Predicate>
uint64_t largest_that_holds(uint64_t limit, const Predicate& holds) {
  uint64_t low = 0;
  uint64_t high = limit;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace vramgauge

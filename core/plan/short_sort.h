// Sorting of short lists. The standard sorts are instantiated per type at some 3 kB each, which the
// page's modules have no room for.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace vramgauge {

/// In place, equal elements in their order; for lists of a few hundred.
template <typename T, typename Before>
void short_sort(std::vector<T>& list, const Before& before) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    for (std::size_t at = i; at > 0 && before(list[at], list[at - 1]); --at)
      std::swap(list[at], list[at - 1]);
  }
}

}  // namespace vramgauge

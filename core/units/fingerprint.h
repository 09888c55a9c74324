// Numbers mixed into one, so that lists of numbers can be compared at once.
#pragma once

#include <cstdint>

namespace vramgauge {

/// `print` with one more number. Other numbers, or another order of them, give another print but
/// for one chance in 2^64.
constexpr uint64_t mix_print(uint64_t print, uint64_t value) {
  print = (print ^ value) * 0x9E3779B97F4A7C15ULL;
  return print ^ (print >> 29);
}

}  // namespace vramgauge

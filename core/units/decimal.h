// Decimal fractions as whole millionths: exact, and the same on every platform.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "units/checked.h"

namespace vramgauge {

/// A non-negative decimal with at most six places, stored in millionths.
class Decimal {
 public:
  static constexpr uint64_t kScale = 1'000'000;

  constexpr Decimal() = default;
  static constexpr Decimal from_micros(uint64_t micros) {
    Decimal result;
    result.micros_ = micros;
    return result;
  }
  /// The nearest millionth; nothing for a negative, non-finite or huge value.
  static std::optional<Decimal> from_double(double value);
  /// "79.19", "1", ".5"; nothing for anything else or more than six places.
  static std::optional<Decimal> parse(std::string_view text);

  constexpr uint64_t micros() const { return micros_; }
  constexpr bool is_zero() const { return micros_ == 0; }
  double to_double() const { return static_cast<double>(micros_) / static_cast<double>(kScale); }
  /// Without trailing zeros: "1.15", "1".
  std::string text() const;

  friend constexpr bool operator==(Decimal, Decimal) = default;
  friend constexpr auto operator<=>(Decimal, Decimal) = default;

 private:
  uint64_t micros_ = 0;
};

/// floor(value x factor).
constexpr CheckedU64 operator*(CheckedU64 value, Decimal factor) {
  return scaled(value, factor.micros(), Decimal::kScale);
}

/// A whole number as people type it: digits, optionally grouped by commas or underscores, with a
/// binary suffix k, M, G or T (8k = 8,192; 1M = 1,048,576). Nothing when unreadable or too large.
std::optional<uint64_t> parse_count(std::string_view text);

}  // namespace vramgauge

// Checked 64-bit arithmetic: a formula is written over CheckedU64 and opened once at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace vramgauge {

/// An unsigned 64-bit count whose arithmetic poisons on overflow, underflow and division by zero
/// instead of wrapping. Constructed from exactly uint64_t, so that a 32-bit size_t (WebAssembly)
/// cannot slip into a formula. The largest number stands for "poisoned": one word instead of two
/// makes sums saturate by themselves, and no count of anything reaches it.
class CheckedU64 {
 public:
  constexpr CheckedU64() = default;

  template <typename T, typename = std::enable_if_t<std::is_same_v<T, uint64_t>>>
  constexpr CheckedU64(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  /// The value that stands for "an operation overflowed".
  static constexpr CheckedU64 poisoned() { return CheckedU64(kPoison); }

  constexpr bool valid() const { return value_ != kPoison; }

  /// The number, or nothing when any operation on the way here overflowed.
  constexpr std::optional<uint64_t> get() const {
    if (!valid()) return std::nullopt;
    return value_;
  }

  constexpr uint64_t value_or(uint64_t fallback) const { return valid() ? value_ : fallback; }

  friend constexpr CheckedU64 operator+(CheckedU64 a, CheckedU64 b) {
    const uint64_t sum = a.value_ + b.value_;
    return CheckedU64(sum < a.value_ ? kPoison : sum);
  }
  friend constexpr CheckedU64 operator-(CheckedU64 a, CheckedU64 b) {
    // A poisoned b is above every valid a.
    return a.valid() && a.value_ >= b.value_ ? CheckedU64(a.value_ - b.value_) : poisoned();
  }
  friend constexpr CheckedU64 operator*(CheckedU64 a, CheckedU64 b) {
    // Two halves cannot overflow and are not poisoned; a 128-bit product costs a call in
    // WebAssembly.
    if (((a.value_ | b.value_) >> 32) == 0) return CheckedU64(a.value_ * b.value_);
    return long_product(a, b);
  }
  friend constexpr CheckedU64 operator/(CheckedU64 a, CheckedU64 b) {
    if (!a.valid() || !b.valid() || b.value_ == 0) return poisoned();
    return CheckedU64(a.value_ / b.value_);
  }
  constexpr CheckedU64& operator+=(CheckedU64 other) { return *this = *this + other; }
  constexpr CheckedU64& operator*=(CheckedU64 other) { return *this = *this * other; }

  /// Equal when both are valid and hold the same number.
  friend constexpr bool operator==(CheckedU64 a, CheckedU64 b) {
    return a.valid() && a.value_ == b.value_;
  }

 private:
  static constexpr uint64_t kPoison = ~uint64_t{0};

  static constexpr CheckedU64 long_product(CheckedU64 a, CheckedU64 b) {
    uint64_t product = 0;
    const bool fits =
        a.valid() && b.valid() && !__builtin_mul_overflow(a.value_, b.value_, &product);
    return fits ? CheckedU64(product) : poisoned();
  }

  uint64_t value_ = 0;
};

/// a / b rounded up; poisoned when b is zero.
constexpr CheckedU64 ceil_div(CheckedU64 a, CheckedU64 b) {
  if (!a.valid() || !b.valid() || b == CheckedU64(uint64_t{0})) return CheckedU64::poisoned();
  const uint64_t quotient = a.value_or(0) / b.value_or(1);
  const bool exact = quotient * b.value_or(1) == a.value_or(0);
  return CheckedU64(quotient) + CheckedU64(uint64_t{exact ? 0U : 1U});
}

/// The smallest multiple of `step` that is not below `a`.
constexpr CheckedU64 round_up(CheckedU64 a, CheckedU64 step) { return ceil_div(a, step) * step; }

constexpr CheckedU64 min(CheckedU64 a, CheckedU64 b) {
  if (!a.valid() || !b.valid()) return CheckedU64::poisoned();
  return a.value_or(0) < b.value_or(0) ? a : b;
}

constexpr CheckedU64 max(CheckedU64 a, CheckedU64 b) {
  if (!a.valid() || !b.valid()) return CheckedU64::poisoned();
  return a.value_or(0) > b.value_or(0) ? a : b;
}

/// floor(a x numerator / denominator) with a 128-bit product; poisoned when it does not fit or the
/// denominator is zero.
constexpr CheckedU64 scaled(CheckedU64 a, uint64_t numerator, uint64_t denominator) {
  if (!a.valid() || denominator == 0) return CheckedU64::poisoned();
  __extension__ using Wide = unsigned __int128;
  const Wide result = static_cast<Wide>(a.value_or(0)) * numerator / denominator;
  if (result > static_cast<Wide>(~uint64_t{0})) return CheckedU64::poisoned();
  return CheckedU64(static_cast<uint64_t>(result));
}

}  // namespace vramgauge

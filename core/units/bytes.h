// Sizes in bytes as a strong type: never a bare number, never a float.
#pragma once

#include <cstdint>
#include <type_traits>

#include "units/checked.h"

namespace vramgauge {

/// Largest size that crosses the API: a JSON number below 2^53 is exact in JavaScript.
inline constexpr uint64_t kMaxApiBytes = (uint64_t{1} << 53) - 1;

/// A signed difference of two sizes.
class BytesDelta {
 public:
  constexpr BytesDelta() = default;
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, int64_t>>>
  constexpr explicit BytesDelta(T value) : value_(value) {}
  constexpr int64_t count() const { return value_; }
  friend constexpr bool operator==(BytesDelta, BytesDelta) = default;
  friend constexpr auto operator<=>(BytesDelta, BytesDelta) = default;

 private:
  int64_t value_ = 0;
};

/// An exact number of bytes. Constructed from exactly uint64_t, or by KiB, MiB and GiB.
/// Sums of valid sizes (each at most kMaxApiBytes) are made with checked arithmetic, see bytes_of.
class Bytes {
 public:
  constexpr Bytes() = default;
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, uint64_t>>>
  constexpr explicit Bytes(T value) : value_(value) {}

  constexpr uint64_t count() const { return value_; }

  friend constexpr bool operator==(Bytes, Bytes) = default;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;

  /// Difference as a signed quantity; both operands are at most kMaxApiBytes.
  friend constexpr BytesDelta operator-(Bytes a, Bytes b) {
    return BytesDelta(static_cast<int64_t>(a.value_) - static_cast<int64_t>(b.value_));
  }

 private:
  uint64_t value_ = 0;
};

constexpr Bytes KiB(uint64_t n) { return Bytes(n << 10); }
constexpr Bytes MiB(uint64_t n) { return Bytes(n << 20); }
constexpr Bytes GiB(uint64_t n) { return Bytes(n << 30); }

/// A size entering a checked formula.
constexpr CheckedU64 checked(Bytes bytes) { return CheckedU64(bytes.count()); }

/// The result of a formula as a size, or nothing when it overflowed or exceeds kMaxApiBytes.
constexpr std::optional<Bytes> bytes_of(CheckedU64 value) {
  if (!value.valid() || value.value_or(0) > kMaxApiBytes) return std::nullopt;
  return Bytes(value.value_or(0));
}

}  // namespace vramgauge

// Numbers as GGUF files store them, in either byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "units/index.h"

namespace vramgauge::gguf {

/// `width` bytes (at most 8) as an unsigned number.
inline uint64_t load(const char* bytes, uint64_t width, bool is_big_endian) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < width; ++i) {
    const uint64_t at = is_big_endian ? i : width - 1 - i;
    value = value << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return value;
}

/// The same bits as a signed number of that width.
inline int64_t sign_extended(uint64_t bits, uint64_t width) {
  const uint64_t shift = 64 - 8 * width;
  return static_cast<int64_t>(bits << shift) >> shift;
}

/// Walks through the bytes at hand; offsets count from the beginning of the current entry. Callers
/// check left() first.
class Cursor {
 public:
  Cursor(std::string_view bytes, bool is_big_endian)
      : bytes_(bytes), is_big_endian_(is_big_endian) {}

  void set_big_endian(bool value) { is_big_endian_ = value; }
  /// Starts an entry where the last one ended; returns how long that was.
  uint64_t begin_entry() {
    const uint64_t length = offset();
    begin_ = at_;
    return length;
  }
  /// Back to the beginning of the entry.
  void rewind() { at_ = begin_; }

  uint64_t taken() const { return at_; }
  uint64_t offset() const { return at_ - begin_; }
  uint64_t left() const { return bytes_.size() - at_; }
  void pass(uint64_t count) { at_ += count; }

  uint64_t number(uint64_t width) {
    const uint64_t value = load(bytes_.data() + at_, width, is_big_endian_);
    at_ += width;
    return value;
  }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() {
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return is_big_endian_ == kHostIsBigEndian ? value : __builtin_bswap64(value);
  }
  std::string_view text(uint64_t length) {
    const std::string_view result = bytes_.substr(index_of(at_), index_of(length));
    at_ += length;
    return result;
  }

 private:
  static constexpr bool kHostIsBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

  std::string_view bytes_;
  uint64_t at_ = 0;
  uint64_t begin_ = 0;
  bool is_big_endian_;
};

}  // namespace vramgauge::gguf

// GGUF headers made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_header.h"

namespace vramgauge::testing {

/// Writes a GGUF header piece by piece.
class GgufWriter {
 public:
  explicit GgufWriter(uint64_t num_tensors, uint64_t num_keys, uint32_t version = 3,
                      bool is_big_endian = false);

  GgufWriter& number(uint64_t value, unsigned width);
  GgufWriter& u32(uint64_t value) { return number(value, 4); }
  GgufWriter& u64(uint64_t value) { return number(value, 8); }
  GgufWriter& text(std::string_view value);
  GgufWriter& key(std::string_view name, GgufType type);
  GgufWriter& u32_key(std::string_view name, uint64_t value);
  GgufWriter& text_key(std::string_view name, std::string_view value);
  /// A list of strings, all the same.
  GgufWriter& texts_key(std::string_view name, uint64_t count, std::string_view value);
  GgufWriter& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                     uint64_t offset);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  bool is_big_endian_;
};

}  // namespace vramgauge::testing

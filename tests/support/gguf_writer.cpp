#include "support/gguf_writer.h"

namespace vramgauge::testing {

GgufWriter::GgufWriter(uint64_t num_tensors, uint64_t num_keys, uint32_t version,
                       bool is_big_endian)
    : bytes_("GGUF"), is_big_endian_(is_big_endian) {
  u32(version).u64(num_tensors).u64(num_keys);
}

GgufWriter& GgufWriter::number(uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) {
    const unsigned shift = 8 * (is_big_endian_ ? width - 1 - i : i);
    bytes_.push_back(static_cast<char>(value >> shift & 0xFF));
  }
  return *this;
}

GgufWriter& GgufWriter::text(std::string_view value) {
  u64(value.size());
  bytes_.append(value);
  return *this;
}

GgufWriter& GgufWriter::key(std::string_view name, GgufType type) {
  return text(name).u32(static_cast<uint32_t>(type));
}

GgufWriter& GgufWriter::u32_key(std::string_view name, uint64_t value) {
  return key(name, GgufType::u32).u32(value);
}

GgufWriter& GgufWriter::text_key(std::string_view name, std::string_view value) {
  return key(name, GgufType::string).text(value);
}

GgufWriter& GgufWriter::texts_key(std::string_view name, uint64_t count, std::string_view value) {
  key(name, GgufType::array).u32(static_cast<uint32_t>(GgufType::string)).u64(count);
  for (uint64_t i = 0; i < count; ++i)
    text(value);
  return *this;
}

GgufWriter& GgufWriter::tensor(std::string_view name, const std::vector<uint64_t>& dims,
                               uint32_t type, uint64_t offset) {
  text(name).u32(dims.size());
  for (const uint64_t dim : dims)
    u64(dim);
  return u32(type).u64(offset);
}

}  // namespace vramgauge::testing

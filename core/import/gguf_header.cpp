#include "import/gguf_header.h"

#include <algorithm>

#include "import/gguf_bytes.h"

namespace vramgauge {
namespace {

bool is_signed(GgufType type) {
  return type == GgufType::i8 || type == GgufType::i16 || type == GgufType::i32 ||
         type == GgufType::i64;
}

}  // namespace

std::optional<uint64_t> gguf_type_bytes(uint32_t type) {
  constexpr uint64_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  if (type >= std::size(kBytes)) return std::nullopt;
  return kBytes[type];
}

std::optional<uint64_t> GgufArray::u64_at(uint64_t index) const {
  const uint64_t width = gguf_type_bytes(static_cast<uint32_t>(element)).value_or(0);
  const bool is_real = element == GgufType::f32 || element == GgufType::f64;
  if (!is_kept || is_real || width == 0 || index >= count) return std::nullopt;
  const uint64_t bits = gguf::load(raw.data() + index * width, width, is_big_endian);
  if (is_signed(element) && gguf::sign_extended(bits, width) < 0) return std::nullopt;
  if (element == GgufType::boolean) return bits != 0 ? 1 : 0;
  return bits;
}

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [key](const GgufEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

std::optional<uint64_t> GgufHeader::u64(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<uint64_t>(value)) return *number;
  const auto* number = std::get_if<int64_t>(value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::optional<std::string_view> GgufHeader::text(std::string_view key) const {
  const GgufValue* value = find(key);
  const auto* string = value == nullptr ? nullptr : std::get_if<GgufString>(value);
  if (string == nullptr || !string->is_kept) return std::nullopt;
  return string->text;
}

}  // namespace vramgauge

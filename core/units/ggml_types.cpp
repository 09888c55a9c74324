#include "units/ggml_types.h"

namespace vramgauge {
namespace {

constexpr GgmlTypeInfo kTypes[] = {
#define X(enumerator, name, id, elements, bytes, row) \
  {GgmlType::enumerator, name, id, elements, bytes, row},
    VRAMGAUGE_GGML_TYPES(X)
#undef X
};

}  // namespace

const GgmlTypeInfo& ggml_type_info(GgmlType type) { return kTypes[static_cast<uint32_t>(type)]; }

const GgmlTypeInfo* find_ggml_type(std::string_view name) {
  for (const GgmlTypeInfo& info : kTypes) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const GgmlTypeInfo* find_ggml_type(uint32_t id) {
  for (const GgmlTypeInfo& info : kTypes) {
    if (info.id == id) return &info;
  }
  return nullptr;
}

bool fits_row(GgmlType type, uint64_t elements) {
  return elements % ggml_type_info(type).block_elements == 0;
}

CheckedU64 row_bytes(GgmlType type, uint64_t elements) {
  if (!fits_row(type, elements)) return CheckedU64::poisoned();
  const GgmlTypeInfo& info = ggml_type_info(type);
  return CheckedU64(elements) / info.block_elements * info.block_bytes + info.row_bytes;
}

}  // namespace vramgauge

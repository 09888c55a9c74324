// Storage types of GGUF tensors: how many elements a block holds and how many bytes it takes.
#pragma once

#include <cstdint>
#include <string_view>

#include "units/checked.h"

namespace vramgauge {

// X(enumerator, name, identifier in files, elements per block, bytes per block, bytes per row).
// Sources: ggml-org/ggml src/ggml-common.h (structs with their static assertions). The types from
// 133 on exist only in ik_llama.cpp: gguf-py/gguf/constants.py there, and row_meta_size in
// ggml/src/ggml.c for the scale that some of them keep in front of each row.
#define VRAMGAUGE_GGML_TYPES(X)           \
  X(f32, "F32", 0, 1, 4, 0)               \
  X(f16, "F16", 1, 1, 2, 0)               \
  X(q4_0, "Q4_0", 2, 32, 18, 0)           \
  X(q4_1, "Q4_1", 3, 32, 20, 0)           \
  X(q5_0, "Q5_0", 6, 32, 22, 0)           \
  X(q5_1, "Q5_1", 7, 32, 24, 0)           \
  X(q8_0, "Q8_0", 8, 32, 34, 0)           \
  X(q8_1, "Q8_1", 9, 32, 36, 0)           \
  X(q2_k, "Q2_K", 10, 256, 84, 0)         \
  X(q3_k, "Q3_K", 11, 256, 110, 0)        \
  X(q4_k, "Q4_K", 12, 256, 144, 0)        \
  X(q5_k, "Q5_K", 13, 256, 176, 0)        \
  X(q6_k, "Q6_K", 14, 256, 210, 0)        \
  X(q8_k, "Q8_K", 15, 256, 292, 0)        \
  X(iq2_xxs, "IQ2_XXS", 16, 256, 66, 0)   \
  X(iq2_xs, "IQ2_XS", 17, 256, 74, 0)     \
  X(iq3_xxs, "IQ3_XXS", 18, 256, 98, 0)   \
  X(iq1_s, "IQ1_S", 19, 256, 50, 0)       \
  X(iq4_nl, "IQ4_NL", 20, 32, 18, 0)      \
  X(iq3_s, "IQ3_S", 21, 256, 110, 0)      \
  X(iq2_s, "IQ2_S", 22, 256, 82, 0)       \
  X(iq4_xs, "IQ4_XS", 23, 256, 136, 0)    \
  X(i8, "I8", 24, 1, 1, 0)                \
  X(i16, "I16", 25, 1, 2, 0)              \
  X(i32, "I32", 26, 1, 4, 0)              \
  X(i64, "I64", 27, 1, 8, 0)              \
  X(f64, "F64", 28, 1, 8, 0)              \
  X(iq1_m, "IQ1_M", 29, 256, 56, 0)       \
  X(bf16, "BF16", 30, 1, 2, 0)            \
  X(tq1_0, "TQ1_0", 34, 256, 54, 0)       \
  X(tq2_0, "TQ2_0", 35, 256, 66, 0)       \
  X(mxfp4, "MXFP4", 39, 32, 17, 0)        \
  X(nvfp4, "NVFP4", 40, 64, 36, 0)        \
  X(q1_0, "Q1_0", 41, 128, 18, 0)         \
  X(q2_0, "Q2_0", 42, 64, 18, 0)          \
  X(q6_0, "Q6_0", 133, 32, 26, 0)         \
  X(iq1_bn, "IQ1_BN", 134, 64, 13, 2)     \
  X(iq2_bn, "IQ2_BN", 135, 64, 16, 4)     \
  X(iq2_k, "IQ2_K", 137, 256, 76, 0)      \
  X(iq3_k, "IQ3_K", 138, 256, 110, 0)     \
  X(iq4_k, "IQ4_K", 139, 256, 144, 0)     \
  X(iq5_k, "IQ5_K", 140, 256, 176, 0)     \
  X(iq6_k, "IQ6_K", 141, 256, 212, 0)     \
  X(iq4_ks, "IQ4_KS", 144, 256, 136, 4)   \
  X(iq2_ks, "IQ2_KS", 145, 256, 70, 2)    \
  X(iq4_kss, "IQ4_KSS", 146, 256, 128, 4) \
  X(iq5_ks, "IQ5_KS", 152, 256, 168, 4)   \
  X(iq2_kt, "IQ2_KT", 153, 256, 68, 4)    \
  X(iq3_kt, "IQ3_KT", 154, 256, 100, 4)   \
  X(iq4_kt, "IQ4_KT", 155, 256, 128, 4)   \
  X(iq3_ks, "IQ3_KS", 156, 256, 102, 2)   \
  X(iq2_kl, "IQ2_KL", 157, 256, 86, 2)    \
  X(iq1_kt, "IQ1_KT", 158, 256, 56, 4)

enum class GgmlType {
#define X(enumerator, name, id, elements, bytes, row) enumerator,
  VRAMGAUGE_GGML_TYPES(X)
#undef X
};

/// One row of the table above.
struct GgmlTypeInfo {
  GgmlType type;
  std::string_view name;
  /// Identifier that GGUF files store.
  uint32_t id;
  uint64_t block_elements;
  uint64_t block_bytes;
  /// Bytes in front of each row, outside the blocks.
  uint64_t row_bytes;
  /// True for everything but plain integers and floats.
  constexpr bool is_quantized() const { return block_elements > 1; }
};

const GgmlTypeInfo& ggml_type_info(GgmlType type);
/// By its name in capitals ("Q4_K"); null when there is none.
const GgmlTypeInfo* find_ggml_type(std::string_view name);
/// By the identifier in a file; null when there is none.
const GgmlTypeInfo* find_ggml_type(uint32_t id);

/// Blocks cannot straddle rows: true when a row of `elements` fills whole blocks.
bool fits_row(GgmlType type, uint64_t elements);

/// Bytes of one row; poisoned when the row does not fill whole blocks.
CheckedU64 row_bytes(GgmlType type, uint64_t elements);

}  // namespace vramgauge

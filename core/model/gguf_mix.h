// Which type each tensor of a GGUF file gets: llama.cpp's quantiser gives some tensors more bits
// than the file type's name says. The facts are those of llama.cpp's src/llama-quant.cpp at commit
// 007dbbf3 (2026).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/gguf_listing.h"
#include "units/error.h"
#include "units/ggml_types.h"

namespace vramgauge {

// X(enumerator, name of the file type, type that most matrices get)
#define VRAMGAUGE_GGUF_MIXES(X)    \
  X(f32, "F32", f32)               \
  X(f16, "F16", f16)               \
  X(bf16, "BF16", bf16)            \
  X(q1_0, "Q1_0", q1_0)            \
  X(q2_0, "Q2_0", q2_0)            \
  X(q4_0, "Q4_0", q4_0)            \
  X(q4_1, "Q4_1", q4_1)            \
  X(q5_0, "Q5_0", q5_0)            \
  X(q5_1, "Q5_1", q5_1)            \
  X(q8_0, "Q8_0", q8_0)            \
  X(q2_k, "Q2_K", q2_k)            \
  X(q2_k_s, "Q2_K_S", q2_k)        \
  X(q3_k_s, "Q3_K_S", q3_k)        \
  X(q3_k_m, "Q3_K_M", q3_k)        \
  X(q3_k_l, "Q3_K_L", q3_k)        \
  X(q4_k_s, "Q4_K_S", q4_k)        \
  X(q4_k_m, "Q4_K_M", q4_k)        \
  X(q5_k_s, "Q5_K_S", q5_k)        \
  X(q5_k_m, "Q5_K_M", q5_k)        \
  X(q6_k, "Q6_K", q6_k)            \
  X(iq1_s, "IQ1_S", iq1_s)         \
  X(iq1_m, "IQ1_M", iq1_m)         \
  X(iq2_xxs, "IQ2_XXS", iq2_xxs)   \
  X(iq2_xs, "IQ2_XS", iq2_xs)      \
  X(iq2_s, "IQ2_S", iq2_xs)        \
  X(iq2_m, "IQ2_M", iq2_s)         \
  X(iq3_xxs, "IQ3_XXS", iq3_xxs)   \
  X(iq3_xs, "IQ3_XS", iq3_s)       \
  X(iq3_s, "IQ3_S", iq3_s)         \
  X(iq3_m, "IQ3_M", iq3_s)         \
  X(iq4_nl, "IQ4_NL", iq4_nl)      \
  X(iq4_xs, "IQ4_XS", iq4_xs)      \
  X(tq1_0, "TQ1_0", tq1_0)         \
  X(tq2_0, "TQ2_0", tq2_0)         \
  X(mxfp4_moe, "MXFP4_MOE", mxfp4) \
  X(nvfp4, "NVFP4", nvfp4)

enum class GgufMix {
#define X(enumerator, name, base) enumerator,
  VRAMGAUGE_GGUF_MIXES(X)
#undef X
};

std::string_view gguf_mix_name(GgufMix mix);
std::optional<GgufMix> find_gguf_mix(std::string_view name);
/// The type that most matrices get.
GgmlType gguf_mix_base(GgufMix mix);

/// What the chooser asks about a model.
struct GgufFacts {
  /// Layers of the file, appended multi-token-prediction layers included.
  uint64_t num_layers = 0;
  /// Routed experts per layer; 0 = none.
  uint64_t num_experts = 0;
  /// Query heads per KV head of the first layer; 0 where that layer has no attention.
  uint64_t heads_per_kv_head = 0;
  bool is_falcon = false;
  /// Of the class that llama.cpp calls 70B: 80 layers with grouped queries.
  bool is_70b = false;
  /// Quantised with an importance matrix. The mixes that cannot do without one take it as given.
  bool has_importance_matrix = false;
  /// What the file was quantised from: F16 or BF16. Tensors that the quantiser leaves alone keep
  /// it.
  GgmlType wide = GgmlType::f16;
};

/// The type of one tensor.
struct GgufChoice {
  GgmlType type = GgmlType::f32;
  /// The type meant for it needs longer rows, so it got the next one that fits.
  bool fell_back = false;
};

/// The type of each tensor in a file of this mix, in the order given. A tensor that the quantiser
/// leaves alone keeps what the converter wrote: F32 or facts.wide. Error: the quantiser itself
/// gives up on a row length.
Result<std::vector<GgufChoice>> choose_gguf_types(GgufMix mix, const GgufFacts& facts,
                                                  const std::vector<GgufTensor>& tensors);

/// Bytes of all those tensors, from names that were read before; nothing where choose_gguf_types
/// has an error.
std::optional<CheckedU64> gguf_mix_bytes(GgufMix mix, const GgufFacts& facts,
                                         const GgufListing& listing);

/// The same when every matrix gets `type`, without a mix.
Result<std::vector<GgufChoice>> choose_pure_gguf_types(GgmlType type, GgmlType wide,
                                                       const std::vector<GgufTensor>& tensors);

}  // namespace vramgauge

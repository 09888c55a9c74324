// Tensors of a GGUF file as llama.cpp's quantiser sees them: what a name and a shape say, whatever
// the mix. Reading names costs more than choosing types, so it is done once for any number of
// mixes. The facts are those of src/llama-quant.cpp at commit 007dbbf3 (2026) and of
// convert_hf_to_gguf.py.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "specs/model_spec.h"
#include "units/checked.h"

namespace vramgauge {

/// A tensor as a GGUF file lists it: "blk.3.attn_v.weight", innermost dimension first.
struct GgufTensor {
  std::string name;
  std::array<uint64_t, 4> dims{1, 1, 1, 1};
  /// For sums by group; the chooser goes by the name.
  RoleGroup group = RoleGroup::other;
};

/// What a tensor is for, as far as the quantiser's rules ask.
enum class GgufCategory {
  token_embedding,
  output,
  attention_q,
  attention_k,
  /// Values, alone or fused with others: the tensors that suffer most from few bits.
  attention_v,
  attention_output,
  ffn_up,
  ffn_gate,
  ffn_down,
  other,
};

/// Tensors that no rule tells apart, unless by where they stand.
struct GgufKind {
  GgufCategory category = GgufCategory::other;
  /// The quantiser takes it on; the others keep what the converter wrote.
  bool is_quantized = false;
  /// The converter writes F32 whatever the file type: vectors, norms and the small tensors that
  /// must stay exact.
  bool is_exact = false;
  /// More than one matrix, such as those of experts.
  bool is_stacked = false;
  uint64_t row_elements = 0;

  /// Whether rules ask for a layer or for how many of the category came before.
  bool is_placed() const;

  friend bool operator==(const GgufKind&, const GgufKind&) = default;
};

/// A tensor whose type depends on where it stands.
struct GgufPlaced {
  uint32_t tensor = 0;
  uint32_t kind = 0;
  /// -1 = outside the layers.
  int64_t layer = -1;
  CheckedU64 rows;
};

/// A file's tensors, sorted out.
class GgufListing {
 public:
  explicit GgufListing(const std::vector<GgufTensor>& tensors);

  const std::vector<GgufKind>& kinds() const { return kinds_; }
  /// Rows of all tensors of a kind that is not placed.
  const std::vector<CheckedU64>& rows_of_kind() const { return rows_of_kind_; }
  /// The kind of each tensor, in the order given.
  const std::vector<uint32_t>& kind_of_tensor() const { return kind_of_tensor_; }
  /// Tensors of placed kinds in the order in which the quantiser meets them: by layer, then by
  /// name.
  const std::vector<GgufPlaced>& placed() const { return placed_; }
  /// A tensor of each kind, for messages.
  const std::vector<uint32_t>& first_of_kind() const { return first_of_kind_; }
  /// The head is a tensor of its own.
  bool has_output() const { return has_output_; }
  uint64_t num_attention_v() const { return num_attention_v_; }

 private:
  class Names;

  /// Index of a kind, most likely `guess`; one that is new is that of `tensor`.
  uint32_t index_of_kind(const GgufKind& kind, uint32_t guess, uint32_t tensor);
  void add(const GgufTensor& tensor, Names& names);
  void put_in_order(const std::vector<GgufTensor>& tensors);

  std::vector<GgufKind> kinds_;
  std::vector<CheckedU64> rows_of_kind_;
  std::vector<uint32_t> first_of_kind_;
  std::vector<uint32_t> kind_of_tensor_;
  std::vector<GgufPlaced> placed_;
  bool has_output_ = false;
  uint64_t num_attention_v_ = 0;
};

}  // namespace vramgauge

#include "model/checkpoint_format.h"

#include <utility>

#include "model/weight_tally.h"
#include "units/index.h"

namespace vramgauge {
namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

tl::unexpected<Diagnostics> refused(const ResolvedQuantization& quantization,
                                    std::string_view reason) {
  return fail(ErrorCode::format_refused, {}, {{"id", quantization.method}, {"reason", reason}});
}

/// Adds one tensor to the sums, or says why it has no size.
Result<void> add(WeightTally& tally, const WeightTensor& tensor, const GroupedLayout& layout,
                 std::string_view method) {
  if (tensor.cols % layout.in_multiple != 0 && layout.ragged == RaggedRule::refuse) {
    return fail(ErrorCode::format_not_divisible, {},
                {{"id", method},
                 {"block", layout.in_multiple},
                 {"tensor", tensor.name},
                 {"row", tensor.cols}});
  }
  tally.add(role_group(tensor.role), storage_name(layout), num_elements(tensor),
            grouped_bytes(layout, tensor.rows, tensor.cols) * tensor.count);
  return {};
}

/// Packed 32-bit words with groups along the inputs; a whole row is one group where none is given.
void set_groups(GroupedLayout& layout, const QuantScheme& scheme, uint64_t cols) {
  layout.word_bits = 32;
  layout.group_size = scheme.group_size != 0 ? scheme.group_size : cols;
  layout.scale_bits = scheme.scale_bits;
  if (scheme.has_zeros) layout.zero_bits = scheme.bits;
  if (scheme.has_group_index) layout.per_column_bits = 32;
}

void set_spans(GroupedLayout& layout, const QuantScheme& scheme, uint64_t cols) {
  const uint64_t zero_bits = scheme.has_zeros ? scheme.bits : 0;
  switch (scheme.span) {
    case Span::tensor: layout.per_tensor_bits = scheme.scale_bits + zero_bits; break;
    case Span::channel: layout.per_row_bits = scheme.scale_bits + zero_bits; break;
    case Span::group:
      layout.group_size = scheme.group_size != 0 ? scheme.group_size : cols;
      layout.scale_bits = scheme.scale_bits;
      layout.zero_bits = zero_bits;
      break;
    case Span::block:
      layout.block_rows = scheme.block_rows;
      layout.block_cols = scheme.block_cols;
      layout.scale_bits = scheme.scale_bits;
      break;
  }
}

void set_flat_blocks(GroupedLayout& layout, const QuantScheme& scheme) {
  layout.flat = true;
  layout.group_size = 64;
  layout.scale_bits = scheme.has_double_scales ? 8 : 32;
  if (!scheme.has_double_scales) return;
  layout.super_group = 256;
  layout.super_scale_bits = 32;
}

void set_trellis(GroupedLayout& layout) {
  layout.per_row_bits = layout.per_column_bits = 16;
  layout.in_multiple = layout.out_multiple = 128;
  layout.ragged = RaggedRule::pad;
}

}  // namespace

GroupedLayout scheme_layout(const QuantScheme& scheme, uint64_t cols) {
  GroupedLayout layout;
  layout.bits = scheme.bits;
  switch (scheme.kind) {
    case Kind::gptq:
      set_groups(layout, scheme, cols);
      layout.in_multiple = 32;
      break;
    case Kind::awq:
      set_groups(layout, scheme, cols);
      layout.packs_outputs = true;
      layout.in_multiple = layout.group_size;
      break;
    case Kind::packed_int:
      set_spans(layout, scheme, cols);
      layout.word_bits = 32;
      if (scheme.has_group_index) layout.per_column_bits = 32;
      break;
    case Kind::bytes: set_spans(layout, scheme, cols); break;
    case Kind::nvfp4:
      set_spans(layout, scheme, cols);
      layout.per_tensor_bits = 32;
      layout.in_multiple = scheme.group_size;
      break;
    case Kind::microscaled:
      set_spans(layout, scheme, cols);
      layout.in_multiple = scheme.group_size;
      break;
    case Kind::bnb_4bit: set_flat_blocks(layout, scheme); break;
    case Kind::affine:
      set_spans(layout, scheme, cols);
      layout.zero_bits = scheme.has_zeros ? 16 : 0;
      break;
    case Kind::exl3: set_trellis(layout); break;
    case Kind::modelopt_awq:
      set_spans(layout, scheme, cols);
      layout.per_column_bits = 16;
      break;
    case Kind::bitnet:
      layout.packs_outputs = true;
      layout.per_tensor_bits = 16;
      break;
  }
  if (scheme.has_input_scale) layout.per_tensor_bits += 32;
  return layout;
}

Result<FormattedWeights> format_resolved(const std::vector<WeightTensor>& tensors,
                                         const ModelSpec& spec,
                                         const ResolvedQuantization& quantization, Drafts drafts) {
  if (!quantization.refused.empty()) return fail(quantization.refused);
  if (tensors.empty()) {
    return refused(quantization,
                   "it depends on the shapes of the weights, and only a parameter count is given");
  }
  if (tensors.size() != quantization.scheme_of_tensor.size())
    return refused(quantization, "it was worked out for another list of tensors");
  const GroupedLayout native = native_layout(spec);
  WeightTally tally;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WeightTensor& tensor = tensors[i];
    if (drafts == Drafts::left_out && tensor.role == TensorRole::mtp) continue;
    const uint32_t scheme = quantization.scheme_of_tensor[i];
    if (scheme == ResolvedQuantization::kMixed) {
      return refused(quantization,
                     "the experts of " + tensor.name + " are stored in different ways");
    }
    const bool is_native = scheme == ResolvedQuantization::kNative;
    const auto added =
        add(tally, tensor,
            is_native ? native : scheme_layout(quantization.schemes[scheme], tensor.cols),
            quantization.method);
    if (!added) return fail(added.error());
  }
  Result<FormattedWeights> result = tally.finish(quantization.method);
  if (result) result->warnings = quantization.warnings;
  return result;
}

}  // namespace vramgauge

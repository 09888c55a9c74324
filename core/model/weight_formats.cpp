#include "model/weight_formats.h"

#include <algorithm>

#include "model/gguf_mix_tensors.h"
#include "model/weight_tally.h"

namespace vramgauge {
namespace {

Result<FormattedWeights> finished(const WeightTally& tally, const WeightFormat& format) {
  return tally.finish(format.id);
}

// Ideal

Result<FormattedWeights> format_ideal(const std::vector<WeightTensor>& tensors,
                                      const ModelSpec& spec, const WeightFormat& format,
                                      const IdealLayout& layout) {
  WeightTally tally;
  const std::string storage = layout.bits.text() + "-bit";
  const auto add = [&](RoleGroup group, CheckedU64 elements) {
    tally.add(group, storage, elements, ceil_div(elements * layout.bits, uint64_t{8}));
  };
  if (tensors.empty() && spec.num_parameters) add(RoleGroup::other, *spec.num_parameters);
  // Rounded once per group, so that the parts add up to the whole.
  std::array<CheckedU64, kNumRoleGroups> elements{};
  for (const WeightTensor& tensor : tensors) {
    elements[static_cast<size_t>(role_group(tensor.role))] += num_elements(tensor);
  }
  for (size_t i = 0; i < kNumRoleGroups; ++i) {
    if (elements[i] == CheckedU64(uint64_t{0})) continue;
    add(static_cast<RoleGroup>(i), elements[i]);
  }
  Result<FormattedWeights> weights = finished(tally, format);
  if (weights) weights->basis = Basis::assumed;
  return weights;
}

// Grouped

bool fills_words(const GroupedLayout& layout, const WeightTensor& tensor) {
  return tensor.cols % layout.in_multiple == 0 && tensor.rows % layout.out_multiple == 0;
}

/// `lines` lines of `length` codes, each line in whole words.
CheckedU64 packed_bits(const GroupedLayout& layout, CheckedU64 lines, CheckedU64 length,
                       uint64_t bits) {
  return round_up(length * bits, layout.word_bits) * lines;
}

CheckedU64 code_bits(const GroupedLayout& layout, CheckedU64 rows, CheckedU64 cols) {
  if (layout.flat) return packed_bits(layout, uint64_t{1}, rows * cols, layout.bits);
  if (layout.packs_outputs) return packed_bits(layout, cols, rows, layout.bits);
  return packed_bits(layout, rows, cols, layout.bits);
}

/// Scales and zeros of the groups, and scales of the scales.
CheckedU64 group_bits(const GroupedLayout& layout, CheckedU64 rows, CheckedU64 cols) {
  if (layout.group_size == 0) return {};
  const CheckedU64 lines = layout.flat ? CheckedU64(uint64_t{1}) : rows;
  const CheckedU64 groups = ceil_div(layout.flat ? rows * cols : cols, layout.group_size);
  const bool packs_zeros = layout.zero_bits == layout.bits;
  const CheckedU64 zeros = packs_zeros ? packed_bits(layout, groups, lines, layout.zero_bits)
                                       : groups * lines * layout.zero_bits;
  const CheckedU64 scales = groups * lines * layout.scale_bits;
  if (layout.super_group == 0) return scales + zeros;
  return scales + zeros + ceil_div(groups * lines, layout.super_group) * layout.super_scale_bits;
}

CheckedU64 tile_bits(const GroupedLayout& layout, CheckedU64 rows, CheckedU64 cols) {
  if (layout.block_rows == 0) return {};
  return ceil_div(rows, layout.block_rows) * ceil_div(cols, layout.block_cols) * layout.scale_bits;
}

/// Chooses between a format's layout and the dtype of the checkpoint, tensor by tensor.
class GroupedFormatter {
 public:
  GroupedFormatter(const WeightFormat& format, const GroupedLayout& layout, const ModelSpec& spec)
      : format_(format), layout_(layout), native_(native_layout(spec)) {}

  /// What a tensor is stored in; null where the quantiser refuses it.
  const GroupedLayout* layout_of(const WeightTensor& tensor) {
    const GroupedLayout* wanted = layout_for(tensor);
    const bool fits = wanted->ragged == RaggedRule::pad || fills_words(*wanted, tensor);
    if (fits) return wanted;
    if (wanted->ragged == RaggedRule::refuse) return nullptr;
    ++num_kept_;
    return &native_;
  }

  Result<FormattedWeights> format(const std::vector<WeightTensor>& tensors) {
    for (const WeightTensor& tensor : tensors) {
      const GroupedLayout* layout = layout_of(tensor);
      if (layout == nullptr) return not_divisible(tensor);
      add(*layout, tensor);
    }
    Result<FormattedWeights> result = finished(tally_, format_);
    if (result && num_kept_ > 0) {
      result->warnings.push_back(
          {ErrorCode::format_fallback,
           {},
           {{"tensors", num_kept_}, {"id", format_.id}, {"fallback", storage_name(native_)}},
           {}});
    }
    return result;
  }

  tl::unexpected<Diagnostics> not_divisible(const WeightTensor& tensor) const {
    const GroupedLayout& layout = *layout_for(tensor);
    const bool is_input = tensor.cols % layout.in_multiple != 0;
    return fail(ErrorCode::format_not_divisible, {},
                {{"id", format_.id},
                 {"block", is_input ? layout.in_multiple : layout.out_multiple},
                 {"tensor", tensor.name},
                 {"row", is_input ? tensor.cols : tensor.rows}});
  }

 private:
  const GroupedLayout* layout_for(const WeightTensor& tensor) const {
    const FormatPart part = format_part_of(tensor.role);
    if (format_.left_unquantised[static_cast<size_t>(part)]) return &native_;
    // A plain dtype holds everything; codes with scales hold only matrices, and a gate with one
    // output feature is a vector.
    const bool is_vector = !tensor.is_matrix || tensor.rows == 1;
    if (is_vector && layout_.bits < 16) return &native_;
    for (const PartFormat& other : format_.part_formats) {
      if (other.part == part && other.layout) return &*other.layout;
    }
    return &layout_;
  }

  void add(const GroupedLayout& layout, const WeightTensor& tensor) {
    tally_.add(role_group(tensor.role), storage_name(layout), num_elements(tensor),
               grouped_bytes(layout, tensor.rows, tensor.cols) * tensor.count);
  }

  const WeightFormat& format_;
  const GroupedLayout& layout_;
  GroupedLayout native_;
  WeightTally tally_;
  uint64_t num_kept_ = 0;
};

// GGUF

bool is_tower(const WeightTensor& tensor) {
  const FormatPart part = format_part_of(tensor.role);
  return part == FormatPart::vision || part == FormatPart::audio;
}

CheckedU64 gguf_elements(const GgufTensor& tensor) {
  return CheckedU64(tensor.dims[0]) * tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
}

CheckedU64 gguf_bytes(const GgufTensor& tensor, GgmlType type) {
  return row_bytes(type, tensor.dims[0]) * tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
}

bool has_mtp(const std::vector<WeightTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const WeightTensor& tensor) { return tensor.role == TensorRole::mtp; });
}

/// Towers are a second file (mmproj) that stays at 16 bits, its vectors at 32.
bool add_towers(const std::vector<WeightTensor>& tensors, WeightTally& tally) {
  bool found = false;
  for (const WeightTensor& tensor : tensors) {
    if (!is_tower(tensor)) continue;
    found = true;
    const GgmlType type = tensor.is_matrix ? GgmlType::f16 : GgmlType::f32;
    tally.add(role_group(tensor.role), std::string(ggml_type_info(type).name), num_elements(tensor),
              row_bytes(type, tensor.cols) * tensor.rows * tensor.count);
  }
  return found;
}

Diagnostics gguf_warnings(const std::vector<WeightTensor>& tensors, const ModelSpec& spec,
                          const WeightFormat& format, uint64_t num_fallbacks) {
  Diagnostics warnings;
  if (std::any_of(tensors.begin(), tensors.end(), is_tower)) {
    warnings.push_back({ErrorCode::model_not_exact,
                        {},
                        {{"what", "The file of the vision or audio tower"},
                         {"model_type", spec.model_type},
                         {"reason", "it is taken to hold F16 matrices"}},
                        {}});
  }
  if (has_mtp(tensors)) {
    warnings.push_back({ErrorCode::model_tower_not_counted,
                        {},
                        {{"tower", "multi-token-prediction"},
                         {"model_type", spec.model_type},
                         {"reason", "GGUF files leave these layers out or do not load them"}},
                        {}});
  }
  if (num_fallbacks > 0) {
    warnings.push_back({ErrorCode::format_fallback,
                        {},
                        {{"tensors", num_fallbacks},
                         {"id", format.id},
                         {"fallback", "a type with shorter blocks"}},
                        {}});
  }
  return warnings;
}

Result<FormattedWeights> format_gguf(const std::vector<WeightTensor>& tensors,
                                     const ModelSpec& spec, const WeightFormat& format) {
  const std::vector<GgufTensor> listed = gguf_tensors(tensors, spec);
  const GgufFacts facts = gguf_facts(spec);
  const auto* mix = std::get_if<GgufMixLayout>(&*format.layout);
  const auto* block = std::get_if<GgufBlockLayout>(&*format.layout);
  const Result<std::vector<GgufChoice>> choices =
      mix != nullptr ? choose_gguf_types(mix->mix, facts, listed)
                     : choose_pure_gguf_types(block->type, facts.wide, listed);
  if (!choices) return fail(choices.error());
  WeightTally tally;
  uint64_t num_fallbacks = 0;
  for (size_t i = 0; i < listed.size(); ++i) {
    const GgufChoice& choice = (*choices)[i];
    if (choice.fell_back) ++num_fallbacks;
    tally.add(listed[i].group, std::string(ggml_type_info(choice.type).name),
              gguf_elements(listed[i]), gguf_bytes(listed[i], choice.type));
  }
  const bool has_towers = add_towers(tensors, tally);
  Result<FormattedWeights> result = finished(tally, format);
  if (!result) return result;
  if (has_towers) result->basis = Basis::modelled;
  result->warnings = gguf_warnings(tensors, spec, format, num_fallbacks);
  return result;
}

}  // namespace

CheckedU64 grouped_bytes(const GroupedLayout& layout, uint64_t rows, uint64_t cols) {
  CheckedU64 outputs(rows);
  CheckedU64 inputs(cols);
  if (layout.ragged == RaggedRule::pad) {
    outputs = round_up(outputs, layout.out_multiple);
    inputs = round_up(inputs, layout.in_multiple);
  }
  const CheckedU64 beside =
      outputs * layout.per_row_bits + inputs * layout.per_column_bits + layout.per_tensor_bits;
  const CheckedU64 bits = code_bits(layout, outputs, inputs) + group_bits(layout, outputs, inputs) +
                          tile_bits(layout, outputs, inputs) + beside;
  return ceil_div(bits, uint64_t{8}) + layout.codebook_bytes;
}

Result<FormattedWeights> format_weights(const std::vector<WeightTensor>& tensors,
                                        const ModelSpec& spec, const WeightFormat& format) {
  if (!format.layout) {
    return fail(ErrorCode::format_refused, {},
                {{"id", format.id}, {"reason", format.refused.value_or("no layout is given")}});
  }
  const auto* ideal = std::get_if<IdealLayout>(&*format.layout);
  if (tensors.empty() && ideal == nullptr) {
    return fail(
        ErrorCode::format_refused, {},
        {{"id", format.id},
         {"reason",
          std::string(
              "it depends on the shapes of the weights, and only a parameter count is given")}});
  }
  if (tensors.empty() && !spec.num_parameters) {
    return fail(ErrorCode::format_no_parameters, {}, {{"id", format.id}});
  }
  if (ideal != nullptr) return format_ideal(tensors, spec, format, *ideal);
  if (const auto* grouped = std::get_if<GroupedLayout>(&*format.layout)) {
    return GroupedFormatter(format, *grouped, spec).format(tensors);
  }
  return format_gguf(tensors, spec, format);
}

Result<std::vector<GroupedLayout>> grouped_layouts(const std::vector<WeightTensor>& tensors,
                                                   const ModelSpec& spec,
                                                   const WeightFormat& format,
                                                   const GroupedLayout& layout) {
  GroupedFormatter formatter(format, layout, spec);
  std::vector<GroupedLayout> layouts;
  layouts.reserve(tensors.size());
  for (const WeightTensor& tensor : tensors) {
    const GroupedLayout* chosen = formatter.layout_of(tensor);
    if (chosen == nullptr) return formatter.not_divisible(tensor);
    layouts.push_back(*chosen);
  }
  return layouts;
}

}  // namespace vramgauge

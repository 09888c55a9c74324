#include "model/checkpoint_format.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/checkpoint_names.h"
#include "model/weight_tally.h"
#include "units/index.h"

namespace vramgauge {
namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

std::string_view last_part(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_routed_expert(const WeightTensor& tensor) {
  if (tensor.role == TensorRole::mtp) return tensor.count > 1;
  return tensor.role == TensorRole::expert_gate || tensor.role == TensorRole::expert_up ||
         tensor.role == TensorRole::expert_down;
}

bool is_tower(TensorRole role) {
  return role == TensorRole::vision || role == TensorRole::audio || role == TensorRole::projector;
}

/// Parts of a draft layer are told by name: all have one role.
bool is_plain_mtp(const WeightTensor& tensor) {
  constexpr std::string_view kPlain[] = {"embed_tokens", "eh_proj", "head", "gate"};
  return tensor.role == TensorRole::mtp && std::find(std::begin(kPlain), std::end(kPlain),
                                                     last_part(tensor.name)) != std::end(kPlain);
}

/// Matrices that no quantiser touches: the weights of an indexer's heads, and the compressors of
/// latents (kept in the checkpoint's dtype by every published checkpoint that has them).
bool is_left_by_all(const WeightTensor& tensor) {
  return last_part(tensor.name) == "weights_proj" ||
         tensor.name.find(".compressor.") != std::string::npos;
}

/// What a tensor is to rules that take every linear layer.
bool counts_as_linear(const WeightTensor& tensor, const QuantizationConfig& quantization) {
  switch (tensor.role) {
    case TensorRole::embedding:
    case TensorRole::position_embedding: return quantization.takes_embeddings;
    case TensorRole::output: return quantization.takes_head;
    case TensorRole::router: return quantization.takes_routers;
    case TensorRole::norm: return false;
    case TensorRole::mtp: return !is_plain_mtp(tensor);
    default: return !is_tower(tensor.role) || quantization.takes_towers;
  }
}

/// Entries of a list that no tensor has met yet.
class Unmatched {
 public:
  explicit Unmatched(const ModuleList& list) : list_(list), met_(list.texts().size(), false) {}

  std::optional<uint64_t> find(const std::vector<std::string>& names) {
    std::optional<uint64_t> first;
    for (const std::string& name : names) {
      const auto found = list_.find(name);
      if (found) met_[index_of(*found)] = true;
      if (!first) first = found;
    }
    return first;
  }

  void report(const ModuleNames& names, uint64_t& count, std::string& first) const {
    for (size_t i = 0; i < met_.size(); ++i) {
      const std::string& text = list_.texts()[i];
      if (met_[i] || names.may_be_unmatched(text)) continue;
      if (count++ == 0) first = text.substr(0, 200);
    }
  }

 private:
  const ModuleList& list_;
  std::vector<bool> met_;
};

class CheckpointFormatter {
 public:
  CheckpointFormatter(const ModelSpec& spec, const QuantizationConfig& quantization)
      : quantization_(quantization),
        names_(spec, quantization),
        native_(native_layout(spec)),
        ignored_(quantization.ignored) {
    for (const QuantRule& rule : quantization.rules)
      targets_.emplace_back(rule.targets);
  }

  Result<FormattedWeights> format(const std::vector<WeightTensor>& tensors) {
    for (const WeightTensor& tensor : tensors) {
      const QuantRule* rule = rule_for(tensor, 0);
      if (is_routed_expert(tensor) && rule != rule_for(tensor, tensor.count - 1)) {
        return fail(
            ErrorCode::format_refused, {},
            {{"id", quantization_.method},
             {"reason", "the experts of " + tensor.name + " are stored in different ways"}});
      }
      const GroupedLayout layout =
          rule == nullptr ? native_ : scheme_layout(rule->scheme, tensor.cols);
      if (tensor.cols % layout.in_multiple != 0 && layout.ragged == RaggedRule::refuse) {
        return fail(ErrorCode::format_not_divisible, {},
                    {{"id", quantization_.method},
                     {"block", layout.in_multiple},
                     {"tensor", tensor.name},
                     {"row", tensor.cols}});
      }
      tally_.add(role_group(tensor.role), storage_name(layout), num_elements(tensor),
                 grouped_bytes(layout, tensor.rows, tensor.cols) * tensor.count);
    }
    Result<FormattedWeights> result = tally_.finish(quantization_.method);
    if (result) add_warnings(result->warnings);
    return result;
  }

 private:
  /// The rule that stores a tensor; null = the checkpoint's dtype.
  const QuantRule* rule_for(const WeightTensor& tensor, uint64_t expert) {
    const std::vector<std::string> names = names_.spellings(tensor, expert);
    const bool is_ignored = ignored_.find(names).has_value();
    const QuantRule* named = nullptr;
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].find(names) && named == nullptr) named = &quantization_.rules[i];
    }
    if (is_ignored || !tensor.is_matrix || tensor.rows == 1 || is_left_by_all(tensor))
      return nullptr;
    const bool is_router = tensor.role == TensorRole::router && !quantization_.takes_routers;
    if (is_router || tensor.role == TensorRole::norm) return nullptr;
    if (named != nullptr) return named;
    for (const QuantRule& rule : quantization_.rules) {
      if (rule.only_experts && is_routed_expert(tensor)) return &rule;
      if (rule.takes_linear && counts_as_linear(tensor, quantization_)) return &rule;
    }
    return nullptr;
  }

  void add_warnings(Diagnostics& warnings) const {
    warnings = quantization_.warnings;
    uint64_t count = 0;
    std::string first;
    ignored_.report(names_, count, first);
    for (const Unmatched& list : targets_)
      list.report(names_, count, first);
    if (count == 0) return;
    warnings.push_back(
        {ErrorCode::format_unmatched_modules, {}, {{"count", count}, {"pattern", first}}});
  }

  const QuantizationConfig& quantization_;
  ModuleNames names_;
  GroupedLayout native_;
  Unmatched ignored_;
  std::vector<Unmatched> targets_;
  WeightTally tally_;
};

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

Result<FormattedWeights> format_checkpoint(const std::vector<WeightTensor>& tensors,
                                           const ModelSpec& spec,
                                           const QuantizationConfig& quantization) {
  if (tensors.empty()) {
    return fail(
        ErrorCode::format_refused, {},
        {{"id", quantization.method},
         {"reason", std::string("it depends on the shapes of the weights, and only a parameter "
                                "count is given")}});
  }
  return CheckpointFormatter(spec, quantization).format(tensors);
}

}  // namespace vramgauge

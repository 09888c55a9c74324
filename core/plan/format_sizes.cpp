#include "plan/format_sizes.h"

#include <algorithm>

#include "model/parameters.h"

namespace vramgauge {
namespace {

bool is_alike(const WeightTensor& a, const WeightTensor& b) {
  return a.role == b.role && a.rows == b.rows && a.cols == b.cols && a.is_matrix == b.is_matrix;
}

std::vector<WeightTensor> distinct_of(const std::vector<WeightTensor>& tensors) {
  std::vector<WeightTensor> distinct;
  for (const WeightTensor& tensor : tensors) {
    const auto known = std::find_if(distinct.begin(), distinct.end(),
                                    [&](const auto& each) { return is_alike(each, tensor); });
    if (known == distinct.end()) {
      distinct.push_back(tensor);
    } else {
      known->count += tensor.count;
    }
  }
  return distinct;
}

/// Towers of a GGUF model are a file of their own: matrices at 16 bits, vectors at 32.
std::optional<FormatSize> towers_of(const std::vector<WeightTensor>& distinct) {
  CheckedU64 bytes;
  Basis basis = Basis::exact;
  for (const WeightTensor& tensor : distinct) {
    const FormatPart part = format_part_of(tensor.role);
    if (part != FormatPart::vision && part != FormatPart::audio) continue;
    basis = Basis::modelled;
    const GgmlType type = tensor.is_matrix ? GgmlType::f16 : GgmlType::f32;
    bytes += row_bytes(type, tensor.cols) * tensor.rows * tensor.count;
  }
  const auto total = bytes_of(bytes);
  return total ? std::optional<FormatSize>({*total, basis}) : std::nullopt;
}

}  // namespace

FormatSizes::FormatSizes(const std::vector<WeightTensor>& tensors, const ModelSpec& spec)
    : tensors_(tensors), spec_(spec), distinct_(distinct_of(tensors)) {}

std::optional<FormatSize> FormatSizes::in(const WeightFormat& format) {
  const auto* mix = format.layout ? std::get_if<GgufMixLayout>(&*format.layout) : nullptr;
  if (mix != nullptr && !tensors_.empty()) return in_mix(mix->mix);
  // GGUF goes by names, which tensors that were counted together have lost.
  const bool goes_by_names =
      format.layout && std::holds_alternative<GgufBlockLayout>(*format.layout);
  const auto weights = format_weights(goes_by_names ? tensors_ : distinct_, spec_, format);
  if (!weights) return std::nullopt;
  return FormatSize{weights->total, weights->basis};
}

std::optional<FormatSize> FormatSizes::in_mix(GgufMix mix) {
  if (!listing_) {
    listing_.emplace(gguf_tensors(tensors_, spec_));
    facts_ = gguf_facts(spec_);
    towers_ = towers_of(distinct_);
  }
  const auto bytes = gguf_mix_bytes(mix, facts_, *listing_);
  if (!bytes || !towers_) return std::nullopt;
  const auto total = bytes_of(*bytes + checked(towers_->total));
  return total ? std::optional<FormatSize>({*total, towers_->basis}) : std::nullopt;
}

}  // namespace vramgauge

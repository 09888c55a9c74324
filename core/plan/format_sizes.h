// Sizes of one model in many formats, for searches over the catalogue.
#pragma once

#include <optional>
#include <vector>

#include "model/gguf_mix_tensors.h"
#include "model/weight_formats.h"

namespace vramgauge {

/// What a search needs of weights.
struct FormatSize {
  Bytes total;
  Basis basis = Basis::exact;
};

/// The totals of format_weights in a fraction of its time: equal tensors are counted once, names
/// for GGUF are made and read once.
class FormatSizes {
 public:
  FormatSizes(const std::vector<WeightTensor>& tensors, const ModelSpec& spec);

  /// Nothing where format_weights has an error.
  std::optional<FormatSize> in(const WeightFormat& format);

 private:
  std::optional<FormatSize> in_mix(GgufMix mix);

  const std::vector<WeightTensor>& tensors_;
  const ModelSpec& spec_;
  /// Tensors of one shape and role are one, with their counts added.
  std::vector<WeightTensor> distinct_;
  std::optional<GgufListing> listing_;
  GgufFacts facts_;
  std::optional<FormatSize> towers_;
};

}  // namespace vramgauge

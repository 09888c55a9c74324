// Weights of a quantised checkpoint: each tensor as the checkpoint's own configuration stores it.
#pragma once

#include <vector>

#include "model/weight_formats.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// Draft layers (multi-token prediction), which engines load only for speculative decoding.
enum class Drafts { counted, left_out };

/// Bytes of `tensors` as `quantization`, which was resolved against them, stores them; what it
/// leaves alone keeps the dtype of `spec`. `tensors` is weight_tensors(spec), whole, also where
/// drafts are left out. Errors: quantization.refused; format.not_divisible; format.refused for
/// experts of one layer that are stored differently; value.overflow. Warnings: those of
/// `quantization`.
///
/// Not counted, because the configuration does not give their width or number: scales of the cache,
/// the shapes that pack-quantized files store, quantisation tables of bitsandbytes (under 0.01 %).
Result<FormattedWeights> format_resolved(const std::vector<WeightTensor>& tensors,
                                         const ModelSpec& spec,
                                         const ResolvedQuantization& quantization,
                                         Drafts drafts = Drafts::left_out);

/// How a scheme stores a matrix with `cols` input features.
GroupedLayout scheme_layout(const QuantScheme& scheme, uint64_t cols);

}  // namespace vramgauge

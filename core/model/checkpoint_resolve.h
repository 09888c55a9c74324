// Which tensors of a model its quantisation configuration means.
#pragma once

#include <string>
#include <vector>

#include "specs/model_spec.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// Resolves the rules and lists of a configuration against `tensors`, which is
/// weight_tensors(spec). Lists name modules as the checkpoint does; the spellings that families use
/// for the same module are tried. Warnings: those of `quantization`, and format.unmatched_modules
/// for entries that mean no tensor of the model. Nothing here fails: what has no size is refused
/// where it is priced (model/checkpoint_format.h).
ResolvedQuantization resolve_quantization(const std::vector<WeightTensor>& tensors,
                                          const ModelSpec& spec,
                                          const QuantizationConfig& quantization);

/// For a configuration that was not understood: the errors that read_quantization() gave.
ResolvedQuantization refused_quantization(std::string method, Diagnostics errors);

}  // namespace vramgauge

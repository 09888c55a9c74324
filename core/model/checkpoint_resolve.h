// Which tensors of a model its quantisation configuration means.
#pragma once

#include "specs/model_spec.h"
#include "specs/quantization.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// Resolves the rules and lists of a configuration against weight_tensors(spec). Lists name modules
/// as the checkpoint does; the spellings that families use for the same module are tried. Warnings:
/// those of `quantization`, and format.unmatched_modules for entries that mean no tensor of the
/// model. Nothing here fails: what cannot be sized is refused where it is priced.
ResolvedQuantization resolve_quantization(const ModelSpec& spec,
                                          const QuantizationConfig& quantization);

/// For a configuration that was not understood: the errors that read_quantization() gave.
ResolvedQuantization refused_quantization(std::string method, Diagnostics errors);

}  // namespace vramgauge

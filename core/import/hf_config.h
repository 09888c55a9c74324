// A Hugging Face config.json, in any of its dialects, as a ModelSpec.
#pragma once

#include "specs/model_spec.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge {

/// A model and what had to be assumed or left out on the way.
struct ImportedModel {
  ModelSpec spec;
  Diagnostics warnings;
};

/// Reads a model configuration. `class_defaults` is the object "classes" of
/// presets/class_defaults.json (model_type -> key -> value a missing key stands for); it may be
/// null, then missing dimensions are errors. Errors: model.* and json.* with a pointer into
/// `config`.
Result<ImportedModel> import_hf_config(const json::Value& config,
                                       const json::Value* class_defaults);

}  // namespace vramgauge

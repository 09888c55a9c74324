// A model as JSON: what an import of any kind ends in, and what travels between the module that
// reads foreign formats and the one that computes, in the catalogue and in links.
//
//   {"model_type": "spec", "spec_version": 1, "source_model_type": "llama", "name": ...,
//    "layers": {"kinds": [...], "order": [0, [59, 1]]}, "stored": {...}, "quantization": {...}}
//
// Members that have their default are left out. Layers are a table of different ones and a list of
// patterns; stored tensors that are alike in many layers are one row. Field tables:
// import/spec_layers.cpp and spec_document.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "import/hf_config.h"
#include "specs/stored_model.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge {

/// The model_type that marks such a document.
inline constexpr std::string_view kSpecModelType = "spec";
inline constexpr uint64_t kSpecVersion = 1;

/// Everything that is known about a model.
struct SpecDocument {
  ImportedModel model;
  /// What its files hold, when their headers were read.
  std::optional<StoredModel> stored;
  /// How the checkpoint is quantised, when its configuration says so.
  std::optional<ResolvedQuantization> quantization;
};

/// The document as JSON. read_spec(write_spec(d)) is d, except that the order of stored tensors may
/// change and that their common bytes are not written where type and dims give them (GGUF).
json::Value write_spec(const SpecDocument& document);

/// Reads such a document, which may come from anywhere: numbers, lists and the product of tables
/// and runs are bounded, unknown keys are errors, and what one member says about another is checked
/// (layers whose cache is shared, heads, schemes). Errors: json.*, value.out_of_range,
/// value.not_a_choice, model.unknown_structural_key, model.inconsistent, with a pointer into the
/// document. Callers look at model_type first.
Result<SpecDocument> read_spec(const json::Value& document);

}  // namespace vramgauge

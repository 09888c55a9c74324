// What reads models in foreign formats. A session has it, or answers import.reader_needed: so one
// facade serves the program with everything in it and the page's small module.
#pragma once

#include "units/error.h"
#include "units/json.h"

namespace vramgauge::api {

/// A configuration as it was found.
struct ForeignModel {
  /// config.json
  const json::Value* config = nullptr;
  /// hf_quant_config.json beside it, or null.
  const json::Value* quant_config = nullptr;
  /// What omitted keys mean (import/hf_config.h), or null.
  const json::Value* class_defaults = nullptr;
};

/// One function for each kind of text.
struct Importers {
  /// The spec document (import/spec_json.h) of a Hugging Face configuration. Errors point into
  /// `config`; a quantisation that gives no size is a refusal inside the document, not an error.
  Result<json::Value> (*config)(const ForeignModel& model);
};

/// All of them. The linker keeps what they need only where this is called.
const Importers& all_importers();

}  // namespace vramgauge::api

// A model described by hand: a few dimensions, and perhaps only a parameter count.
#pragma once

#include "import/hf_config.h"

namespace vramgauge {

/// The model_type that marks such a description.
inline constexpr std::string_view kCustomModelType = "custom";

/// Reads a description by hand. Needed: num_hidden_layers, and either num_kv_heads (or
/// num_attention_heads) with head_dim, or kv_lora_rank with qk_rope_head_dim. Weights come from
/// num_parameters when it is given, else from hidden_size, intermediate_size and vocab_size.
/// Unknown keys are errors.
Result<ImportedModel> import_custom_model(const json::Value& description);

}  // namespace vramgauge

#include "import/hf_config.h"

#include <algorithm>
#include <iterator>

#include "import/hf_families.h"
#include "import/largest_image.h"

namespace vramgauge {
namespace hf {
namespace {

constexpr std::string_view kTextKeys[] = {
    "text_config",       "llm_config",     "language_config", "language_model_config",
    "text_model_config", "thinker_config", "decoder_config"};

struct TextPart {
  const json::Value* value;
  std::string path;
};

/// The decoder's own configuration: the innermost of the nested text configurations.
TextPart find_text_part(const json::Value& config) {
  TextPart part{&config, ""};
  for (int depth = 0; depth < 3; ++depth) {
    bool descended = false;
    for (std::string_view key : kTextKeys) {
      const json::Value* inner = part.value->find(key);
      if (inner == nullptr || inner->as_object() == nullptr || inner->as_object()->empty())
        continue;
      part = {inner, json::pointer_to(part.path, key)};
      descended = true;
      break;
    }
    if (!descended) break;
  }
  return part;
}

std::string string_member(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

std::string first_architecture(const json::Value& config) {
  const json::Value* list = config.find("architectures");
  if (list == nullptr || list->as_array() == nullptr || list->as_array()->empty()) return {};
  const std::string* name = list->as_array()->front().as_string();
  return name != nullptr ? *name : std::string();
}

/// Architectures that say more than the model_type beside them (which may be missing).
struct ArchitectureName {
  std::string_view architecture;
  /// The model_type that is replaced; empty = a missing one.
  std::string_view written;
  std::string_view model_type;
};
constexpr ArchitectureName kByArchitecture[] = {
    {"Grok1ForCausalLM", "", "grok-2"},
    {"Grok1ForCausalLM", "git", "grok-2"},
    {"CogVLMVideoForCausalLM", "", "cogvlm2"},
    {"CogVLMForCausalLM", "", "cogvlm"},
    {"LlamaForCausalLM", "", "llama"},
    {"MistralForCausalLM", "", "mistral"},
    {"Qwen2ForCausalLM", "", "qwen2"},
    {"Qwen3ForCausalLM", "", "qwen3"},
    {"LlamaForCausalLMEagle3", "llama", "llama_eagle3"},
    {"InklingForConditionalGeneration", "inkling_mm_model", "inkling_text"},
};

std::string decoder_model_type(const json::Value& config, const TextPart& text) {
  std::string own = string_member(*text.value, "model_type");
  std::string root = string_member(config, "model_type");
  const std::string written = own.empty() ? root : own;
  for (const json::Value* object : {text.value, &config}) {
    const std::string architecture = first_architecture(*object);
    for (const ArchitectureName& row : kByArchitecture) {
      if (row.architecture == architecture && row.written == written)
        return std::string(row.model_type);
    }
  }
  if (!own.empty()) return own;
  if (find_family(root + "_text") != nullptr && !text.path.empty()) return root + "_text";
  if (!root.empty()) return root;
  return first_architecture(config);
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_true(const json::Value& config, std::string_view key) {
  const json::Value* value = config.find(key);
  return value != nullptr && value->as_boolean() != nullptr && *value->as_boolean();
}

/// A family that is not given as text is an error, not a reason to look for it elsewhere.
void check_model_type(Import& import) {
  import.text().string("model_type");
  if (import.nested) import.root.string("model_type");
}

/// What may not be read as a decoder although nothing is known about it.
void refuse_other_kinds(Import& import) {
  const json::Value& config = import.config;
  const std::string& model_type = import.spec.model_type;
  const json::Value* written = config.find("model_type");
  if (written != nullptr && !written->is_null() && written->as_string() == nullptr) {
    import.root.reader().wrong_type("model_type", "a string", *written);
    return;
  }
  if (model_type.empty()) {
    import.root.error(ErrorCode::json_missing_key, "model_type",
                      {{ "key",
                         std::string("model_type") }});
  } else if (ends_with(first_architecture(config), "ForMaskedLM")) {
    import.root.error(ErrorCode::model_encoder_only, "architectures",
                      {{ "model_type",
                         model_type }});
  } else if (import.defaults_of(model_type) != nullptr) {
    import.root.error(
        ErrorCode::model_unsupported, "model_type",
        {{"what", "The architecture " + model_type},
         { "reason",
           std::string("it is not a standard decoder, and its layers are not described") }});
  } else if (is_true(config, "is_encoder_decoder")) {
    import.root.error(ErrorCode::model_unknown_architecture, "is_encoder_decoder",
                      {{"model_type", model_type},
                       { "key",
                         std::string("is_encoder_decoder") }});
  }
}

void check_unread(Import& import, ConfigView& view, bool is_listed) {
  for (const std::string& key : view.reader().unread_keys()) {
    if (is_irrelevant_key(key) || !looks_structural(key)) continue;
    if (is_listed) {
      view.warn(ErrorCode::model_unknown_key, key, {{"key", key}});
    } else {
      view.error(ErrorCode::model_unknown_architecture, key,
                 {{"model_type", import.spec.model_type}, {"key", key}});
    }
  }
}

/// Keys every configuration may have beside the decoder's own.
void read_common(Import& import) {
  ConfigView& view = import.text();
  for (std::string_view key : {"torch_dtype", "dtype"}) {
    if (import.spec.dtype.empty()) import.spec.dtype = string_member(import.config, key);
    if (import.spec.dtype.empty() && view.reader().has(key)) {
      import.spec.dtype = view.string(key).value_or("");
    }
  }
}

/// The rotary kind of a set of rotary parameters: "llama3", "proportional", ...
std::string rope_kind(const json::Value& parameters) {
  const std::string kind = string_member(parameters, "rope_type");
  return kind.empty() ? string_member(parameters, "type") : kind;
}

/// Whether any set of rotary parameters is of a kind that llama.cpp keeps factors for. Gemma 4 has
/// one set per layer type.
bool has_rope_factors(const json::Value& config) {
  for (std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const json::Value* parameters = config.find(key);
    if (parameters == nullptr || parameters->as_object() == nullptr) continue;
    if (rope_kind(*parameters) == "llama3") return true;
    for (const json::Member& member : *parameters->as_object()) {
      if (rope_kind(member.value) == "proportional") return true;
    }
  }
  return false;
}

/// llama.cpp conversion (convert_hf_to_gguf.py, generate_extra_tensors): one fp32 factor per pair
/// of dimensions of the widest rotated head.
uint64_t rope_factor_elements(const json::Value& text_config, const ModelSpec& spec) {
  if (!has_rope_factors(text_config)) return 0;
  uint64_t widest = 0;
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      if (const auto* attention = std::get_if<Attention>(&mixer))
        widest = std::max(widest, attention->head_dim);
    }
  }
  return widest / 2;
}

/// Of the temporal states, as the configuration of a hybrid names their dtype.
uint64_t state_element_bytes(const json::Value& text_config) {
  for (const std::string_view key : {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}) {
    const std::string dtype = string_member(text_config, key);
    if (dtype == "float32") return 4;
    if (dtype == "bfloat16" || dtype == "float16") return 2;
  }
  return 0;
}

void finish(Import& import, const Family* family) {
  read_common(import);
  check_unread(import, import.text(), family != nullptr);
  import.spec.assumptions = import.notes.assumptions;
}

/// Standard keys only: what an architecture that is not listed is read with.
constexpr Traits kStandardTraits{};

Result<ImportedModel> import_text(const json::Value& config, const json::Value* class_defaults) {
  const TextPart text = find_text_part(config);
  Import import(config, *text.value, text.path, class_defaults);
  import.root_model_type = string_member(config, "model_type");
  import.spec.model_type = decoder_model_type(config, text);
  const std::string& model_type = import.spec.model_type;
  check_model_type(import);
  if (is_encoder_only(model_type)) {
    return fail(ErrorCode::model_encoder_only, "/model_type", {{"model_type", model_type}});
  }
  const Family* family = find_family(model_type);
  import.text().set_model_type(model_type, import.defaults_of(model_type));
  if (family == nullptr) refuse_other_kinds(import);
  if (import.failed()) return fail(std::move(import.errors));
  const Traits& traits = family != nullptr ? family->traits : kStandardTraits;
  const BuildFn build =
      family != nullptr && family->build != nullptr ? family->build : build_decoder;
  build(import, traits);
  if (!import.failed()) add_towers(import);
  if (!import.failed()) add_rotary_tables(import);
  if (family == nullptr) {
    import.text().warn(ErrorCode::model_unlisted_architecture, "model_type",
                       {{ "model_type",
                          model_type }});
  }
  finish(import, family);
  import.spec.largest_image = largest_image(config);
  import.spec.state_element_bytes = state_element_bytes(*text.value);
  import.spec.rope_factor_elements = rope_factor_elements(*text.value, import.spec);
  if (import.failed()) return fail(std::move(import.errors));
  return ImportedModel{std::move(import.spec), std::move(import.notes.warnings)};
}

}  // namespace

Import::Import(const json::Value& config_value, const json::Value& text_value,
               std::string text_path, const json::Value* defaults)
    : config(config_value), class_defaults(defaults), root(config_value, "", errors, notes) {
  if (&text_value != &config_value) {
    nested.emplace(text_value, std::move(text_path), errors, notes);
  }
}

const json::Value* Import::defaults_of(std::string_view model_type) const {
  return class_defaults == nullptr ? nullptr : class_defaults->find(model_type);
}

bool read_flag(ConfigView& view, Flag flag) {
  return flag.key.empty() ? flag.fallback : view.flag(flag.key, flag.fallback);
}

}  // namespace hf

Result<ImportedModel> import_hf_config(const json::Value& config,
                                       const json::Value* class_defaults) {
  if (config.as_object() == nullptr) {
    return fail(ErrorCode::json_wrong_type, "",
                {{"key", "config"},
                 {"expected", "an object"},
                 {"found", std::string(json::kind_name(config.kind()))}});
  }
  if (config.find("peft_type") != nullptr) {
    return fail(ErrorCode::model_adapter, "/peft_type");
  }
  return hf::import_text(config, class_defaults);
}

}  // namespace vramgauge

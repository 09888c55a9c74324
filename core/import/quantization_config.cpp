#include "import/quantization_config.h"

#include <array>
#include <utility>

#include "import/quantization_config_dialects.h"

namespace vramgauge {
namespace quantization {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;
using Style = ModuleList::Style;

namespace {

constexpr json::Range kBits{1, 16};
constexpr json::Range kGroup{1, uint64_t{1} << 20};

/// group_size, where -1 (or an absent key) means the whole row.
uint64_t read_group_size(Reading& reading, std::string_view key = "group_size") {
  const json::Value* value = reading.reader.raw(key);
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  if (number != nullptr && number->is_integer && number->is_negative && number->magnitude == 1) {
    return 0;
  }
  return reading.reader.u64(key, kGroup).value_or(0);
}

uint64_t read_bits(Reading& reading, std::string_view key) {
  const auto bits = reading.reader.u64(key, kBits);
  if (!bits && !reading.reader.has(key)) {
    reading.reader.error(ErrorCode::json_missing_key, key, {{"key", key}});
  }
  return bits.value_or(kBits.max);
}

QuantScheme gptq(uint64_t bits, uint64_t group_size) {
  QuantScheme scheme;
  scheme.kind = Kind::gptq;
  scheme.bits = bits;
  scheme.group_size = group_size;
  scheme.span = Span::group;
  scheme.has_zeros = true;
  // Written whether activations are reordered or not.
  scheme.has_group_index = true;
  return scheme;
}

/// GPTQModel's exceptions: "-:pattern" leaves modules alone, "+:pattern" stores them otherwise.
void read_gptq_exceptions(Reading& reading, uint64_t group_size) {
  const json::Value* dynamic = reading.reader.object("dynamic");
  if (dynamic == nullptr) return;
  for (const json::Member& member : *dynamic->as_object()) {
    const std::string path = json::pointer_to(reading.reader.path_to("dynamic"), member.key);
    std::string_view pattern = member.key;
    const bool is_excluded = pattern.substr(0, 2) == "-:";
    if (is_excluded || pattern.substr(0, 2) == "+:") pattern.remove_prefix(2);
    if (is_excluded) {
      reading.add_name(reading.config.ignored, pattern, Style::expression, path);
      continue;
    }
    json::ObjectReader inner(member.value, path, reading.reader.errors());
    Reading exception{inner, reading.config};
    const bool has_group = inner.raw("group_size") != nullptr;
    QuantRule rule;
    rule.scheme = reading.config.rules.back().scheme;
    rule.scheme.bits = inner.u64("bits", kBits).value_or(rule.scheme.bits);
    rule.scheme.group_size = has_group ? read_group_size(exception) : group_size;
    reading.add_name(rule.targets, pattern, Style::expression, path);
    reading.config.rules.insert(reading.config.rules.begin(), std::move(rule));
  }
}

/// Lists of modules inside a block, when only those are quantised.
void read_gptq_modules(Reading& reading) {
  const json::Value::Array* blocks = reading.reader.array("modules_in_block_to_quantize");
  if (blocks == nullptr || blocks->empty()) return;
  QuantRule& rule = reading.config.rules.back();
  rule.takes_linear = false;
  const std::string path = reading.reader.path_to("modules_in_block_to_quantize");
  const auto add = [&](const json::Value& item) {
    if (const std::string* name = item.as_string()) {
      reading.add_name(rule.targets, *name, Style::names, path);
    } else {
      reading.reader.wrong_type("modules_in_block_to_quantize", "a list of names", item);
    }
  };
  for (const json::Value& block : *blocks) {
    const json::Value::Array* names = block.as_array();
    if (names == nullptr) {
      add(block);
      continue;
    }
    for (const json::Value& name : *names)
      add(name);
  }
}

void read_gptq(Reading& reading) {
  const std::string format = reading.reader.string("checkpoint_format").value_or("gptq");
  if (format != "gptq" && format != "gptq_v2") {
    reading.unknown("gptq stored as " + format, "checkpoint_format");
  }
  const uint64_t group_size = read_group_size(reading);
  QuantScheme scheme = gptq(read_bits(reading, "bits"), group_size);
  scheme.is_act_ordered = reading.reader.boolean("desc_act").value_or(false);
  scheme.is_symmetric = reading.reader.boolean("sym").value_or(true);
  add_linear_rule(reading.config, scheme);
  reading.config.takes_head = reading.reader.boolean("lm_head").value_or(false);
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
  read_gptq_modules(reading);
  read_gptq_exceptions(reading, group_size);
}

void read_awq(Reading& reading) {
  const std::string version = reading.reader.string("version").value_or("gemm");
  if (version != "gemm" && version != "GEMM")
    reading.unknown("awq stored for " + version, "version");
  QuantScheme scheme;
  scheme.kind = Kind::awq;
  const bool is_old = reading.reader.has("w_bit");
  scheme.bits = read_bits(reading, is_old ? "w_bit" : "bits");
  scheme.group_size = read_group_size(reading, is_old ? "q_group_size" : "group_size");
  scheme.span = Span::group;
  scheme.has_zeros = true;
  add_linear_rule(reading.config, scheme);
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
}

/// Intel's AutoRound writes GPTQ's or AWQ's layout.
void read_auto_round(Reading& reading) {
  const std::string packing =
      reading.reader.string("packing_format").value_or("auto_round:auto_gptq");
  const bool is_awq = packing.find("awq") != std::string::npos;
  if (!is_awq && packing.find("gptq") == std::string::npos) {
    return reading.unknown("auto-round stored as " + packing, "packing_format");
  }
  QuantScheme scheme = gptq(read_bits(reading, "bits"), read_group_size(reading));
  scheme.is_symmetric = !is_awq && reading.reader.boolean("sym").value_or(true);
  if (is_awq) scheme.kind = Kind::awq;
  add_linear_rule(reading.config, scheme);
  const json::Value* layers = reading.reader.object("extra_config");
  if (layers == nullptr) return;
  for (const json::Member& member : *layers->as_object()) {
    const std::string path = json::pointer_to(reading.reader.path_to("extra_config"), member.key);
    json::ObjectReader inner(member.value, path, reading.reader.errors());
    Reading exception{inner, reading.config};
    const uint64_t bits = inner.u64("bits", {1, 32}).value_or(scheme.bits);
    if (bits >= 16) {
      reading.add_name(reading.config.ignored, member.key, Style::names, path);
      continue;
    }
    QuantRule rule;
    rule.scheme = scheme;
    rule.scheme.bits = bits;
    if (inner.raw("group_size") != nullptr) rule.scheme.group_size = read_group_size(exception);
    reading.add_name(rule.targets, member.key, Style::names, path);
    reading.config.rules.insert(reading.config.rules.begin(), std::move(rule));
  }
}

void read_bitsandbytes(Reading& reading) {
  const auto flag = [&reading](std::string_view key, std::string_view old_key) {
    const auto value = reading.reader.boolean(key);
    return value ? *value : reading.reader.boolean(old_key).value_or(false);
  };
  const bool is_4bit = flag("load_in_4bit", "_load_in_4bit");
  const bool is_8bit = flag("load_in_8bit", "_load_in_8bit");
  if (is_4bit == is_8bit)
    return reading.refuse("neither load_in_4bit nor load_in_8bit alone is set");
  QuantScheme scheme;
  scheme.kind = is_4bit ? Kind::bnb_4bit : Kind::bytes;
  scheme.bits = is_4bit ? 4 : 8;
  scheme.span = is_4bit ? Span::group : Span::channel;
  scheme.scale_bits = 32;
  scheme.has_double_scales = reading.reader.boolean("bnb_4bit_use_double_quant").value_or(false);
  add_linear_rule(reading.config, scheme);
  reading.config.takes_towers = true;
  reading.read_names(reading.config.ignored, "llm_int8_skip_modules");
}

/// Layers that Model Optimizer stores otherwise, in a checkpoint that is FP8 for the rest.
void read_fp8(Reading& reading, const json::Value& model) {
  const bool has_exceptions = read_quantized_layers(reading);
  const json::Value* expert_type = model.find("expert_dtype");
  const bool has_fp4_experts = expert_type != nullptr && expert_type->as_string() != nullptr &&
                               *expert_type->as_string() == "fp4";
  if (has_fp4_experts && !has_exceptions) {
    QuantRule rule;
    rule.only_experts = true;
    rule.scheme = microscaled(4);
    reading.config.rules.push_back(std::move(rule));
  }
  const bool is_static = reading.reader.string("activation_scheme").value_or("dynamic") == "static";
  const auto block = reading.reader.u64_list("weight_block_size", {1, uint64_t{1} << 20});
  if (block && block->size() != 2) return reading.refuse("weight_block_size must have two numbers");
  // Exponents alone are stored as bytes where the experts are 4-bit floats too (DeepSeek-V4).
  const uint64_t scale_bits = expert_type != nullptr ? 8 : 32;
  add_linear_rule(reading.config, block ? fp8_blocks(block->front(), block->back(), scale_bits)
                                        : fp8_per_tensor(is_static));
  reading.read_names(reading.config.ignored, "modules_to_not_convert", "ignored_layers");
}

void read_fbgemm_fp8(Reading& reading) {
  add_linear_rule(reading.config, fp8_per_channel(32));
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
}

void read_mxfp4(Reading& reading) {
  QuantRule rule;
  rule.only_experts = true;
  rule.scheme = microscaled(4);
  reading.config.rules.push_back(std::move(rule));
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
}

QuantScheme affine(uint64_t bits, uint64_t group_size) {
  QuantScheme scheme;
  scheme.kind = Kind::affine;
  scheme.bits = bits;
  scheme.group_size = group_size;
  scheme.span = Span::group;
  scheme.has_zeros = true;
  return scheme;
}

std::optional<QuantScheme> read_hqq_scheme(Reading& reading, const json::Value& object,
                                           const std::string& path) {
  json::ObjectReader holder(object, path, reading.reader.errors());
  const json::Value* weights = holder.object("weight_quant_params");
  if (weights == nullptr) return std::nullopt;
  json::ObjectReader inner(*weights, holder.path_to("weight_quant_params"),
                           reading.reader.errors());
  Reading nested{inner, reading.config};
  const uint64_t bits = read_bits(nested, "nbits");
  if (inner.boolean("quant_zero").value_or(false) || inner.boolean("quant_scale").value_or(false)) {
    nested.refuse("its scales or zeros are quantised themselves", "quant_zero");
  }
  // 3-bit codes are spread over 32-bit words, ten to a word; there is no layout for them here.
  if (bits == 3) nested.refuse("3-bit codes", "nbits");
  return affine(bits, read_group_size(nested));
}

void read_hqq(Reading& reading) {
  const json::Value* holder = reading.reader.object("quant_config");
  if (holder == nullptr) return reading.refuse("quant_config is missing", "quant_config");
  const std::string path = reading.reader.path_to("quant_config");
  if (const auto scheme = read_hqq_scheme(reading, *holder, path)) {
    add_linear_rule(reading.config, *scheme);
  } else {
    // One entry per kind of layer: "self_attn.q_proj".
    for (const json::Member& member : *holder->as_object()) {
      const std::string at = json::pointer_to(path, member.key);
      const auto layer_scheme = read_hqq_scheme(reading, member.value, at);
      if (!layer_scheme) continue;
      QuantRule rule;
      rule.scheme = *layer_scheme;
      reading.add_name(rule.targets, member.key, Style::names, at);
      reading.config.rules.push_back(std::move(rule));
    }
    if (reading.config.rules.empty())
      reading.refuse("quant_config names no layers", "quant_config");
  }
  reading.config.takes_routers = true;
  reading.config.takes_towers = true;
  if (!reading.read_names(reading.config.ignored, "skip_modules")) return;
}

struct TorchaoType {
  std::string_view name;
  std::string_view class_name;
  uint64_t bits;
};

constexpr TorchaoType kTorchaoTypes[] = {
    {"int4_weight_only", "Int4WeightOnlyConfig", 4},
    {"int8_weight_only", "Int8WeightOnlyConfig", 8},
    {"int8_dynamic_activation_int8_weight", "Int8DynamicActivationInt8WeightConfig", 8},
    {"float8_weight_only", "Float8WeightOnlyConfig", 8},
    {"float8_dynamic_activation_float8_weight", "Float8DynamicActivationFloat8WeightConfig", 8},
};

void add_torchao(Reading& reading, const std::string& type, uint64_t group_size) {
  for (const TorchaoType& known : kTorchaoTypes) {
    if (type != known.name && type != known.class_name) continue;
    const bool is_float = known.name.substr(0, 5) == "float";
    QuantScheme scheme = affine(4, group_size);
    if (known.bits == 8) scheme = fp8_per_channel(is_float ? 32 : 16);
    return add_linear_rule(reading.config, scheme);
  }
  reading.unknown("torchao " + type, "quant_type");
}

void read_torchao(Reading& reading) {
  // The library's own default.
  constexpr uint64_t kGroupSize = 128;
  reading.config.takes_routers = true;
  reading.config.takes_towers = true;
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
  if (reading.reader.boolean("include_input_output_embeddings").value_or(false)) {
    reading.config.takes_head = reading.config.takes_embeddings = true;
  }
  const json::Value* type = reading.reader.raw("quant_type");
  if (type != nullptr && type->as_string() != nullptr) {
    const json::Value* options = reading.reader.object("quant_type_kwargs");
    const json::Value* group = options == nullptr ? nullptr : options->find("group_size");
    return add_torchao(reading, *type->as_string(),
                       group == nullptr ? kGroupSize : group->as_u64().value_or(kGroupSize));
  }
  const json::Value* entry = type == nullptr ? nullptr : type->find("default");
  const json::Value* name = entry == nullptr ? nullptr : entry->find("_type");
  if (name == nullptr || name->as_string() == nullptr) {
    return reading.refuse("quant_type names no type", "quant_type");
  }
  const json::Value* data = entry->find("_data");
  const json::Value* group = data == nullptr ? nullptr : data->find("group_size");
  add_torchao(reading, *name->as_string(),
              group == nullptr ? kGroupSize : group->as_u64().value_or(kGroupSize));
}

std::optional<uint64_t> whole_bits(double bits) {
  if (!(bits >= 1 && bits <= 8)) return std::nullopt;
  const auto whole = static_cast<uint64_t>(bits);
  return static_cast<double>(whole) == bits ? std::optional<uint64_t>(whole) : std::nullopt;
}

void read_exl3(Reading& reading) {
  constexpr double kHeadBits = 6;
  const auto bits = whole_bits(reading.reader.real("bits").value_or(0));
  const auto head_bits = whole_bits(reading.reader.real("head_bits").value_or(kHeadBits));
  if (!bits || !head_bits) {
    return reading.refuse("a fractional average mixes layers of different widths", "bits");
  }
  QuantScheme scheme;
  scheme.kind = Kind::exl3;
  scheme.bits = *head_bits;
  QuantRule head;
  head.scheme = scheme;
  reading.add_name(head.targets, "lm_head", Style::names, reading.reader.path_to("head_bits"));
  reading.config.rules.push_back(std::move(head));
  scheme.bits = *bits;
  add_linear_rule(reading.config, scheme);
}

void read_exl2(Reading& reading) {
  reading.refuse("the widths of its groups are chosen per model to meet an average");
}

void read_bitnet(Reading& reading) {
  QuantScheme scheme;
  scheme.kind = Kind::bitnet;
  scheme.bits = 2;
  add_linear_rule(reading.config, scheme);
  reading.read_names(reading.config.ignored, "modules_to_not_convert");
}

/// MLX writes no method: bits and group_size for everything that has rows, exceptions by name.
void read_mlx(Reading& reading) {
  const std::string mode = reading.reader.string("mode").value_or("affine");
  if (mode != "affine") return reading.unknown("mlx " + mode, "mode");
  const QuantScheme scheme = affine(read_bits(reading, "bits"), read_group_size(reading));
  for (const std::string& key : reading.reader.unread_keys()) {
    const json::Value* value = reading.reader.raw(key);
    const std::string path = reading.reader.path_to(key);
    if (value->as_boolean() != nullptr && !*value->as_boolean()) {
      reading.add_name(reading.config.ignored, key, Style::names, path);
    }
    if (value->as_object() == nullptr) continue;
    json::ObjectReader inner(*value, path, reading.reader.errors());
    Reading nested{inner, reading.config};
    QuantRule rule;
    rule.scheme = affine(read_bits(nested, "bits"), read_group_size(nested));
    reading.add_name(rule.targets, key, Style::names, path);
    reading.config.rules.push_back(std::move(rule));
  }
  add_linear_rule(reading.config, scheme);
  reading.config.takes_head = reading.config.takes_embeddings = true;
  reading.config.takes_routers = reading.config.takes_towers = true;
}

struct Dialect {
  std::string_view method;
  void (*read)(Reading& reading);
};

constexpr Dialect kDialects[] = {
    {"gptq", read_gptq},
    {"gptq_marlin", read_gptq},
    {"awq", read_awq},
    {"awq_marlin", read_awq},
    {"auto-round", read_auto_round},
    {"intel/auto-round", read_auto_round},
    {"bitsandbytes", read_bitsandbytes},
    {"fbgemm_fp8", read_fbgemm_fp8},
    {"compressed-tensors", read_compressed_tensors},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"modelopt_mixed", read_modelopt},
    {"mxfp4", read_mxfp4},
    {"torchao", read_torchao},
    {"hqq", read_hqq},
    {"exl2", read_exl2},
    {"exl3", read_exl3},
    {"quark", read_quark},
    {"bitnet", read_bitnet},
    {"mlx", read_mlx},
};

/// The method, or what the keys give away where none is written.
std::string method_of(json::ObjectReader& reader) {
  if (const auto method = reader.string("quant_method")) return *method;
  if (reader.has("quant_algo") || reader.has("quantization")) return "modelopt";
  if (reader.has("config_groups")) return "compressed-tensors";
  if (reader.has("bits") && reader.has("group_size")) return "mlx";
  return std::string();
}

void read_dialect(Reading& reading, const json::Value& model) {
  const std::string& method = reading.config.method;
  if (method == "fp8") return read_fp8(reading, model);
  for (const Dialect& dialect : kDialects) {
    if (dialect.method == method) return dialect.read(reading);
  }
  reading.unknown(method.empty() ? "without a name" : method.substr(0, 80), "quant_method");
}

struct Holder {
  const json::Value* object = nullptr;
  std::string path;
};

/// Where a configuration holds its quantisation.
Holder holder_of(const json::Value& config) {
  constexpr std::array<std::string_view, 2> kKeys{"quantization_config", "compression_config"};
  for (const std::string_view key : kKeys) {
    const json::Value* found = config.find(key);
    if (found != nullptr && !found->is_null()) return {found, json::pointer_to("", key)};
  }
  const json::Value* text = config.find("text_config");
  if (text == nullptr || text->as_object() == nullptr) return {};
  for (const std::string_view key : kKeys) {
    const json::Value* found = text->find(key);
    if (found != nullptr && !found->is_null()) {
      return {found, json::pointer_to("/text_config", key)};
    }
  }
  return {};
}

/// The cache type that a configuration names a scheme for: Model Optimizer by name, also inside a
/// member of hf_quant_config.json; compressed-tensors by its widths, of which engines know 8 bits
/// (vllm/utils/torch_utils.py, get_kv_cache_quant_algo_string; attention/layer.py).
std::string cache_type_of(const json::Value& holder) {
  const json::Value* inner = holder.find("quantization");
  for (const json::Value* object : {&holder, inner}) {
    if (object == nullptr) continue;
    const json::Value* algorithm = object->find("kv_cache_quant_algo");
    const std::string* name = algorithm == nullptr ? nullptr : algorithm->as_string();
    if (name != nullptr && *name == "FP8") return "fp8";
    if (name != nullptr && *name == "NVFP4") return "nvfp4";
    const json::Value* scheme = object->find("kv_cache_scheme");
    if (scheme != nullptr && !scheme->is_null()) return "fp8";
  }
  return {};
}

}  // namespace

void Reading::refuse(std::string_view reason, std::string_view key) {
  Diagnostic diagnostic{ErrorCode::format_refused,
                        key.empty() ? reader.path() : reader.path_to(key),
                        {{"id", config.method}, {"reason", reason}}};
  reader.errors().push_back(std::move(diagnostic));
}

void Reading::unknown(std::string_view detail, std::string_view key) {
  Diagnostic diagnostic{ErrorCode::format_unknown_quantization,
                        key.empty() ? reader.path() : reader.path_to(key),
                        {{"method", detail}}};
  reader.errors().push_back(std::move(diagnostic));
}

void Reading::add_name(ModuleList& list, std::string_view text, ModuleList::Style style,
                       const std::string& path) {
  const auto refused = list.add(text, style);
  if (!refused) return;
  reader.errors().push_back({ErrorCode::format_unsupported_pattern,
                             path,
                             {{"pattern", text.substr(0, 200)}, {"construct", *refused}}});
}

bool Reading::read_names(ModuleList& list, std::string_view key, std::string_view other_key) {
  const std::string_view used = !reader.has(key) && reader.has(other_key) ? other_key : key;
  const auto names = reader.string_list(used);
  if (!names) return false;
  for (const std::string& name : *names)
    add_marked_name(*this, list, name, reader.path_to(used));
  return true;
}

void add_marked_name(Reading& reading, ModuleList& list, std::string_view text,
                     const std::string& path) {
  constexpr std::string_view kMark = "re:";
  const bool is_marked = text.substr(0, kMark.size()) == kMark;
  if (is_marked) text.remove_prefix(kMark.size());
  reading.add_name(list, text, is_marked ? Style::expression : Style::names, path);
}

QuantScheme fp8_per_tensor(bool has_input_scale) {
  QuantScheme scheme;
  scheme.scale_bits = 32;
  scheme.has_input_scale = has_input_scale;
  return scheme;
}

QuantScheme fp8_per_channel(uint64_t scale_bits) {
  QuantScheme scheme;
  scheme.span = Span::channel;
  scheme.scale_bits = scale_bits;
  return scheme;
}

QuantScheme fp8_blocks(uint64_t rows, uint64_t cols, uint64_t scale_bits) {
  QuantScheme scheme;
  scheme.span = Span::block;
  scheme.scale_bits = scale_bits;
  scheme.block_rows = rows;
  scheme.block_cols = cols;
  return scheme;
}

QuantScheme nvfp4(bool has_input_scale) {
  QuantScheme scheme;
  scheme.kind = Kind::nvfp4;
  scheme.bits = 4;
  scheme.group_size = 16;
  scheme.span = Span::group;
  scheme.scale_bits = 8;
  scheme.has_input_scale = has_input_scale;
  return scheme;
}

QuantScheme microscaled(uint64_t bits) {
  QuantScheme scheme;
  scheme.kind = Kind::microscaled;
  scheme.bits = bits;
  scheme.group_size = 32;
  scheme.span = Span::group;
  scheme.scale_bits = 8;
  return scheme;
}

void add_linear_rule(QuantizationConfig& config, const QuantScheme& scheme) {
  QuantRule rule;
  rule.takes_linear = true;
  rule.scheme = scheme;
  config.rules.push_back(std::move(rule));
}

}  // namespace quantization

Result<std::optional<QuantizationConfig>> read_quantization(const json::Value& config,
                                                            const json::Value* beside) {
  quantization::Holder holder = quantization::holder_of(config);
  if (holder.object == nullptr && beside != nullptr) holder = {beside, ""};
  if (holder.object == nullptr) return std::optional<QuantizationConfig>();
  Diagnostics errors;
  json::ObjectReader reader(*holder.object, holder.path, errors);
  QuantizationConfig result;
  result.method = quantization::method_of(reader);
  result.cache_type = quantization::cache_type_of(*holder.object);
  quantization::Reading reading{reader, result};
  if (errors.empty()) quantization::read_dialect(reading, config);
  if (!errors.empty()) return fail(std::move(errors));
  return std::optional<QuantizationConfig>(std::move(result));
}

}  // namespace vramgauge

// The dialects that name groups of modules: compressed-tensors, Model Optimizer, Quark.
#include <utility>

#include "import/quantization_config_dialects.h"

namespace vramgauge::quantization {
namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

constexpr json::Range kBits{1, 16};
constexpr json::Range kGroup{1, uint64_t{1} << 20};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// compressed-tensors

/// The arguments of a group's weights.
struct WeightArgs {
  std::string format;
  std::string type;
  std::string strategy;
  uint64_t bits = 0;
  uint64_t group_size = 0;
  bool is_symmetric = true;
  bool has_order = false;
  /// The activations have scales of their own, set ahead.
  bool has_input_scale = false;
  std::vector<uint64_t> block;
};

WeightArgs read_weight_args(json::ObjectReader& weights, std::string format) {
  WeightArgs args;
  args.format = std::move(format);
  args.type = weights.string("type").value_or("int");
  args.bits = weights.u64("num_bits", kBits).value_or(8);
  const json::Value* group = weights.raw("group_size");
  const json::Number* number = group == nullptr ? nullptr : group->as_number();
  const bool is_whole_row = number != nullptr && number->is_negative && number->magnitude == 1;
  if (!is_whole_row) args.group_size = weights.u64("group_size", kGroup).value_or(0);
  args.is_symmetric = weights.boolean("symmetric").value_or(true);
  const json::Value* order = weights.raw("actorder");
  args.has_order =
      order != nullptr && order->as_string() != nullptr && *order->as_string() == "group";
  args.block = weights.u64_list("block_structure", kGroup).value_or(std::vector<uint64_t>());
  // The library's own rule where the strategy is left out.
  const char* fallback = args.group_size > 0 ? "group" : is_whole_row ? "channel" : "tensor";
  args.strategy = weights.string("strategy").value_or(fallback);
  return args;
}

std::optional<Span> span_of(const WeightArgs& args) {
  if (args.strategy == "tensor") return Span::tensor;
  if (args.strategy == "channel") return Span::channel;
  if (args.strategy == "group" || args.strategy == "tensor_group") return Span::group;
  if (args.strategy == "block" && args.block.size() == 2) return Span::block;
  return std::nullopt;
}

/// Four-bit floats: NVIDIA's groups of 16 or the microscaling groups of 32.
std::optional<QuantScheme> float4_scheme(const WeightArgs& args) {
  if (args.group_size == 16) return nvfp4(args.has_input_scale);
  if (args.group_size == 32) return microscaled(4);
  return std::nullopt;
}

std::optional<QuantScheme> scheme_of(const WeightArgs& args) {
  const std::optional<Span> span = span_of(args);
  if (!span || (*span == Span::group && args.group_size == 0)) return std::nullopt;
  if (args.type == "float" && args.bits == 4) return float4_scheme(args);
  if (args.type == "float" && args.bits != 8) return std::nullopt;
  if (args.type != "float" && args.type != "int") return std::nullopt;
  if (args.type == "float" && contains(args.format, "mxfp8")) return microscaled(8);
  QuantScheme scheme;
  const bool is_packed = args.type == "int" && (args.bits < 8 || args.format == "pack-quantized");
  scheme.kind = is_packed ? Kind::packed_int : Kind::bytes;
  scheme.bits = args.bits;
  scheme.span = *span;
  scheme.group_size = *span == Span::group ? args.group_size : 0;
  scheme.has_zeros = !args.is_symmetric;
  scheme.has_group_index = args.has_order;
  scheme.is_act_ordered = args.has_order;
  scheme.has_input_scale = args.has_input_scale;
  if (*span == Span::block) {
    scheme.block_rows = args.block.front();
    scheme.block_cols = args.block.back();
  }
  return scheme;
}

bool is_known_format(std::string_view format) {
  constexpr std::string_view kFormats[] = {"",
                                           "dense",
                                           "pack-quantized",
                                           "int-quantized",
                                           "naive-quantized",
                                           "float-quantized",
                                           "mixed-precision",
                                           "nvfp4-pack-quantized",
                                           "mxfp4-pack-quantized",
                                           "mxfp8-quantized"};
  for (const std::string_view known : kFormats) {
    if (format == known) return true;
  }
  return false;
}

/// Activations that are not scaled as they come have a stored scale.
bool has_stored_input_scale(const json::Value* activations, bool is_nvfp4) {
  if (activations == nullptr || activations->as_object() == nullptr) return false;
  if (is_nvfp4) return true;
  const json::Value* dynamic = activations->find("dynamic");
  const bool* is_dynamic = dynamic == nullptr ? nullptr : dynamic->as_boolean();
  return dynamic == nullptr || (is_dynamic != nullptr && !*is_dynamic);
}

void read_group(Reading& reading, const json::Member& member, const std::string& format) {
  const std::string path = json::pointer_to(reading.reader.path_to("config_groups"), member.key);
  json::ObjectReader group(member.value, path, reading.reader.errors());
  const json::Value* weights = group.object("weights");
  if (weights == nullptr) return;
  Reading nested{group, reading.config};
  const std::string own_format = group.string("format").value_or(format);
  if (!is_known_format(own_format))
    return nested.unknown("compressed-tensors " + own_format, "format");
  json::ObjectReader inner(*weights, group.path_to("weights"), reading.reader.errors());
  WeightArgs args = read_weight_args(inner, own_format);
  args.has_input_scale = has_stored_input_scale(group.raw("input_activations"),
                                                args.type == "float" && args.bits == 4);
  const std::optional<QuantScheme> scheme = scheme_of(args);
  if (!scheme) {
    return nested.unknown("compressed-tensors " + args.type + std::to_string(args.bits) + " per " +
                              args.strategy.substr(0, 40),
                          "weights");
  }
  QuantRule rule;
  rule.scheme = *scheme;
  const auto targets = group.string_list("targets");
  for (const std::string& target : targets.value_or(std::vector<std::string>{"Linear"})) {
    if (target == "Linear") {
      rule.takes_linear = true;
    } else {
      add_marked_name(nested, rule.targets, target, group.path_to("targets"));
    }
  }
  reading.config.rules.push_back(std::move(rule));
}

// Model Optimizer

std::optional<QuantScheme> modelopt_scheme(std::string_view algorithm, uint64_t group_size) {
  if (algorithm == "FP8") return fp8_per_tensor(true);
  if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") return fp8_per_channel(32);
  if (algorithm == "FP8_PB_WO" || algorithm == "FP8_PB_REAL") return fp8_blocks(128, 128, 32);
  if (algorithm == "MXFP8") return microscaled(8);
  if (algorithm == "MXFP4" || algorithm == "W4A8_MXFP4_FP8") return microscaled(4);
  const bool is_nvfp4 = algorithm == "NVFP4" || algorithm == "W4A16_NVFP4";
  if (is_nvfp4 && (group_size == 16 || group_size == 0)) return nvfp4(algorithm == "NVFP4");
  if (algorithm == "W4A16_AWQ" && group_size != 0) {
    QuantScheme scheme;
    scheme.kind = Kind::modelopt_awq;
    scheme.bits = 4;
    scheme.span = Span::group;
    scheme.group_size = group_size;
    return scheme;
  }
  return std::nullopt;
}

/// The rule of `scheme`, made when it is the first of its kind.
QuantRule& rule_of(QuantizationConfig& config, const QuantScheme& scheme) {
  for (QuantRule& rule : config.rules) {
    if (rule.scheme == scheme) return rule;
  }
  config.rules.emplace_back();
  config.rules.back().scheme = scheme;
  return config.rules.back();
}

void read_modelopt_object(Reading& reading) {
  const std::string algorithm = reading.reader.string("quant_algo").value_or("");
  const bool is_mixed = algorithm == "MIXED_PRECISION";
  const bool has_layers = read_quantized_layers(reading);
  const std::string_view key = reading.reader.has("exclude_modules") ? "exclude_modules" : "ignore";
  const bool has_list = reading.read_names(reading.config.ignored, key);
  if (is_mixed || has_layers) {
    if (!has_layers && reading.reader.errors().empty()) {
      reading.refuse("it mixes formats and does not list its layers", "quant_algo");
    }
    return;
  }
  const uint64_t group_size = reading.reader.u64("group_size", kGroup).value_or(0);
  const auto scheme = modelopt_scheme(algorithm, group_size);
  if (!scheme) return reading.unknown("modelopt " + algorithm.substr(0, 40), "quant_algo");
  add_linear_rule(reading.config, *scheme);
  // Heads are left alone by name; without names nothing says that one is quantised.
  reading.config.takes_head = has_list;
  if (!has_list) {
    reading.config.warnings.push_back({ErrorCode::format_no_module_list,
                                       reading.reader.path(),
                                       {{"method", reading.config.method}}});
  }
}

// Quark

std::optional<QuantScheme> quark_scheme(json::ObjectReader& weight, bool has_input_scale) {
  const std::string type = weight.string("dtype").value_or("");
  const std::string span = weight.string("qscheme").value_or("");
  const uint64_t group_size = weight.u64("group_size", kGroup).value_or(0);
  const bool is_microscaled =
      group_size == 32 && weight.string("scale_format").value_or("") == "e8m0";
  if (type == "fp4" && span == "per_group" && is_microscaled) return microscaled(4);
  if (type == "fp8_e4m3" && span == "per_group" && is_microscaled) return microscaled(8);
  const bool is_byte = type == "fp8_e4m3" || type == "int8";
  if (is_byte && span == "per_tensor") return fp8_per_tensor(has_input_scale);
  if (is_byte && span == "per_channel") return fp8_per_channel(32);
  return std::nullopt;
}

/// The scheme of one quantisation entry; nothing when its weights stay as they are.
std::optional<QuantScheme> read_quark_entry(Reading& reading, const json::Value& entry,
                                            const std::string& path) {
  json::ObjectReader holder(entry, path, reading.reader.errors());
  if (!holder.has("weight")) return std::nullopt;
  const json::Value* weight = holder.object("weight");
  if (weight == nullptr) return std::nullopt;
  json::ObjectReader inner(*weight, holder.path_to("weight"), reading.reader.errors());
  const json::Value* inputs = holder.raw("input_tensors");
  const json::Value* dynamic = inputs == nullptr ? nullptr : inputs->find("is_dynamic");
  const bool is_static =
      dynamic != nullptr && dynamic->as_boolean() != nullptr && !*dynamic->as_boolean();
  const auto scheme = quark_scheme(inner, is_static);
  if (!scheme) {
    Reading nested{inner, reading.config};
    nested.unknown("quark " + inner.string("dtype").value_or("").substr(0, 40), "dtype");
  }
  return scheme;
}

}  // namespace

void read_compressed_tensors(Reading& reading) {
  const std::string format = reading.reader.string("format").value_or("");
  const json::Value* sparsity = reading.reader.raw("sparsity_config");
  const json::Value* sparse = sparsity == nullptr ? nullptr : sparsity->find("format");
  if (sparse != nullptr && sparse->as_string() != nullptr && *sparse->as_string() != "dense") {
    return reading.refuse("its weights are sparse", "sparsity_config");
  }
  const json::Value* groups = reading.reader.object("config_groups");
  if (groups == nullptr) return reading.refuse("it names no groups", "config_groups");
  for (const json::Member& member : *groups->as_object())
    read_group(reading, member, format);
  reading.config.takes_head = true;
  reading.read_names(reading.config.ignored, "ignore");
}

bool read_quantized_layers(Reading& reading) {
  const json::Value* layers = reading.reader.object("quantized_layers");
  if (layers == nullptr) return false;
  const std::string path = reading.reader.path_to("quantized_layers");
  for (const json::Member& member : *layers->as_object()) {
    const std::string at = json::pointer_to(path, member.key);
    json::ObjectReader inner(member.value, at, reading.reader.errors());
    const std::string algorithm = inner.string("quant_algo").value_or("");
    const auto scheme = modelopt_scheme(algorithm, inner.u64("group_size", kGroup).value_or(0));
    if (!scheme) {
      Reading nested{inner, reading.config};
      nested.unknown("modelopt " + algorithm.substr(0, 40), "quant_algo");
      return true;
    }
    reading.add_name(rule_of(reading.config, *scheme).targets, member.key, ModuleList::Style::names,
                     at);
  }
  return true;
}

void read_modelopt(Reading& reading) {
  // hf_quant_config.json keeps everything one level down.
  const json::Value* inner = reading.reader.object("quantization");
  if (inner == nullptr) return read_modelopt_object(reading);
  json::ObjectReader nested(*inner, reading.reader.path_to("quantization"),
                            reading.reader.errors());
  Reading nested_reading{nested, reading.config};
  read_modelopt_object(nested_reading);
}

void read_quark(Reading& reading) {
  const json::Value* layers = reading.reader.object("layer_quant_config");
  for (const json::Member& member :
       layers == nullptr ? json::Value::Object() : *layers->as_object()) {
    const std::string path =
        json::pointer_to(reading.reader.path_to("layer_quant_config"), member.key);
    const auto scheme = read_quark_entry(reading, member.value, path);
    if (scheme) {
      add_marked_name(reading, rule_of(reading.config, *scheme).targets, member.key, path);
    } else {
      add_marked_name(reading, reading.config.ignored, member.key, path);
    }
  }
  const json::Value* types = reading.reader.raw("layer_type_quant_config");
  if (types != nullptr && types->as_object() != nullptr && !types->as_object()->empty()) {
    return reading.refuse("it names classes of layers", "layer_type_quant_config");
  }
  const json::Value* global = reading.reader.object("global_quant_config");
  if (global == nullptr)
    return reading.refuse("global_quant_config is missing", "global_quant_config");
  const auto scheme =
      read_quark_entry(reading, *global, reading.reader.path_to("global_quant_config"));
  if (scheme) add_linear_rule(reading.config, *scheme);
  reading.config.takes_head = true;
  reading.read_names(reading.config.ignored, "exclude");
}

}  // namespace vramgauge::quantization

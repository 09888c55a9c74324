#include "engine/vllm_weights_on_load.h"

namespace vramgauge {
namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

/// One name of the flag.
struct OnLoad {
  std::string_view name;
  Kind kind;
  uint64_t bits;
  Span span;
  /// Inputs (and outputs of a tile) that share a scale.
  uint64_t extent;
  uint64_t scale_bits;
  bool only_experts;
  /// Vision and audio towers are built of the same layers.
  bool takes_towers;
};

constexpr OnLoad kMethods[] = {
    {"fp8", Kind::bytes, 8, Span::tensor, 0, 32, false, true},
    {"fp8_per_tensor", Kind::bytes, 8, Span::tensor, 0, 32, false, true},
    {"fp8_per_channel", Kind::bytes, 8, Span::channel, 0, 32, false, true},
    {"fp8_per_block", Kind::bytes, 8, Span::block, 128, 32, false, true},
    {"mxfp8", Kind::microscaled, 8, Span::group, 32, 8, false, true},
    {"experts_int8", Kind::bytes, 8, Span::channel, 0, 32, true, false},
    {"int8_per_channel_weight_only", Kind::bytes, 8, Span::channel, 0, 32, true, false},
    {"bitsandbytes", Kind::bnb_4bit, 4, Span::group, 0, 32, false, true},
};

QuantRule rule_of(const OnLoad& method) {
  QuantRule rule;
  rule.takes_linear = !method.only_experts;
  rule.only_experts = method.only_experts;
  rule.scheme.kind = method.kind;
  rule.scheme.bits = method.bits;
  rule.scheme.span = method.span;
  rule.scheme.scale_bits = method.scale_bits;
  if (method.span == Span::group) rule.scheme.group_size = method.extent;
  if (method.span == Span::block) rule.scheme.block_rows = rule.scheme.block_cols = method.extent;
  return rule;
}

}  // namespace

Result<QuantizationConfig> vllm_quantization_on_load(std::string_view name, std::string path) {
  for (const OnLoad& method : kMethods) {
    if (method.name != name) continue;
    QuantizationConfig config;
    config.method = std::string(name);
    config.rules.push_back(rule_of(method));
    config.takes_towers = method.takes_towers;
    return config;
  }
  return fail(ErrorCode::format_unknown_quantization, std::move(path),
              {{"method", std::string(name.substr(0, 40)) + " while loading"}});
}

}  // namespace vramgauge

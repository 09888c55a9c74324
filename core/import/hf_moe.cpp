// Feed-forward blocks: dense, experts, and which layer has which.
#include <algorithm>
#include <cstdlib>

#include "import/hf_families.h"
#include "units/index.h"

namespace vramgauge::hf {
namespace {

/// "3,4,5" as numbers.
std::optional<std::vector<uint64_t>> parse_enumeration(const std::string& text) {
  std::vector<uint64_t> items;
  uint64_t value = 0;
  bool has_digit = false;
  for (const char letter : text + ",") {
    if (letter >= '0' && letter <= '9' && value < kLayerRange.max) {
      value = value * 10 + static_cast<uint64_t>(letter - '0');
      has_digit = true;
    } else if (letter == ',' && has_digit) {
      items.push_back(value);
      value = 0;
      has_digit = false;
    } else if (letter != ' ') {
      return std::nullopt;
    }
  }
  return items;
}

std::vector<bool> mask_of(const std::vector<uint64_t>& layers, uint64_t num_layers) {
  std::vector<bool> mask(static_cast<size_t>(num_layers), false);
  for (const uint64_t layer : layers) {
    if (layer < num_layers) mask[index_of(layer)] = true;
  }
  return mask;
}

/// A list that names or marks the layers one by one, when there is one.
std::optional<std::vector<bool>> read_explicit_mask(ConfigView& view, uint64_t num_layers) {
  if (const auto types = view.strings("mlp_layer_types")) {
    if (types->size() != num_layers) {
      view.bad_pattern("mlp_layer_types", num_layers,
                       "it has " + std::to_string(types->size()) + " items");
      return std::nullopt;
    }
    std::vector<bool> mask;
    for (const std::string& type : *types)
      mask.push_back(type == "sparse" || type == "moe");
    return mask;
  }
  if (const json::Value* text = view.raw("moe_layers_enum");
      text != nullptr && text->as_string() != nullptr) {
    if (const auto layers = parse_enumeration(*text->as_string()))
      return mask_of(*layers, num_layers);
    view.bad_pattern("moe_layers_enum", num_layers, "it is not a list of numbers");
    return std::nullopt;
  }
  if (const json::Value* value = view.raw("moe_layers");
      value != nullptr && value->as_array() != nullptr) {
    if (const auto layers = view.list("moe_layers")) return mask_of(*layers, num_layers);
  }
  const json::Value* frequency = view.raw("moe_layer_freq");
  if (frequency != nullptr && frequency->as_array() != nullptr) {
    const auto marks = view.per_layer("moe_layer_freq", num_layers, {0, 1});
    if (!marks) return std::nullopt;
    return std::vector<bool>(marks->begin(), marks->end());
  }
  return std::nullopt;
}

}  // namespace

std::vector<bool> read_moe_mask(ConfigView& view, uint64_t num_layers, uint64_t first_dense) {
  if (auto mask = read_explicit_mask(view, num_layers)) {
    for (std::string_view key :
         {"first_k_dense_replace", "moe_layer_freq", "decoder_sparse_step", "mlp_only_layers"})
      view.ignore(key);
    return *mask;
  }
  const auto first_given = view.u64("first_k_dense_replace");
  const uint64_t first = first_given.value_or(first_dense);
  if (!first_given && first_dense != 0)
    view.assume("first_k_dense_replace", std::to_string(first_dense));
  const bool has_end =
      view.given("moe_layer_end_index") && view.raw("moe_layer_end_index")->as_u64().has_value();
  const uint64_t last = has_end ? view.u64_or("moe_layer_end_index", num_layers) : num_layers;
  view.ignore("moe_layer_end_index");
  const uint64_t every = view.u64_or("moe_layer_freq", 1, kLayerRange);
  uint64_t step = view.u64_or("decoder_sparse_step", 1, kLayerRange);
  step = std::max(step, view.u64_or("moe_layer_interval", 1, kLayerRange));
  step = std::max(step, view.u64_or("interleave_moe_layer_step", 1, kLayerRange));
  const auto dense_layers = view.list("mlp_only_layers").value_or(std::vector<uint64_t>());
  std::vector<bool> mask;
  for (uint64_t layer = 0; layer < num_layers; ++layer) {
    const bool is_listed =
        std::find(dense_layers.begin(), dense_layers.end(), layer) != dense_layers.end();
    mask.push_back(layer >= first && layer <= last && layer % every == 0 &&
                   (layer + 1) % step == 0 && !is_listed);
  }
  return mask;
}

DenseFfn read_dense_ffn(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  DenseFfn ffn;
  if (traits.ffn_ratio != 0) {
    ffn.intermediate_size =
        view.u64_or("intermediate_size", traits.ffn_ratio * import.spec.hidden_size, kDimRange);
  } else {
    ffn.intermediate_size = view.require("intermediate_size");
  }
  ffn.is_gated = traits.is_gated;
  ffn.bias = read_flag(view, traits.mlp_bias);
  ffn.fused_gate_up = traits.fused_gate_up;
  return ffn;
}

MoeFfn read_moe_ffn(ConfigView& view, const Traits& traits) {
  MoeFfn moe;
  moe.num_experts = view.require("num_experts", kExpertRange);
  moe.num_experts_per_tok = view.require("num_experts_per_tok", kExpertRange);
  if (moe.num_experts_per_tok > moe.num_experts) {
    view.error(ErrorCode::value_out_of_range, "num_experts_per_tok",
               {{"key", "num_experts_per_tok"},
                {"value", moe.num_experts_per_tok},
                {"min", uint64_t{1}},
                {"max", moe.num_experts}});
  }
  const bool has_own_width = view.u64("moe_intermediate_size", kDimRange).has_value();
  moe.moe_intermediate_size =
      view.require(has_own_width ? "moe_intermediate_size" : "intermediate_size");
  const uint64_t num_shared = view.u64_or("n_shared_experts", 0, {0, kExpertRange.max});
  const auto shared = view.u64("shared_expert_intermediate_size");
  moe.shared_intermediate_size = shared.value_or(num_shared * moe.moe_intermediate_size);
  moe.is_gated = traits.moe.is_gated;
  moe.bias = traits.moe.expert_bias;
  moe.router_bias = read_flag(view, traits.moe.router_bias);
  moe.has_correction_bias = read_flag(view, traits.moe.correction_bias);
  moe.has_shared_gate = traits.moe.shared_gate && moe.shared_intermediate_size != 0;
  return moe;
}

std::vector<Ffn> read_ffns(Import& import, const Traits& traits, uint64_t num_layers) {
  ConfigView& view = import.text();
  const bool is_given = view.given("num_experts") && view.u64_or("num_experts", 0) > 1;
  const bool has_experts = read_flag(view, traits.moe_if) && (traits.is_moe || is_given);
  if (!has_experts) {
    for (std::string_view key : {"num_experts", "num_experts_per_tok"})
      view.ignore(key);
    return std::vector<Ffn>(static_cast<size_t>(num_layers), read_dense_ffn(import, traits));
  }
  const std::vector<bool> mask = read_moe_mask(view, num_layers, traits.first_dense);
  const MoeFfn moe = read_moe_ffn(view, traits);
  const bool needs_dense = std::find(mask.begin(), mask.end(), false) != mask.end();
  const DenseFfn dense = needs_dense ? read_dense_ffn(import, traits) : DenseFfn{};
  if (!needs_dense) view.ignore("intermediate_size");
  std::vector<Ffn> ffns;
  for (const bool is_moe : mask)
    ffns.push_back(is_moe ? Ffn(moe) : Ffn(dense));
  return ffns;
}

}  // namespace vramgauge::hf

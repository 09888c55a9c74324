// Hybrids of Mamba layers and attention layers: Jamba, Bamba, Falcon-H1, Granite 4.
#include "import/hf_hybrid.h"

namespace vramgauge::hf {
namespace {

Mamba1 read_jamba_mamba(ConfigView& view, uint64_t hidden) {
  Mamba1 mamba;
  mamba.d_inner = read_expanded(view, "mamba_expand", hidden);
  mamba.d_state = view.require("mamba_d_state");
  mamba.d_conv = view.require("mamba_d_conv");
  mamba.dt_rank = read_dt_rank(view, "mamba_dt_rank", hidden);
  mamba.conv_bias = view.flag("mamba_conv_bias", true);
  mamba.proj_bias = view.flag("mamba_proj_bias", false);
  mamba.has_inner_norms = true;
  return mamba;
}

/// Every period-th layer, starting at the offset.
struct Cycle {
  uint64_t period = 1;
  uint64_t offset = 0;
  bool has(uint64_t layer) const { return layer % period == offset; }
};

Cycle read_cycle(ConfigView& view, std::string_view period, std::string_view offset) {
  return {view.require(period, kLayerRange), view.require(offset, {0, kLayerRange.max})};
}

DenseFfn gated_ffn(uint64_t intermediate_size, bool bias, bool fused) {
  return DenseFfn{intermediate_size, true, bias, fused};
}

}  // namespace

void build_jamba(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention attention = read_attention(import, traits);
  const Mamba1 mamba = read_jamba_mamba(view, import.spec.hidden_size);
  const Cycle attention_layers = read_cycle(view, "attn_layer_period", "attn_layer_offset");
  const Cycle expert_layers = read_cycle(view, "expert_layer_period", "expert_layer_offset");
  const DenseFfn dense = gated_ffn(view.require("intermediate_size"), false, false);
  const bool has_experts = view.require("num_experts", kExpertRange) > 1;
  const MoeFfn moe = has_experts ? read_moe_ffn(view, traits) : MoeFfn{};
  view.ignore("num_experts_per_tok");
  ignore_recurrent_keys(view);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {attention_layers.has(i) ? Mixer(attention) : Mixer(mamba)};
    layer.ffn = has_experts && expert_layers.has(i) ? Ffn(moe) : Ffn(dense);
  }
}

void build_bamba(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention attention = read_attention(import, traits);
  const Mamba2 mamba = read_mamba2(view, kMambaPrefixedKeys,
                                   read_expanded(view, "mamba_expand", import.spec.hidden_size));
  const auto attention_layers = view.list("attn_layer_indices").value_or(std::vector<uint64_t>());
  const DenseFfn ffn =
      gated_ffn(view.require("intermediate_size"), view.flag("mlp_bias", false), false);
  ignore_recurrent_keys(view);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {contains(attention_layers, i) ? Mixer(attention) : Mixer(mamba)};
    layer.ffn = ffn;
  }
}

void build_falcon_h1(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention attention = read_attention(import, traits);
  const auto d_ssm = view.u64("mamba_d_ssm", kDimRange);
  const uint64_t d_inner =
      d_ssm ? *d_ssm : read_expanded(view, "mamba_expand", import.spec.hidden_size);
  Mamba2 mamba = read_mamba2(view, kMambaPrefixedKeys, d_inner);
  mamba.proj_bias = mamba.proj_bias || view.flag("projectors_bias", false);
  mamba.has_gated_norm = view.flag("mamba_rms_norm", false);
  const DenseFfn ffn =
      gated_ffn(view.require("intermediate_size"), view.flag("mlp_bias", false), false);
  ignore_recurrent_keys(view);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (Layer& layer : import.spec.layers) {
    layer.mixers = {attention, mamba};
    layer.ffn = ffn;
  }
}

namespace {

/// Experts with a shared one, or the shared feed-forward alone.
Ffn read_granite_ffn(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_experts = view.u64_or("num_experts", 0, {0, kExpertRange.max});
  if (num_experts != 0) return read_moe_ffn(view, traits);
  view.ignore("num_experts_per_tok");
  return gated_ffn(view.require("shared_expert_intermediate_size"), false, traits.fused_gate_up);
}

}  // namespace

void build_granite_hybrid(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention attention = read_attention(import, traits);
  const auto types =
      read_layer_types(view, num_layers)
          .value_or(std::vector<std::string>(static_cast<size_t>(num_layers), "mamba"));
  const Ffn ffn = read_granite_ffn(import, traits);
  std::optional<Mamba2> mamba;
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size() && !import.failed(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.ffn = ffn;
    if (types[i] == "attention") {
      layer.mixers = {attention};
    } else if (types[i] == "mamba") {
      if (!mamba) {
        mamba = read_mamba2(view, kMambaPrefixedKeys,
                            read_expanded(view, "mamba_expand", import.spec.hidden_size));
      }
      layer.mixers = {*mamba};
    } else {
      view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", types[i]}});
    }
  }
  ignore_recurrent_keys(view);
}

}  // namespace vramgauge::hf

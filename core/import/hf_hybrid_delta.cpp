// Hybrids of gated delta nets and attention: Qwen3-Next and Qwen3.5, Kimi Linear and Kimi K3.
#include "import/hf_hybrid.h"

namespace vramgauge::hf {
namespace {

/// True for each layer of softmax attention.
std::vector<bool> read_full_attention(ConfigView& view, uint64_t num_layers) {
  std::vector<bool> is_full;
  if (const auto types = read_layer_types(view, num_layers)) {
    view.ignore("full_attention_interval");
    for (const std::string& type : *types) {
      if (type != "full_attention" && type != "linear_attention") {
        view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", type}});
      }
      is_full.push_back(type == "full_attention");
    }
    return is_full;
  }
  constexpr uint64_t kInterval = 4;
  if (!view.given("full_attention_interval"))
    view.assume("full_attention_interval", std::to_string(kInterval));
  const uint64_t interval = view.u64_or("full_attention_interval", kInterval, kLayerRange);
  for (uint64_t layer = 1; layer <= num_layers; ++layer)
    is_full.push_back(layer % interval == 0);
  return is_full;
}

GatedDelta read_gated_delta(ConfigView& view) {
  GatedDelta delta;
  delta.num_k_heads = view.require("linear_num_key_heads", kHeadRange);
  delta.num_v_heads = view.require("linear_num_value_heads", kHeadRange);
  delta.k_head_dim = view.require("linear_key_head_dim");
  delta.v_head_dim = view.require("linear_value_head_dim");
  delta.d_conv = view.require("linear_conv_kernel_dim");
  delta.fused_projections = view.model_type() == "qwen3_next";
  return delta;
}

/// Released Qwen3-Next checkpoints hold one such layer although their configuration has no key for
/// it.
uint64_t read_num_mtp(ConfigView& view) {
  constexpr json::Range kRange{0, kLayerRange.max};
  if (view.given("mtp_num_hidden_layers")) return view.u64_or("mtp_num_hidden_layers", 0, kRange);
  if (view.given("num_nextn_predict_layers"))
    return view.u64_or("num_nextn_predict_layers", 0, kRange);
  if (view.model_type() != "qwen3_next") return 0;
  view.assume("num_nextn_predict_layers", "1");
  return 1;
}

void add_qwen_mtp(Import& import, Layer layer) {
  ConfigView& view = import.text();
  const uint64_t num_mtp = read_num_mtp(view);
  if (num_mtp == 0) return;
  if (view.flag("mtp_use_dedicated_embeddings", false)) {
    layer.extras.push_back(
        {"embed_tokens", TensorRole::mtp, import.spec.vocab_size, import.spec.hidden_size, true});
  }
  add_mtp_module(import.spec, std::vector<Layer>(static_cast<size_t>(num_mtp), layer));
}

}  // namespace

void build_qwen_hybrid(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  Attention attention = read_attention(import, traits);
  attention.output_gate = view.flag("attn_output_gate", true);
  const GatedDelta delta = read_gated_delta(view);
  const std::vector<Ffn> ffns = read_ffns(import, traits, num_layers);
  const std::vector<bool> is_full = read_full_attention(view, num_layers);
  view.ignore("output_gate_type");
  ignore_recurrent_keys(view);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {is_full[i] ? Mixer(attention) : Mixer(delta)};
    layer.ffn = ffns[i];
  }
  Layer mtp = import.spec.layers.back();
  mtp.mixers = {attention};
  add_qwen_mtp(import, std::move(mtp));
}

namespace {

/// linear_attn_config: which layers (counted from 1) are Kimi delta attention, and its shape.
struct KimiDelta {
  GatedDelta delta;
  std::vector<uint64_t> layers;
  std::vector<uint64_t> full_layers;
};

std::optional<KimiDelta> read_kimi_delta(Import& import) {
  ConfigView& view = import.text();
  const json::Value* object = view.reader().object("linear_attn_config");
  if (object == nullptr) {
    if (!import.failed()) {
      view.error(ErrorCode::json_missing_key, "linear_attn_config",
                 {{"key", "linear_attn_config"}});
    }
    return std::nullopt;
  }
  ConfigView inner(*object, view.path_to("linear_attn_config"), import.errors, import.notes);
  KimiDelta kimi;
  kimi.delta.num_k_heads = kimi.delta.num_v_heads = inner.require("num_heads", kHeadRange);
  kimi.delta.k_head_dim = kimi.delta.v_head_dim = inner.require("head_dim");
  kimi.delta.d_conv = inner.require("short_conv_kernel_size");
  kimi.delta.is_channel_wise = true;
  kimi.delta.has_full_rank_gate = inner.flag("use_full_rank_gate", false);
  kimi.layers = inner.list("kda_layers", kLayerRange).value_or(std::vector<uint64_t>());
  kimi.full_layers = inner.list("full_attn_layers", kLayerRange).value_or(std::vector<uint64_t>());
  return kimi;
}

/// Latent experts (Kimi K3): projections around the routed experts, and a norm behind them.
void add_latent_projections(Import& import, Layer& layer, uint64_t latent) {
  if (latent == 0) return;
  const uint64_t hidden = import.spec.hidden_size;
  layer.extras.push_back({"mlp.routed_expert_down_proj", TensorRole::other, latent, hidden, true});
  layer.extras.push_back({"mlp.routed_expert_up_proj", TensorRole::other, hidden, latent, true});
  if (import.text().flag("latent_moe_use_norm", false)) {
    layer.extras.push_back({"mlp.routed_expert_norm", TensorRole::norm, 1, latent, false});
  }
}

/// Attention residuals (Kimi K3): a query and a norm that weigh the outputs of earlier blocks.
void add_residual_attention(std::vector<ExtraTensor>& extras, const std::string& name,
                            uint64_t hidden) {
  extras.push_back({name + "_res_proj", TensorRole::attention_other, 1, hidden, false});
  extras.push_back({name + "_res_norm", TensorRole::norm, 1, hidden, false});
}

void add_attention_residuals(Import& import) {
  const uint64_t hidden = import.spec.hidden_size;
  if (import.text().u64_or("attn_res_block_size", 0) == 0) return;
  for (Layer& layer : import.spec.layers) {
    add_residual_attention(layer.extras, "self_attention", hidden);
    add_residual_attention(layer.extras, "mlp", hidden);
  }
  add_residual_attention(import.spec.extras, "model.output_attn", hidden);
}

void check_kimi_layers(Import& import, const KimiDelta& kimi, uint64_t num_layers) {
  for (uint64_t layer = 1; layer <= num_layers; ++layer) {
    if (contains(kimi.layers, layer) != contains(kimi.full_layers, layer)) continue;
    import.text().bad_pattern(
        "linear_attn_config", num_layers,
        "layer " + std::to_string(layer) + " must be in one of its two lists");
    return;
  }
}

}  // namespace

void build_kimi_linear(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  LatentAttention latent = read_latent_attention(view);
  latent.output_gate = view.flag("mla_use_output_gate", false);
  const std::optional<KimiDelta> kimi = read_kimi_delta(import);
  std::vector<Ffn> ffns = read_ffns(import, traits, num_layers);
  const uint64_t expert_hidden = view.u64_or("routed_expert_hidden_size", 0);
  for (const std::string_view key :
       {"mla_use_nope", "moe_router_activation_func", "moe_renormalize", "use_grouped_topk"}) {
    view.ignore(key);
  }
  if (kimi) check_kimi_layers(import, *kimi, num_layers);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {contains(kimi->layers, i + 1) ? Mixer(kimi->delta) : Mixer(latent)};
    layer.ffn = ffns[i];
    if (auto* moe = std::get_if<MoeFfn>(&layer.ffn)) {
      moe->expert_hidden_size = expert_hidden;
      add_latent_projections(import, layer, expert_hidden);
    }
  }
  add_attention_residuals(import);
  add_mtp_layers(import, traits);
}

}  // namespace vramgauge::hf

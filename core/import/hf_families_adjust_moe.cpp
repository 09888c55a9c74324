#include "import/hf_families_adjust_moe.h"

#include "import/hf_families_adjust.h"

namespace vramgauge::hf {
namespace {

/// A list that repeats one number for every layer, or the number itself.
std::optional<uint64_t> uniform(ConfigView& view, std::string_view key, uint64_t num_layers) {
  const auto items = view.per_layer(key, num_layers);
  if (!items || items->empty()) return std::nullopt;
  for (const uint64_t item : *items) {
    if (item == items->front()) continue;
    view.bad_pattern(key, num_layers, "the layers differ");
    return std::nullopt;
  }
  return items->front();
}

}  // namespace

void adjust_bailing(Import& import) {
  for (std::string_view key :
       {"norm_head", "embedding_dropout", "output_dropout", "norm_softmax", "multi_gate"}) {
    import.text().ignore(key);
  }
}

void adjust_minimax_m2(Import& import) {
  ConfigView& view = import.text();
  const auto kinds = view.per_layer("attn_type_list", import.spec.layers.size(), {0, 1});
  for (size_t i = 0; kinds && i < kinds->size(); ++i) {
    if ((*kinds)[i] == 1) continue;
    view.error(ErrorCode::model_unknown_layer_type, "attn_type_list", {{"layer_type", "0"}});
    return;
  }
  // The checkpoints hold no draft modules and no dense block, whatever these keys say.
  for (std::string_view key : {"use_mtp", "mtp_transformer_layers", "num_mtp_modules",
                               "mlp_intermediate_size", "shared_moe_mode"})
    view.ignore(key);
  const std::string kind = view.string("qk_norm_type").value_or("per_layer");
  if (kind != "per_head") return;
  for_each_attention(import.spec, [](Attention& a) {
    if (a.qk_norm != QkNorm::none) a.qk_norm = QkNorm::per_head_dim;
  });
}

void adjust_afmoe(Import& import) { import.text().ignore("global_attn_every_n_layers"); }

void build_ernie_vl(Import& import, const Traits&) {
  import.text().error(ErrorCode::model_unsupported, "moe_intermediate_size",
                      {{"what", "The model type ernie4_5_vl_moe"},
                       { "reason",
                         std::string("its text and vision experts differ in width") }});
}

void build_hunyuan_moe(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = view.require("num_hidden_layers", kLayerRange);
  const auto width = uniform(view, "moe_intermediate_size", num_layers);
  const auto active = uniform(view, "num_experts_per_tok", num_layers);
  const uint64_t shared = uniform(view, "n_shared_experts", num_layers).value_or(0);
  const uint64_t layers = read_model_dims(import, traits);
  if (import.failed()) return;
  MoeFfn moe;
  moe.num_experts = view.require("num_experts", kExpertRange);
  moe.num_experts_per_tok = active.value_or(1);
  moe.moe_intermediate_size = width ? *width : view.require("intermediate_size");
  moe.shared_intermediate_size = shared * moe.moe_intermediate_size;
  view.ignore("intermediate_size");
  const Attention attention = read_attention(import, traits);
  import.spec.layers = make_layers(import, traits, layers);
  for (Layer& layer : import.spec.layers) {
    layer.mixers = {attention};
    layer.ffn = moe;
  }
}

void build_grok2(Import& import, const Traits& traits) {
  build_decoder(import, traits);
  if (!import.text().flag("residual_moe", true)) return;
  // A dense block of the full width runs beside the experts.
  const uint64_t width = import.text().require("intermediate_size");
  for_each_moe(import.spec, [&](MoeFfn& moe) { moe.shared_intermediate_size = width; });
}

void build_dbrx(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  Attention attention = read_attention(import, traits);
  const json::Value* attn = view.raw("attn_config");
  const json::Value* ffn = view.raw("ffn_config");
  if (attn == nullptr || ffn == nullptr) {
    view.error(ErrorCode::model_missing_dimension, attn == nullptr ? "attn_config" : "ffn_config",
               {{"key", std::string(attn == nullptr ? "attn_config" : "ffn_config")},
                {"model_type", view.model_type()}});
    return;
  }
  ConfigView attn_view(*attn, view.path_to("attn_config"), import.errors, import.notes);
  ConfigView ffn_view(*ffn, view.path_to("ffn_config"), import.errors, import.notes);
  attention.num_kv_heads = attn_view.u64_or("num_key_value_heads", attention.num_heads, kHeadRange);
  MoeFfn moe;
  moe.num_experts = ffn_view.require("num_experts", kExpertRange);
  moe.num_experts_per_tok = ffn_view.require("num_experts_per_tok", kExpertRange);
  moe.moe_intermediate_size = ffn_view.require("intermediate_size");
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (Layer& layer : import.spec.layers) {
    layer.mixers = {attention};
    layer.ffn = moe;
  }
}

}  // namespace vramgauge::hf

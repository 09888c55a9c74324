// Hybrids of attention with lightning attention (MiniMax) or short convolutions (LFM2, Inkling).
#include <cmath>

#include "import/hf_hybrid.h"

namespace vramgauge::hf {
namespace {

/// attn_type_list (1 = softmax) or layer_types.
std::vector<bool> read_softmax_layers(ConfigView& view, uint64_t num_layers) {
  std::vector<bool> is_softmax;
  if (const auto list = view.per_layer("attn_type_list", num_layers, {0, 1})) {
    for (const uint64_t item : *list)
      is_softmax.push_back(item == 1);
    return is_softmax;
  }
  const auto types = read_layer_types(view, num_layers);
  if (!types && view.reader().errors().empty()) {
    view.error(ErrorCode::json_missing_key, "attn_type_list", {{"key", "attn_type_list"}});
  }
  for (const std::string& type : types.value_or(std::vector<std::string>())) {
    if (type != "full_attention" && type != "linear_attention") {
      view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", type}});
    }
    is_softmax.push_back(type == "full_attention");
  }
  return is_softmax;
}

}  // namespace

void build_minimax(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention attention = read_attention(import, traits);
  const LinearAttention linear{attention.num_heads, attention.head_dim};
  const std::vector<Ffn> ffns = read_ffns(import, traits, num_layers);
  const std::vector<bool> is_softmax = read_softmax_layers(view, num_layers);
  for (const std::string_view key :
       {"postnorm", "shared_moe_mode", "layernorm_full_attention_alpha"})
    view.ignore(key);
  ignore_recurrent_keys(view);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    import.spec.layers[i].mixers = {is_softmax[i] ? Mixer(attention) : Mixer(linear)};
    import.spec.layers[i].ffn = ffns[i];
  }
}

namespace {

/// Width of the dense block: two thirds, scaled and rounded up to a multiple, when asked for.
uint64_t read_lfm2_intermediate(ConfigView& view) {
  const bool has_block_key = view.given("block_ff_dim");
  const uint64_t width = view.require(has_block_key ? "block_ff_dim" : "intermediate_size");
  const double multiplier = view.real("block_ffn_dim_multiplier").value_or(1.0);
  const uint64_t multiple = view.u64_or("block_multiple_of", 256, kDimRange);
  view.ignore("intermediate_size");
  if (!view.flag("block_auto_adjust_ff_dim", true)) return width;
  constexpr double kMaxMultiplier = 64;
  if (!(multiplier > 0 && multiplier <= kMaxMultiplier)) {
    view.error(ErrorCode::json_not_finite, "block_ffn_dim_multiplier",
               {{"key", "block_ffn_dim_multiplier"}});
    return width;
  }
  const uint64_t two_thirds = 2 * width / 3;
  const auto scaled =
      static_cast<uint64_t>(std::floor(multiplier * static_cast<double>(two_thirds)));
  return (scaled + multiple - 1) / multiple * multiple;
}

std::vector<bool> read_lfm2_attention(ConfigView& view, uint64_t num_layers) {
  std::vector<bool> is_attention(static_cast<size_t>(num_layers), false);
  if (const auto types = read_layer_types(view, num_layers)) {
    for (size_t i = 0; i < types->size(); ++i) {
      const std::string& type = (*types)[i];
      if (type != "full_attention" && type != "conv") {
        view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", type}});
      }
      is_attention[i] = type == "full_attention";
    }
    return is_attention;
  }
  const auto indices = view.list("full_attn_idxs");
  if (!indices) view.error(ErrorCode::json_missing_key, "layer_types", {{"key", "layer_types"}});
  for (const uint64_t layer : indices.value_or(std::vector<uint64_t>())) {
    if (layer < num_layers) {
      is_attention[static_cast<size_t>(layer)] = true;
    } else {
      view.bad_pattern("full_attn_idxs", num_layers, "it names layer " + std::to_string(layer));
    }
  }
  return is_attention;
}

std::vector<Ffn> read_lfm2_ffns(Import& import, const Traits& traits, uint64_t num_layers) {
  ConfigView& view = import.text();
  if (view.model_type() == "lfm2_moe") return read_ffns(import, traits, num_layers);
  const DenseFfn dense{read_lfm2_intermediate(view), true, false, false};
  return std::vector<Ffn>(static_cast<size_t>(num_layers), dense);
}

}  // namespace

void build_lfm2(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  import.spec.tie_word_embeddings = view.flag("tie_embedding", import.spec.tie_word_embeddings);
  const Attention attention = read_attention(import, traits);
  const ShortConv conv{import.spec.hidden_size, view.require("conv_L_cache"),
                       view.flag("conv_bias", false), true};
  const std::vector<Ffn> ffns = read_lfm2_ffns(import, traits, num_layers);
  const std::vector<bool> is_attention = read_lfm2_attention(view, num_layers);
  for (const std::string_view key :
       {"block_dim", "conv_dim", "conv_dim_out", "num_heads", "block_use_swiglu",
        "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
        "conv_use_xavier_init", "use_pos_enc", "full_attn_idxs"}) {
    view.ignore(key);
  }
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    import.spec.layers[i].mixers = {is_attention[i] ? Mixer(attention) : Mixer(conv)};
    import.spec.layers[i].ffn = ffns[i];
  }
}

namespace {

/// Heads and width of the windowed layers of Inkling.
Attention read_inkling_window(ConfigView& view, Attention attention) {
  attention.num_heads = view.u64_or("swa_num_attention_heads", attention.num_heads, kHeadRange);
  attention.num_kv_heads =
      view.u64_or("swa_num_key_value_heads", attention.num_kv_heads, kHeadRange);
  attention.head_dim = attention.v_head_dim =
      view.u64_or("swa_head_dim", attention.head_dim, kDimRange);
  attention.window_tokens = view.require("sliding_window", {1, kTokenRange.max});
  return attention;
}

/// All but each sixth layer keep a window, unless the configuration lists the layers.
std::vector<bool> read_inkling_windows(ConfigView& view, uint64_t num_layers) {
  constexpr uint64_t kPeriod = 6;
  std::vector<bool> is_windowed;
  if (const auto types = read_layer_types(view, num_layers)) {
    for (const std::string& type : *types) {
      if (type != "hybrid" && type != "hybrid_sliding") {
        view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", type}});
      }
      is_windowed.push_back(type == "hybrid_sliding");
    }
    return is_windowed;
  }
  const auto local = view.list("local_layer_ids", {0, kLayerRange.max});
  if (!local) view.assume("local_layer_ids", "all but each sixth");
  for (uint64_t layer = 0; layer < num_layers; ++layer) {
    is_windowed.push_back(local ? contains(*local, layer) : (layer + 1) % kPeriod != 0);
  }
  return is_windowed;
}

/// Relative positions: a projection to d_rel features per head, and their profiles over the
/// distance.
void add_relative_positions(Layer& layer, const Attention& attention, uint64_t hidden,
                            uint64_t d_rel, uint64_t extent) {
  layer.extras.push_back(
      {"self_attn.r_proj", TensorRole::attention_other, attention.num_heads * d_rel, hidden, true});
  layer.extras.push_back(
      {"self_attn.rel_logits_proj", TensorRole::attention_other, d_rel, extent, false});
}

/// Convolutions behind keys, values, attention and feed-forward.
void add_smoothing(Layer& layer, const Attention& attention, uint64_t hidden, uint64_t d_conv) {
  const uint64_t kv_width = attention.num_kv_heads * attention.head_dim;
  for (const uint64_t width : {kv_width, kv_width, hidden, hidden}) {
    layer.mixers.emplace_back(ShortConv{width, d_conv, false, false});
  }
}

}  // namespace

void build_inkling(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  const Attention full = read_attention(import, traits);
  const Attention windowed = read_inkling_window(view, full);
  const std::vector<bool> is_windowed = read_inkling_windows(view, num_layers);
  const std::vector<Ffn> ffns = read_ffns(import, traits, num_layers);
  const uint64_t d_conv =
      view.u64_or("conv_kernel_size", view.u64_or("sconv_kernel_size", 4, kDimRange), kDimRange);
  const uint64_t d_rel = view.u64_or("d_rel", 16, kDimRange);
  const uint64_t extent = view.u64_or("rel_extent", 1024, kDimRange);
  view.ignore("shared_expert_sink");
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    const Attention& attention = is_windowed[i] ? windowed : full;
    layer.mixers = {attention};
    layer.ffn = ffns[i];
    add_smoothing(layer, attention, hidden, d_conv);
    add_relative_positions(layer, attention, hidden, d_rel,
                           is_windowed[i] ? attention.window_tokens : extent);
    // The router also scores the shared experts.
    const uint64_t shared =
        std::holds_alternative<MoeFfn>(layer.ffn) ? view.u64_or("n_shared_experts", 0) : 0;
    if (shared != 0)
      layer.extras.push_back({"mlp.gate.shared", TensorRole::router, shared, hidden, true});
    layer.extras.push_back({"mlp.global_scale", TensorRole::other, 1, 1, false});
  }
  import.spec.extras.push_back({"model.embed_norm", TensorRole::norm, 1, hidden, false});
}

}  // namespace vramgauge::hf

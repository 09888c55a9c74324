// RWKV, versions 4 to 7.
#include "import/hf_hybrid.h"

// Shapes: the papers (arXiv 2305.13048, 2404.05892, 2503.14456), whose parameter formulas the unit
// tests repeat. A release stores embedding and head apart, whatever tie_word_embeddings says.
namespace vramgauge::hf {
namespace {

/// Channel mixing: key and value matrices around a squared ReLU, mixes of the shifted token, and up
/// to version 6 a receptance matrix.
void set_channel_mixing(Layer& layer, uint64_t hidden, uint64_t intermediate, uint64_t version) {
  layer.ffn = DenseFfn{intermediate, false, false, false};
  layer.extras.push_back(
      {"feed_forward.mix", TensorRole::recurrent, version == 7 ? 1U : 2U, hidden, false});
  if (version == 7) return;
  layer.extras.push_back({"feed_forward.receptance", TensorRole::mlp_up, hidden, hidden, true});
}

/// The first layer normalises the embeddings beforehand.
void add_pre_norm(Layer& layer, uint64_t hidden) {
  layer.extras.push_back({"pre_ln", TensorRole::norm, 2, hidden, false});
}

uint64_t default_intermediate(uint64_t version, uint64_t hidden) {
  constexpr uint64_t kGranule = 32;
  // Versions 5 and 6: 3.5 x hidden, rounded down to a multiple of 32.
  if (version == 5 || version == 6) return hidden * 7 / 2 / kGranule * kGranule;
  return 4 * hidden;
}

void build(Import& import, const Traits& traits, Rwkv rwkv) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  import.spec.tie_word_embeddings = false;
  if (import.spec.max_context_tokens == 0) {
    import.spec.max_context_tokens = view.u64_or("context_length", 0, kTokenRange);
  }
  const uint64_t intermediate =
      view.u64_or("intermediate_size", default_intermediate(rwkv.version, hidden), kDimRange);
  for (const std::string_view key :
       {"attention_hidden_size", "num_attention_heads", "context_length", "model_version",
        "norm_first", "hidden_ratio", "attn", "attn_mode", "fuse_cross_entropy",
        "head_size_divisor"}) {
    view.ignore(key);
  }
  if (import.failed()) return;
  rwkv.hidden_size = hidden;
  rwkv.num_heads = rwkv.version == 4 ? 0 : hidden / rwkv.head_dim;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Rwkv mixer = rwkv;
    if (i == 0) mixer.value_rank = 0;  // the value residual starts from the first layer's values
    import.spec.layers[i].mixers = {mixer};
    set_channel_mixing(import.spec.layers[i], hidden, intermediate, rwkv.version);
  }
  add_pre_norm(import.spec.layers.front(), hidden);
}

Rwkv version_with_heads(Import& import, uint64_t version) {
  Rwkv rwkv;
  rwkv.version = version;
  rwkv.head_dim = import.text().u64_or("head_dim", 64, kDimRange);
  return rwkv;
}

}  // namespace

void build_rwkv4(Import& import, const Traits& traits) {
  Rwkv rwkv;
  rwkv.version = 4;
  build(import, traits, rwkv);
}

void build_rwkv5(Import& import, const Traits& traits) {
  const std::string version = import.text().string("model_version").value_or("5_2");
  if (version != "5_2") {
    import.text().error(ErrorCode::model_unsupported, "model_version",
                        {{"what", "RWKV " + version},
                         { "reason",
                           std::string("only 5_2 is known") }});
  }
  build(import, traits, version_with_heads(import, 5));
}

void build_rwkv6(Import& import, const Traits& traits) {
  constexpr uint64_t kWideHidden = 4096;
  Rwkv rwkv = version_with_heads(import, 6);
  const bool is_wide = import.text().u64_or("hidden_size", 0) >= kWideHidden;
  rwkv.mix_rank = is_wide ? 64 : 32;
  rwkv.decay_rank = is_wide ? 128 : 64;
  build(import, traits, rwkv);
}

void build_rwkv7(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  Rwkv rwkv = version_with_heads(import, 7);
  rwkv.decay_rank = view.require("decay_low_rank_dim");
  rwkv.gate_rank = view.require("gate_low_rank_dim");
  rwkv.learning_rate_rank = view.require("a_low_rank_dim");
  rwkv.value_rank = view.require("v_low_rank_dim");
  build(import, traits, rwkv);
}

}  // namespace vramgauge::hf

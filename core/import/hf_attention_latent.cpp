// Multi-head latent attention and its indexer.
#include "import/hf_families_special.h"

namespace vramgauge::hf {
namespace {

std::optional<Indexer> read_indexer(ConfigView& view) {
  const auto head_dim = view.u64("index_head_dim", kDimRange);
  if (!head_dim) return std::nullopt;
  Indexer indexer;
  indexer.num_heads = view.require("index_n_heads", kHeadRange);
  indexer.head_dim = *head_dim;
  indexer.top_k_tokens = view.u64_or("index_topk", 0, kTokenRange);
  return indexer;
}

/// Full indexers of the layers, from indexer_types or from index_topk_freq and its offset.
std::optional<std::vector<bool>> read_indexer_mask(ConfigView& view, uint64_t num_layers) {
  view.ignore("index_topk_pattern");
  view.ignore("index_share_for_mtp_iteration");
  const uint64_t period = view.u64_or("index_topk_freq", 1, kLayerRange);
  const uint64_t offset = view.u64_or("index_skip_topk_offset", 1, kLayerRange);
  if (const auto types = view.strings("indexer_types")) {
    if (types->size() != num_layers) {
      view.bad_pattern("indexer_types", num_layers,
                       "it has " + std::to_string(types->size()) + " items");
      return std::nullopt;
    }
    std::vector<bool> mask;
    for (const std::string& type : *types)
      mask.push_back(type == "full");
    return mask;
  }
  if (period == 1) return std::nullopt;
  std::vector<bool> mask;
  for (uint64_t i = 0; i < num_layers; ++i)
    mask.push_back(i < offset || (i + 1 - offset) % period == 0);
  return mask;
}

MoeFfn read_longcat_experts(Import& import, const Traits& traits, uint64_t dense_width) {
  MoeFfn moe = read_moe_ffn(import.text(), traits);
  // The dense block of the first half runs beside the experts.
  moe.shared_intermediate_size = dense_width;
  return moe;
}

/// The draft layer of every LongCat-Flash checkpoint: dense, with an embedding of its own.
void add_longcat_mtp(Import& import, const Layer& dense_layer) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const char* key =
      view.given("num_nextn_predict_layers") ? "num_nextn_predict_layers" : "mtp_num_layers";
  const uint64_t num_mtp = view.u64_or(key, 1, {0, kLayerRange.max});
  Layer layer = dense_layer;
  layer.extras.push_back(
      {"eh_proj", TensorRole::mtp, spec.hidden_size, 2 * spec.hidden_size, true});
  for (const char* norm : {"enorm", "hnorm", "final_layernorm"})
    layer.extras.push_back({norm, TensorRole::mtp, 1, spec.hidden_size, false});
  layer.extras.push_back(
      {"embed_tokens", TensorRole::mtp, spec.vocab_size, spec.hidden_size, true});
  spec.mtp_layers.assign(static_cast<size_t>(num_mtp), layer);
}

}  // namespace

LatentAttention read_latent_attention(ConfigView& view, uint64_t default_v_head_dim) {
  LatentAttention latent;
  latent.num_heads = view.require("num_attention_heads", kHeadRange);
  for (std::string_view key : {"num_key_value_heads", "head_dim", "qk_head_dim"})
    view.ignore(key);
  latent.q_lora_rank = view.u64_or("q_lora_rank", 0);
  latent.kv_lora_rank = view.require("kv_lora_rank");
  latent.qk_nope_head_dim = view.require("qk_nope_head_dim");
  latent.qk_rope_head_dim = view.require("qk_rope_head_dim", {0, kDimRange.max});
  latent.v_head_dim = default_v_head_dim != 0
                          ? view.u64_or("v_head_dim", default_v_head_dim, kDimRange)
                          : view.require("v_head_dim");
  latent.bias = view.flag("attention_bias", false);
  latent.indexer = read_indexer(view);
  return latent;
}

Mixer read_latent_mixer(Import& import, const Traits&) {
  return read_latent_attention(import.text());
}

Mixer read_minicpm3_mixer(Import& import, const Traits&) {
  ConfigView& view = import.text();
  const uint64_t heads = view.require("num_attention_heads", kHeadRange);
  return read_latent_attention(view, import.spec.hidden_size / heads);
}

void adjust_latent(Import& import) {
  ModelSpec& spec = import.spec;
  const auto mask = read_indexer_mask(import.text(), spec.layers.size());
  if (!mask) return;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    auto& latent = std::get<LatentAttention>(spec.layers[i].mixers.front());
    if (latent.indexer) latent.indexer->stores_keys = (*mask)[i];
  }
}

void build_longcat(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  read_width_dims(import, traits);
  // num_layers counts pairs; num_hidden_layers, where given, counts halves.
  const auto pairs = view.reader().u64("num_layers", kLayerRange);
  const uint64_t num_halves = pairs ? 2 * *pairs : view.require("num_hidden_layers", kLayerRange);
  view.reader().ignore("num_hidden_layers");
  const LatentAttention latent = read_latent_attention(view);
  DenseFfn dense;
  dense.intermediate_size = view.require("ffn_hidden_size");
  const MoeFfn moe = read_longcat_experts(import, traits, dense.intermediate_size);
  const uint64_t num_zero = view.u64_or("zero_expert_num", 0, {0, kExpertRange.max});
  view.ignore("zero_expert_type");
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_halves);
  const ExtraTensor zero_rows{"mlp.router.zero_experts", TensorRole::router, num_zero,
                              import.spec.hidden_size, true};
  const ExtraTensor correction{"mlp.router.e_score_correction_bias", TensorRole::router, 1,
                               moe.num_experts + num_zero, false};
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {latent};
    layer.ffn = i % 2 == 0 ? Ffn(moe) : Ffn(dense);
    if (i % 2 == 0) layer.extras = {zero_rows, correction};
  }
  if (!import.spec.layers.empty()) add_longcat_mtp(import, import.spec.layers.back());
}

}  // namespace vramgauge::hf

// DeepSeek-V4: a window of single-head latents beside compressed ones, and hyper-connections.
#include "import/hf_families_special.h"
#include "units/index.h"

namespace vramgauge::hf {
namespace {

/// The ratio whose compressed entries an indexer selects from; higher ones are read in full.
constexpr uint64_t kIndexedRatio = 4;

CompressedAttention read_compressed(ConfigView& view) {
  CompressedAttention a;
  a.num_heads = view.require("num_attention_heads", kHeadRange);
  a.head_dim = view.require("head_dim");
  a.rope_head_dim = view.require("qk_rope_head_dim");
  a.q_lora_rank = view.require("q_lora_rank");
  a.o_lora_rank = view.require("o_lora_rank");
  a.o_groups = view.require("o_groups", kHeadRange);
  a.window_tokens = view.require("sliding_window", {1, kTokenRange.max});
  for (std::string_view key :
       {"num_key_value_heads", "kv_lora_rank", "qk_nope_head_dim", "v_head_dim"})
    view.ignore(key);
  return a;
}

Indexer read_indexer(ConfigView& view) {
  Indexer indexer;
  indexer.num_heads = view.require("index_n_heads", kHeadRange);
  indexer.head_dim = view.require("index_head_dim");
  indexer.top_k_tokens = view.u64_or("index_topk", 0, kTokenRange);
  indexer.tokens_per_key = kIndexedRatio;
  return indexer;
}

/// One ratio per layer; entries beyond the decoder belong to the MTP layers.
std::vector<uint64_t> read_ratios(ConfigView& view, uint64_t num_layers) {
  auto ratios = view.list("compress_ratios", {0, uint64_t{1} << 20});
  if (ratios && ratios->size() >= num_layers) return *ratios;
  if (!view.given("compress_ratios")) {
    view.error(ErrorCode::model_missing_dimension, "compress_ratios",
               {{"key", "compress_ratios"}, {"model_type", view.model_type()}});
  } else if (ratios) {
    view.bad_pattern("compress_ratios", num_layers,
                     "it has " + std::to_string(ratios->size()) + " items");
  }
  return std::vector<uint64_t>(static_cast<size_t>(num_layers), 0);
}

/// Mixing weights of the residual streams around one block: pre, post and combination.
void add_hyper_connection(Layer& layer, const std::string& block, uint64_t streams,
                          uint64_t hidden) {
  const uint64_t mixes = (2 + streams) * streams;
  layer.extras.push_back(
      {"hc_" + block + "_fn", TensorRole::other, mixes, streams * hidden, false});
  layer.extras.push_back({"hc_" + block + "_base", TensorRole::other, 1, mixes, false});
  layer.extras.push_back({"hc_" + block + "_scale", TensorRole::other, 1, 3, false});
}

struct Parts {
  CompressedAttention attention;
  Indexer indexer;
  std::vector<uint64_t> ratios;
  MoeFfn moe;
  uint64_t streams = 0;
  uint64_t num_hash_layers = 0;
};

Parts read_parts(Import& import, const Traits& traits, uint64_t num_layers) {
  ConfigView& view = import.text();
  Parts parts;
  parts.attention = read_compressed(view);
  parts.indexer = read_indexer(view);
  parts.ratios = read_ratios(view, num_layers);
  parts.moe = read_moe_ffn(view, traits);
  parts.streams = view.u64_or("hc_mult", 1, {1, 64});
  parts.num_hash_layers = view.u64_or("num_hash_layers", 0);
  for (std::string_view key : {"hc_sinkhorn_iters", "first_k_dense_replace", "moe_layer_freq",
                               "compress_rope_parameters"}) {
    view.ignore(key);
  }
  return parts;
}

void fill_layer(Layer& layer, const Parts& parts, uint64_t index, uint64_t vocab, uint64_t hidden) {
  CompressedAttention attention = parts.attention;
  attention.compress_ratio = index < parts.ratios.size() ? parts.ratios[index_of(index)] : 0;
  if (attention.compress_ratio == kIndexedRatio) attention.indexer = parts.indexer;
  MoeFfn moe = parts.moe;
  const bool is_hashed = index < parts.num_hash_layers;
  moe.has_correction_bias = !is_hashed;
  layer.mixers = {attention};
  layer.ffn = moe;
  if (is_hashed)
    layer.extras.push_back(
        {"ffn.gate.tid2eid", TensorRole::router, vocab, moe.num_experts_per_tok, false});
  add_hyper_connection(layer, "attn", parts.streams, hidden);
  add_hyper_connection(layer, "ffn", parts.streams, hidden);
}

void add_stream_head(std::vector<ExtraTensor>& extras, uint64_t streams, uint64_t hidden) {
  extras.push_back({"hc_head_fn", TensorRole::other, streams, streams * hidden, false});
  extras.push_back({"hc_head_base", TensorRole::other, 1, streams, false});
  extras.push_back({"hc_head_scale", TensorRole::other, 1, 1, false});
}

Layer make_mtp_layer(const Import& import, const Traits& traits, const Parts& parts,
                     uint64_t index) {
  const uint64_t hidden = import.spec.hidden_size;
  Layer layer = make_layers(import, traits, 1).front();
  fill_layer(layer, parts, index, import.spec.vocab_size, hidden);
  layer.extras.push_back({"e_proj", TensorRole::mtp, hidden, hidden, true});
  layer.extras.push_back({"h_proj", TensorRole::mtp, hidden, hidden, true});
  for (const char* norm : {"enorm", "hnorm", "norm"})
    layer.extras.push_back({norm, TensorRole::mtp, 1, hidden, false});
  add_stream_head(layer.extras, parts.streams, hidden);
  return layer;
}

}  // namespace

void build_deepseek_v4(Import& import, const Traits& traits) {
  const uint64_t num_layers = read_model_dims(import, traits);
  const Parts parts = read_parts(import, traits, num_layers);
  const uint64_t num_mtp =
      import.text().u64_or("num_nextn_predict_layers", 0, {0, kLayerRange.max});
  if (import.failed()) return;
  ModelSpec& spec = import.spec;
  spec.layers = make_layers(import, traits, num_layers);
  for (uint64_t i = 0; i < num_layers; ++i)
    fill_layer(spec.layers[index_of(i)], parts, i, spec.vocab_size, spec.hidden_size);
  for (uint64_t i = 0; i < num_mtp; ++i)
    spec.mtp_layers.push_back(make_mtp_layer(import, traits, parts, num_layers + i));
  add_stream_head(spec.extras, parts.streams, spec.hidden_size);
}

}  // namespace vramgauge::hf

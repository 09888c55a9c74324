// Multi-head latent attention and its indexer.
#include "import/hf_families.h"

namespace vramgauge::hf {
namespace {

std::optional<Indexer> read_indexer(ConfigView& view) {
  if (!view.given("index_n_heads") && !view.given("index_head_dim")) return std::nullopt;
  Indexer indexer;
  indexer.num_heads = view.require("index_n_heads", kHeadRange);
  indexer.head_dim = view.require("index_head_dim", kDimRange);
  indexer.top_k_tokens = view.u64_or("index_topk", 0, kTokenRange);
  return indexer;
}

}  // namespace

LatentAttention read_latent_attention(ConfigView& view) {
  LatentAttention latent;
  latent.num_heads = view.require("num_attention_heads", kHeadRange);
  view.ignore("num_key_value_heads");
  view.ignore("head_dim");
  view.ignore("qk_head_dim");
  latent.q_lora_rank = view.u64_or("q_lora_rank", 0);
  latent.kv_lora_rank = view.require("kv_lora_rank");
  latent.qk_nope_head_dim = view.require("qk_nope_head_dim");
  latent.qk_rope_head_dim = view.require("qk_rope_head_dim", {0, kDimRange.max});
  latent.v_head_dim = view.require("v_head_dim");
  latent.bias = view.flag("attention_bias", false);
  latent.indexer = read_indexer(view);
  return latent;
}

}  // namespace vramgauge::hf

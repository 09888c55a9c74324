// Tensors of the attention mixers.
#include "model/weights_layer.h"

namespace vramgauge {
namespace {

using Role = TensorRole;

void add_qk_norm(LayerWeights& layer, const Attention& a) {
  if (a.qk_norm == QkNorm::none) return;
  const uint64_t q_heads = a.qk_norm == QkNorm::per_head ? a.num_heads : 1;
  const uint64_t k_heads = a.qk_norm == QkNorm::per_head ? a.num_kv_heads : 1;
  layer.vector("self_attn.q_norm", Role::norm, q_heads * a.head_dim);
  layer.vector("self_attn.k_norm", Role::norm, k_heads * a.head_dim);
  if (!a.qk_norm_bias) return;
  layer.vector("self_attn.q_norm.bias", Role::norm, q_heads * a.head_dim);
  layer.vector("self_attn.k_norm.bias", Role::norm, k_heads * a.head_dim);
}

void add_keys_values(LayerWeights& layer, const Attention& a) {
  const uint64_t hidden = layer.hidden_size();
  layer.matrix("self_attn.k_proj", Role::attention_k, a.num_kv_heads * a.head_dim, hidden,
               a.k_bias);
  if (a.v_equals_k) return;
  layer.matrix("self_attn.v_proj", Role::attention_v, a.num_kv_heads * a.v_head_dim, hidden,
               a.v_bias);
}

/// Indexer of a latent attention: queries from the compressed query, one shared key (with a
/// LayerNorm of weight and bias), one weight per head.
void add_indexer(LayerWeights& layer, const Indexer& indexer, uint64_t q_width) {
  const uint64_t hidden = layer.hidden_size();
  if (!indexer.stores_keys) return;
  layer.matrix("self_attn.indexer.wq_b", Role::attention_other,
               indexer.num_heads * indexer.head_dim, q_width);
  layer.matrix("self_attn.indexer.wk", Role::attention_other, indexer.head_dim, hidden);
  layer.vector("self_attn.indexer.k_norm", Role::norm, indexer.head_dim);
  layer.vector("self_attn.indexer.k_norm.bias", Role::norm, indexer.head_dim);
  layer.matrix("self_attn.indexer.weights_proj", Role::attention_other, indexer.num_heads, hidden);
}

/// Pools `ratio` tokens into one entry by learned weights; small ratios overlap their neighbours.
void add_compressor(LayerWeights& layer, const std::string& name, uint64_t ratio, uint64_t width) {
  constexpr uint64_t kOverlappingRatio = 4;
  const uint64_t rows = (ratio == kOverlappingRatio ? 2 : 1) * width;
  layer.plain(name + ".ape", Role::attention_other, ratio, rows);
  layer.matrix(name + ".wkv", Role::attention_other, rows, layer.hidden_size());
  layer.matrix(name + ".wgate", Role::attention_other, rows, layer.hidden_size());
  layer.vector(name + ".norm", Role::norm, width);
}

void add_latent_queries(LayerWeights& layer, const LatentAttention& a) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t q_width = a.num_heads * (a.qk_nope_head_dim + a.qk_rope_head_dim);
  if (a.q_lora_rank == 0) {
    layer.matrix("self_attn.q_proj", Role::attention_q, q_width, hidden);
    return;
  }
  layer.matrix("self_attn.q_a_proj", Role::attention_q, a.q_lora_rank, hidden, a.bias);
  layer.vector("self_attn.q_a_layernorm", Role::norm, a.q_lora_rank);
  layer.matrix("self_attn.q_b_proj", Role::attention_q, q_width, a.q_lora_rank);
}

}  // namespace

void add_mixer_weights(LayerWeights& layer, const Attention& a) {
  if (!a.has_projections) return;
  const uint64_t hidden = layer.hidden_size();
  const uint64_t q_rows = a.num_heads * a.head_dim * (a.output_gate ? 2 : 1);
  const uint64_t kv_rows = a.num_kv_heads * (a.head_dim + a.v_head_dim);
  if (a.fused_qkv) {
    layer.matrix("self_attn.qkv_proj", Role::attention_qkv, q_rows + kv_rows, hidden, a.q_bias);
  } else {
    layer.matrix("self_attn.q_proj", Role::attention_q, q_rows, hidden, a.q_bias);
    if (!a.cache_shared_with) add_keys_values(layer, a);
  }
  layer.matrix("self_attn.o_proj", Role::attention_output, hidden, a.num_heads * a.v_head_dim,
               a.o_bias);
  add_qk_norm(layer, a);
  if (a.has_sinks) layer.vector("self_attn.sinks", Role::attention_other, a.num_heads);
  if (a.indexer) add_indexer(layer, *a.indexer, hidden);
}

void add_mixer_weights(LayerWeights& layer, const LatentAttention& a) {
  const uint64_t hidden = layer.hidden_size();
  add_latent_queries(layer, a);
  layer.matrix("self_attn.kv_a_proj_with_mqa", Role::attention_k,
               a.kv_lora_rank + a.qk_rope_head_dim, hidden, a.bias);
  layer.vector("self_attn.kv_a_layernorm", Role::norm, a.kv_lora_rank);
  layer.matrix("self_attn.kv_b_proj", Role::attention_v,
               a.num_heads * (a.qk_nope_head_dim + a.v_head_dim), a.kv_lora_rank);
  layer.matrix("self_attn.o_proj", Role::attention_output, hidden, a.num_heads * a.v_head_dim,
               a.bias);
  if (a.output_gate)
    layer.matrix("self_attn.g_proj", Role::attention_other, a.num_heads * a.v_head_dim, hidden);
  if (a.indexer) add_indexer(layer, *a.indexer, a.q_lora_rank != 0 ? a.q_lora_rank : hidden);
}

void add_mixer_weights(LayerWeights& layer, const CompressedAttention& a) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t q_width = a.num_heads * a.head_dim;
  layer.matrix("attn.wq_a", Role::attention_q, a.q_lora_rank, hidden);
  layer.vector("attn.q_norm", Role::norm, a.q_lora_rank);
  layer.matrix("attn.wq_b", Role::attention_q, q_width, a.q_lora_rank);
  layer.matrix("attn.wkv", Role::attention_k, a.head_dim, hidden);
  layer.vector("attn.kv_norm", Role::norm, a.head_dim);
  // Each group of heads has its own first output factor.
  if (a.o_groups != 0)
    layer.matrix("attn.wo_a", Role::attention_output, a.o_groups * a.o_lora_rank,
                 q_width / a.o_groups);
  layer.matrix("attn.wo_b", Role::attention_output, hidden, a.o_groups * a.o_lora_rank);
  layer.vector("attn.attn_sink", Role::attention_other, a.num_heads);
  if (a.compress_ratio != 0) add_compressor(layer, "attn.compressor", a.compress_ratio, a.head_dim);
  if (!a.indexer) return;
  layer.matrix("attn.indexer.wq_b", Role::attention_other,
               a.indexer->num_heads * a.indexer->head_dim, a.q_lora_rank);
  layer.matrix("attn.indexer.weights_proj", Role::attention_other, a.indexer->num_heads, hidden);
  add_compressor(layer, "attn.indexer.compressor", a.compress_ratio, a.indexer->head_dim);
}

}  // namespace vramgauge

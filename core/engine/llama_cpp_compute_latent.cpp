// Latent attention in the graph of llama_cpp_compute_graph.h: src/models/deepseek2.cpp,
// deepseek32.cpp and glm-dsa.cpp.
#include <algorithm>

#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {

/// Index keys of the batch, which are cached before anything else of the layer is computed.
void LlamaCppGraph::store_index_keys(const Indexer& indexer, uint64_t rope_dim, Tensor x) {
  const uint64_t keys = product(indexer.head_dim, tokens_);
  lazy_input(indexed_.k_rotation, product(indexer.head_dim * indexer.head_dim, 4));
  const Tensor raw = multiply("indexer.attn_k", x, indexer.head_dim, tokens_);
  const Tensor centred = add(keys, 0, {raw});
  const Tensor scaled =
      add(keys, GraphNode::kInPlace, {centred}, weight("indexer.k_norm"), tokens_);
  const Tensor normed = add_bias("indexer.k_norm", scaled, keys, tokens_);
  const Tensor rotated =
      add(product(rope_dim, tokens_), GraphNode::kInPlace, {view(normed), positions()});
  const Tensor joined = add(keys, 0, {rotated, view(normed)});
  const Tensor spread = add(keys, 0, {indexed_.k_rotation, joined});
  store({view(spread), lazy_input(indexed_.k_rows, product(tokens_, 8))},
        has_gpus() ? cache_home() : 0);
}

/// Scores every cached token and picks the best ones. `compressed` is the query's latent.
LlamaCppGraph::Tensor LlamaCppGraph::pick_tokens(const Indexer& indexer, uint64_t rope_dim,
                                                 Tensor x, Tensor compressed) {
  const uint64_t features = indexer.num_heads * indexer.head_dim;
  const Tensor raw = multiply("indexer.attn_q_b", compressed, features, tokens_);
  const Tensor rotated = add(product(indexer.num_heads * rope_dim, tokens_), GraphNode::kInPlace,
                             {view(raw), positions()});
  const Tensor joined = add(product(features, tokens_), 0, {rotated, view(raw)});
  const Tensor q = add(product(features, tokens_), 0, {indexed_.k_rotation, joined});
  const Tensor weights = multiply("indexer.proj", x, indexer.num_heads, tokens_);
  const Tensor scaled =
      add(product(indexer.num_heads, tokens_), GraphNode::kInPlace, {view(weights)});
  const uint64_t cells = context_.cells;
  const Tensor cache = cache_tensor(cells, context_.type_k, indexer.head_dim);
  const Tensor mask = lazy_input(indexed_.mask, product(product(cells, tokens_), 2));
  const Tensor scores = add(product(cells, tokens_), 0, {view(q), cache, scaled, mask});
  const uint64_t chosen = product(std::min(cells, indexer.top_k_tokens), tokens_);
  return add(chosen, 0, {add(chosen, 0, {scores})});
}

/// The mask that leaves only chosen tokens.
LlamaCppGraph::Tensor LlamaCppGraph::mask_chosen(const LatentAttention& mixer, Tensor x,
                                                 Tensor compressed) {
  const Indexer& indexer = *mixer.indexer;
  const uint64_t chosen = product(std::min(context_.cells, indexer.top_k_tokens), tokens_);
  // A constant that each layer has for itself, placed in front of everything like an input.
  const Tensor constant = input(product(chosen, 4));
  nodes_.back().flags |= GraphNode::kConstant;
  const Tensor zeros = add(chosen, GraphNode::kInPlace, {constant});
  if (indexer.stores_keys) chosen_ = pick_tokens(indexer, mixer.qk_rope_head_dim, x, compressed);
  const Tensor all = mask(full_, false);
  const uint64_t bytes = nodes_[all / 2].bytes;
  const Tensor filled = add(0, GraphNode::kInPlace, {all});
  nodes_.back().bytes = bytes;
  // Zeros are written into the filled mask where a token is chosen.
  add(0, 0, {zeros, view(chosen_)});
  const Tensor made = add(0, GraphNode::kInPlace, {view(filled), all});
  nodes_.back().bytes = bytes;
  return made;
}

LlamaCppGraph::Tensor LlamaCppGraph::mask_of(const Attended& in) {
  if (in.sparse != nullptr) return mask_chosen(*in.sparse, in.x, in.compressed);
  return in.mask != kNone ? in.mask : mask(full_, false);
}

LlamaCppGraph::Tensor LlamaCppGraph::latent_attention(const LatentAttention& mixer, Tensor x) {
  const LlamaCppLayer& shape = model_.layers[layer_index_];
  const uint64_t head_k = mixer.qk_nope_head_dim + mixer.qk_rope_head_dim;
  const uint64_t heads = mixer.num_heads;
  const uint64_t latent = mixer.kv_lora_rank;
  const uint64_t rope = mixer.qk_rope_head_dim;
  const bool is_sparse = model_.is_sparse && mixer.indexer.has_value();
  if (is_sparse && mixer.indexer->stores_keys) store_index_keys(*mixer.indexer, rope, x);
  Tensor compressed = x;
  if (mixer.q_lora_rank != 0) {
    compressed = norm("attn_q_a_norm", multiply("attn_q_a", x, mixer.q_lora_rank, tokens_),
                      mixer.q_lora_rank, tokens_);
  }
  const Tensor q =
      multiply(mixer.q_lora_rank != 0 ? "attn_q_b" : "attn_q", compressed, heads * head_k, tokens_);
  const Tensor absorbed =
      add(product(heads * latent, tokens_), 0, {view(q)}, weight("attn_k_b"), tokens_);
  const Tensor q_rope =
      add(product(heads * rope, tokens_), GraphNode::kInPlace, {view(q), positions()});
  const Tensor query = add(product(heads * (latent + rope), tokens_), 0, {view(absorbed), q_rope});
  const Tensor both = multiply("attn_kv_a_mqa", x, latent + rope, tokens_);
  const Tensor values = norm("attn_kv_a_norm", view(both), latent, tokens_);
  const Tensor k_rope = add(product(rope, tokens_), GraphNode::kInPlace, {view(both), positions()});
  const Tensor key = add(product(latent + rope, tokens_), 0, {view(values), k_rope});
  store({view(key), lazy_input(full_.k_rows, product(tokens_, 8))}, has_gpus() ? cache_home() : 0);

  Attended in;
  in.q = query;
  in.cells = context_.cells;
  in.k_cache = cache_tensor(in.cells, context_.type_k, shape.k_elements);
  in.v_cache = cache_tensor(in.cells, context_.type_k, shape.k_elements);
  if (in.v_cache != kNone) {
    // The view ends with the last token's values, in front of its rotary part.
    nodes_[in.v_cache / 2].bytes -= row_bytes(context_.type_k, shape.k_elements).value_or(0) -
                                    row_bytes(context_.type_k, latent).value_or(0);
  }
  if (is_sparse) {
    in.sparse = &mixer;
    in.x = x;
    in.compressed = compressed;
  }
  in.v_is_k = true;
  const Tensor attended = attend(shape, in);
  const uint64_t result = product(heads * mixer.v_head_dim, tokens_);
  const Tensor expanded = add(result, 0, {context_.flash_attn ? view(attended) : attended},
                              weight("attn_v_b"), tokens_);
  return view(add(result, 0, {view(expanded)}));
}

/// Files from before latents were cached: keys and values of every head.
LlamaCppGraph::Tensor LlamaCppGraph::expanded_attention(const Attention& mixer, Tensor x) {
  const LlamaCppLayer& shape = model_.layers[layer_index_];
  const uint64_t both_features = layer_size("attn_kv_a_mqa", 1);
  const uint64_t latent = layer_size("attn_kv_b", 0);
  const uint64_t q_latent = layer_size("attn_q_a", 1);
  const uint64_t rope = both_features > latent ? both_features - latent : 0;
  const uint64_t heads = mixer.num_heads;
  const uint64_t nope = mixer.head_dim > rope ? mixer.head_dim - rope : 0;
  Tensor q = kNone;
  if (q_latent != 0) {
    const Tensor compressed =
        norm("attn_q_a_norm", multiply("attn_q_a", x, q_latent, tokens_), q_latent, tokens_);
    q = multiply("attn_q_b", compressed, heads * mixer.head_dim, tokens_);
  } else {
    q = multiply("attn_q", x, heads * mixer.head_dim, tokens_);
  }
  const Tensor q_rope =
      add(product(heads * rope, tokens_), GraphNode::kInPlace, {view(q), positions()});
  const Tensor query =
      rotate_k(shape, full_, add(product(heads * mixer.head_dim, tokens_), 0, {view(q), q_rope}),
               heads * mixer.head_dim);
  const Tensor both = multiply("attn_kv_a_mqa", x, both_features, tokens_);
  const Tensor normed = norm("attn_kv_a_norm", view(both), latent, tokens_);
  const Tensor kv = multiply("attn_kv_b", normed, heads * (nope + mixer.v_head_dim), tokens_);
  const Tensor v =
      rotate_v(shape, full_, add(product(heads * mixer.v_head_dim, tokens_), 0, {view(kv)}),
               heads * mixer.v_head_dim);
  const Tensor k_rope = add(product(rope, tokens_), GraphNode::kInPlace, {view(both), positions()});
  const Tensor repeated = add(product(heads * rope, tokens_), 0, {k_rope});
  const Tensor k =
      rotate_k(shape, full_, add(product(heads * mixer.head_dim, tokens_), 0, {view(kv), repeated}),
               heads * mixer.head_dim);
  store_cached(shape, full_, k, v, false);
  return attend_cached(shape, full_, query, {});
}

}  // namespace vramgauge

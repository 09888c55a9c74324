// RWKV-7 in the graph of llama_cpp_compute_graph.h: src/models/rwkv7.cpp and rwkv7-base.cpp.
#include <variant>

#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {

/// A product through a thin layer.
LlamaCppGraph::Tensor LlamaCppGraph::adapt(std::string_view first, std::string_view second,
                                           Tensor x, uint64_t rank, uint64_t rows) {
  return multiply(second, multiply(first, x, rank, rows), hidden_, rows);
}

LlamaCppGraph::Tensor LlamaCppGraph::rwkv_layer(const Rwkv& mixer, const Ffn& ffn, bool is_last,
                                                Tensor x) {
  const uint64_t elements = product(hidden_, tokens_);
  const uint64_t sequences = context_.n_seq_max;
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const auto in_place = GraphNode::kInPlace;
  const bool is_ahead = ahead_position_ == position_;
  const Tensor shift = recall_first(2 * hidden_);
  const Tensor state = is_ahead ? ahead_second_ : recall(product(hidden_, mixer.head_dim));
  if (position_ == 0 && is(LlamaCppGraphRules::kNormsEmbedding)) x = norm("", x, hidden_, tokens_);

  const Tensor normed = norm("attn_norm", view(x), hidden_, tokens_);
  const uint64_t all_but_last = product(elements - hidden_, 4);
  const uint64_t shift_bytes = product((2 * sequences - 1) * hidden_, 4);
  const Tensor previous = add(elements, 0, {part(shift, shift_bytes), part(normed, all_but_last)});
  const Tensor difference = add(elements, in_place, {previous, normed});
  const uint64_t parts = mixer.gate_rank != 0 ? 6 : 5;
  const Tensor repeated = add(product(parts, elements), 0, {difference});
  const Tensor mixed = add(product(parts, elements), in_place, {repeated, normed},
                           weight("time_mix_lerp_fused"), tokens_);
  const Tensor r = multiply("time_mix_receptance", view(mixed), hidden_, tokens_);
  const Tensor w = adapt("time_mix_w1", "time_mix_w2", view(mixed), mixer.decay_rank, tokens_);
  const Tensor key = multiply("time_mix_key", view(mixed), hidden_, tokens_);
  const Tensor a =
      adapt("time_mix_a1", "time_mix_a2", view(mixed), mixer.learning_rate_rank, tokens_);
  const Tensor ka = add(elements, in_place, {key}, weight("time_mix_k_a"), tokens_);
  const Tensor scaled = add(elements, in_place, {a, ka});
  const Tensor less = add(elements, in_place, {scaled, ka});
  const Tensor k = add(elements, in_place, {key, less});
  Tensor v = multiply("time_mix_value", view(mixed), hidden_, tokens_);
  if (first_value_ == kNone) {
    first_value_ = v;
  } else {
    const Tensor from_first = add(elements, in_place, {first_value_, v});
    const Tensor share =
        adapt("time_mix_v1", "time_mix_v2", view(mixed), mixer.value_rank, tokens_);
    const Tensor part = add(elements, in_place, {from_first, share});
    v = add(elements, in_place, {v, part});
  }
  const Tensor kk_scaled = add(elements, in_place, {key}, weight("time_mix_k_k"), tokens_);
  const Tensor kk = add(elements, 0, {view(kk_scaled)});
  const Tensor negative = add(elements, in_place, {kk});
  const Tensor kk_a = add(elements, in_place, {kk, view(a)});
  const Tensor result = add(elements + product(product(hidden_, mixer.head_dim), sequences), 0,
                            {view(r), view(w), view(k), view(v), negative, kk_a, view(state)});
  store({part(result, product(product(product(hidden_, mixer.head_dim), sequences), 4))}, home);

  const Tensor spread = add(elements, 0, {part(result, product(elements, 4))});
  const Tensor centred = add(elements, in_place, {view(spread)}, weight("time_mix_ln"), tokens_);
  const Tensor kr = add(elements, in_place, {view(k), view(r)}, weight("time_mix_r_k"), tokens_);
  const Tensor summed = add(product(mixer.num_heads, tokens_), 0, {kr});
  const Tensor bonus = add(elements, in_place, {view(v), summed});
  Tensor out = add(elements, in_place, {centred, view(bonus)});
  if (mixer.gate_rank != 0) {
    const Tensor gate = adapt("time_mix_g1", "time_mix_g2", view(mixed), mixer.gate_rank, tokens_);
    out = add(elements, in_place, {out, gate});
  }
  const Tensor projected = multiply("time_mix_output", out, hidden_, tokens_);
  const Tensor middle = add(elements, in_place, {view(projected), view(x)});
  const Tensor ffn_normed = norm("attn_norm_2", middle, hidden_, tokens_);
  const Tensor new_shift =
      add(product(2 * hidden_, sequences), 0, {view(normed), view(ffn_normed)});
  store({view(new_shift)}, home);

  recall_ahead();
  Tensor ffn_previous =
      view(add(elements, 0, {part(shift, shift_bytes), part(ffn_normed, all_but_last)}));
  Tensor ffn_input = part(ffn_normed, product(elements, 4));
  Tensor residual = view(middle);
  if (is_last) {
    rows_ = outputs_;
    ffn_previous = select(ffn_previous, hidden_);
    ffn_input = select(ffn_input, hidden_);
  }
  const uint64_t rows = product(hidden_, rows_);
  const Tensor moved = add(rows, in_place, {ffn_previous, ffn_input});
  const Tensor blended =
      add(rows, in_place, {moved, ffn_input}, weight("channel_mix_lerp_k"), rows_);
  const auto* plain = std::get_if<DenseFfn>(&ffn);
  const uint64_t width = plain != nullptr ? plain->intermediate_size : 0;
  const Tensor inner = multiply("channel_mix_key", blended, width, rows_);
  const Tensor fed = multiply("channel_mix_value", inner, hidden_, rows_);
  if (is_last) residual = select(residual, hidden_);
  return add(rows, in_place, {fed, residual});
}

}  // namespace vramgauge

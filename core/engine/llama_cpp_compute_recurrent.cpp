// Layers with a recurrent state in the graph of llama_cpp_compute_graph.h:
// src/models/mamba-base.cpp, delta-net-base.cpp, qwen3next.cpp, qwen35*.cpp, lfm2.cpp and
// rwkv7-base.cpp.
#include <variant>

#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {

/// Reads the state of every sequence.
LlamaCppGraph::Tensor LlamaCppGraph::recall(uint64_t elements) {
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const Tensor which = lazy_input(state_rows_, product(context_.n_seq_max, 4));
  store({}, home);
  const uint64_t all = product(elements, context_.n_seq_max);
  const Tensor states = external(product(all, 4), home);
  const Tensor state = add(all, 0, {states, view(which)});
  keep_others(which, states, home);
  return state;
}

/// States of sequences that are not in this batch are moved; when all are, nothing is.
void LlamaCppGraph::keep_others(Tensor which, Tensor states, uint8_t home) {
  if (no_rows_ == kNone) no_rows_ = part(which, 0);
  store({add(0, GraphNode::kEmpty, {states, no_rows_})}, home);
}

LlamaCppGraph::Tensor LlamaCppGraph::recall_first(uint64_t elements) {
  return ahead_position_ == position_ ? ahead_first_ : recall(elements);
}

/// The engine computes the end of a layer only when something reads it, and the first thing that
/// the next layer with a state does is to read its state: so that comes in front of the end of this
/// layer.
void LlamaCppGraph::recall_ahead() {
  const uint32_t here = layer_index_;
  for (uint32_t next = position_ + 1; next < layers_->size(); ++next) {
    const Layer& spec = model_.spec.layers[(*layers_)[next]];
    if (spec.mixers.empty() && !std::holds_alternative<MoeFfn>(spec.ffn)) continue;
    if (spec.mixers.size() != 1 || ahead_position_ == next) return;
    const Mixer& mixer = spec.mixers.front();
    const bool is_read_first =
        std::holds_alternative<Mamba1>(mixer) || std::holds_alternative<Mamba2>(mixer) ||
        std::holds_alternative<ShortConv>(mixer) || std::holds_alternative<Rwkv>(mixer);
    if (!is_read_first) return;
    layer_index_ = (*layers_)[next];
    ahead_first_ = recall(model_.layers[layer_index_].conv_elements);
    if (std::holds_alternative<Rwkv>(mixer))
      ahead_second_ = recall(model_.layers[layer_index_].state_elements);
    layer_index_ = here;
    ahead_position_ = next;
    return;
  }
}

/// The last tokens of each sequence in front of this batch's.
LlamaCppGraph::Tensor LlamaCppGraph::lengthen(Tensor tail, Tensor x, uint64_t kept_tokens,
                                              uint64_t channels) {
  const uint64_t tokens = tokens_ + product(kept_tokens, context_.n_seq_max);
  const Tensor made = add(product(tokens, channels), 0, {view(tail), view(x)});
  const uint64_t skipped = tokens_ / context_.n_seq_max * 4;
  store({part(made, product(product(tokens, channels), 4) - skipped)},
        has_gpus() ? cache_home() : 0);
  return made;
}

/// The recurrence over a batch; one row for the rules of offloading, so that it stays with its
/// weight.
LlamaCppGraph::Tensor LlamaCppGraph::scan(uint64_t d_inner, uint64_t d_state, Tensor x, Tensor dt,
                                          Tensor b, Tensor c) {
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const Tensor which = state_rows_;
  const uint64_t state = product(product(d_state, d_inner), context_.n_seq_max);
  const uint64_t outputs = product(d_inner, tokens_);
  const Tensor scanned =
      add(outputs + state, 0, {external(product(state, 4), home), view(x), dt, b, c, view(which)},
          weight("ssm_a", ""), 1);
  keep_others(which, external(product(state, 4), home), home);
  store({part(scanned, product(state, 4))}, home);
  return scanned;
}

void LlamaCppGraph::begin(const Mamba1& mixer, Tensor x) {
  const uint64_t inner = product(mixer.d_inner, tokens_);
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const Tensor tail = recall_first(product(mixer.d_conv - 1, mixer.d_inner));
  const Tensor xz = multiply("ssm_in", norm_input(x), 2 * mixer.d_inner, tokens_);
  const Tensor lengthened = lengthen(tail, xz, mixer.d_conv - 1, mixer.d_inner);
  store({}, home);
  const Tensor convolved = add_bias(
      "ssm_conv1d", add(inner, 0, {lengthened}, weight("ssm_conv1d"), tokens_), inner, tokens_);
  const Tensor projected = multiply("ssm_x", convolved, mixer.dt_rank + 2 * mixer.d_state, tokens_);
  const bool norms = mixer.has_inner_norms;
  Tensor dt = view(projected);
  if (norms) dt = norm("ssm_dt_norm", dt, mixer.dt_rank, tokens_);
  dt = multiply("ssm_dt", dt, mixer.d_inner, tokens_);
  // B and C are parts of a row: the rest of the last row is not theirs.
  const uint64_t all = nodes_[projected / 2].bytes;
  Tensor b = part(projected, all - 4 * (mixer.dt_rank + mixer.d_state));
  Tensor c = part(projected, all - 4 * (mixer.dt_rank + mixer.d_state));
  if (norms) b = norm("ssm_b_norm", b, mixer.d_state, tokens_);
  if (norms) c = norm("ssm_c_norm", c, mixer.d_state, tokens_);
  pending_ = {xz, convolved, scan(mixer.d_inner, mixer.d_state, convolved, dt, b, c)};
}

LlamaCppGraph::Tensor LlamaCppGraph::finish(const Mamba1& mixer) {
  const uint64_t inner = product(mixer.d_inner, tokens_);
  const Tensor gate = add(inner, 0, {view(pending_.gate)});
  const Tensor skip = add(inner, GraphNode::kInPlace, {pending_.x}, weight("ssm_d", ""), tokens_);
  const Tensor sum =
      add(inner, GraphNode::kInPlace, {part(pending_.result, product(inner, 4)), skip});
  return view(multiply("ssm_out", add(inner, 0, {gate, sum}), hidden_, tokens_));
}

void LlamaCppGraph::begin(const Mamba2& mixer, Tensor x) {
  const uint64_t d_inner = mixer.num_heads * mixer.head_dim;
  const uint64_t channels = d_inner + 2 * mixer.num_groups * mixer.d_state;
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const Tensor tail = recall_first(product(mixer.d_conv - 1, channels));
  const Tensor projected =
      multiply("ssm_in", norm_input(x), d_inner + channels + mixer.num_heads, tokens_);
  const Tensor lengthened = lengthen(tail, projected, mixer.d_conv - 1, channels);
  store({}, home);
  const uint64_t all_channels = product(channels, tokens_);
  const Tensor convolved =
      add_bias("ssm_conv1d", add(all_channels, 0, {lengthened}, weight("ssm_conv1d"), tokens_),
               all_channels, tokens_);
  const uint64_t heads = product(mixer.num_heads, tokens_);
  const Tensor dt = add_bias("ssm_dt", add(heads, 0, {view(projected)}), heads, tokens_);
  // x, B and C are parts of a row: the rest of the last row is not theirs.
  const uint64_t all = product(all_channels, 4);
  const uint64_t group = mixer.num_groups * mixer.d_state;
  const Tensor inner = part(convolved, all - 2 * group * 4);
  const Tensor b = part(convolved, all - (d_inner + group) * 4);
  const Tensor c = part(convolved, all - (d_inner + group) * 4);
  pending_ = {projected, convolved, scan(d_inner, mixer.d_state, inner, dt, b, c)};
}

LlamaCppGraph::Tensor LlamaCppGraph::finish(const Mamba2& mixer) {
  const uint64_t d_inner = mixer.num_heads * mixer.head_dim;
  const uint64_t inner = product(d_inner, tokens_);
  const Tensor gate = add(inner, 0, {view(pending_.gate)});
  const Tensor skip =
      add(inner, GraphNode::kInPlace, {view(pending_.x)}, weight("ssm_d", ""), tokens_);
  const Tensor sum =
      add(inner, GraphNode::kInPlace, {part(pending_.result, product(inner, 4)), skip});
  Tensor y = add(inner, 0, {gate, sum});
  if (mixer.has_gated_norm) y = norm("ssm_norm", view(y), d_inner, tokens_);
  return view(multiply("ssm_out", view(y), hidden_, tokens_));
}

void LlamaCppGraph::begin(const GatedDelta& mixer, Tensor x) {
  const uint64_t keys = mixer.num_k_heads * mixer.k_head_dim;
  const uint64_t values = mixer.num_v_heads * mixer.v_head_dim;
  const uint64_t channels = 2 * keys + values;
  const uint64_t heads = product(mixer.num_v_heads, tokens_);
  const uint8_t home = has_gpus() ? cache_home() : 0;
  const Tensor tail = recall(product(mixer.d_conv - 1, channels));
  Tensor gate = kNone;
  Tensor mixed = kNone;
  const bool is_fused = layer_size("ssm_in", 0) != 0;
  if (is_fused) {
    gate = multiply("ssm_in", x, channels + values, tokens_);
    const Tensor q = add(product(keys, tokens_), 0, {view(gate)});
    const Tensor k = add(product(keys, tokens_), 0, {view(gate)});
    const Tensor both = add(product(2 * keys, tokens_), 0, {q, k});
    const Tensor v = add(product(values, tokens_), 0, {view(gate)});
    mixed = add(product(channels, tokens_), 0, {both, v});
  } else {
    mixed = multiply("attn_qkv", x, channels, tokens_);
  }
  const Tensor lengthened = lengthen(tail, mixed, mixer.d_conv - 1, channels);
  const uint64_t state_elements = product(values, mixer.k_head_dim);
  const Tensor state = recall(state_elements);
  const Tensor convolved =
      add(product(channels, tokens_), 0, {lengthened}, weight("ssm_conv1d"), tokens_);
  const bool repeats =
      is(LlamaCppGraphRules::kRepeatsKeys) && mixer.num_k_heads != mixer.num_v_heads;
  const auto normalise = [&] {
    const Tensor made = add(product(keys, tokens_), 0, {view(convolved)});
    if (!repeats) return made;
    return view(add(product(mixer.num_v_heads * mixer.k_head_dim, tokens_), 0, {view(made)}));
  };
  const Tensor q = normalise();
  const Tensor k = normalise();
  Tensor decay = kNone;
  Tensor beta = kNone;
  if (layer_size("ssm_ba", 0) != 0) {
    const Tensor both = multiply("ssm_ba", x, 2 * mixer.num_v_heads, tokens_);
    decay = view(add(heads, 0, {view(both)}));
    beta = view(add(heads, 0, {view(both)}));
  } else {
    const Tensor alpha = multiply("ssm_alpha", x, mixer.num_v_heads, tokens_);
    decay =
        view(add(heads, GraphNode::kInPlace, {view(alpha)}, weight("ssm_dt", ".bias"), tokens_));
    const Tensor raw = multiply("ssm_beta", x, mixer.num_v_heads, tokens_);
    beta = add(heads, GraphNode::kInPlace, {view(raw)});
  }
  const Tensor result = add(product(values, tokens_) + product(state_elements, context_.n_seq_max),
                            0, {q, k, view(convolved), decay, beta, view(state)});
  store({part(result, product(product(state_elements, context_.n_seq_max), 4))}, home);
  pending_ = {gate, x, result};
}

LlamaCppGraph::Tensor LlamaCppGraph::finish(const GatedDelta& mixer) {
  const uint64_t values = mixer.num_v_heads * mixer.v_head_dim;
  const uint64_t elements = product(values, tokens_);
  const Tensor normed =
      norm("ssm_norm", part(pending_.result, product(elements, 4)), values, tokens_);
  const Tensor z = pending_.gate != kNone ? add(elements, 0, {view(pending_.gate)})
                                          : multiply("attn_gate", pending_.x, values, tokens_);
  const Tensor gate = add(elements, GraphNode::kInPlace, {view(z)});
  const Tensor gated = add(elements, GraphNode::kInPlace, {normed, gate});
  return view(multiply("ssm_out", view(gated), hidden_, tokens_));
}

void LlamaCppGraph::begin(const ShortConv& mixer, Tensor x) {
  const uint64_t elements = product(mixer.dim, tokens_);
  const Tensor tail = recall_first(product(mixer.d_conv - 1, mixer.dim));
  const Tensor parts = multiply("shortconv.in_proj", norm_input(x), 3 * mixer.dim, tokens_);
  const Tensor gated = add(elements, GraphNode::kInPlace, {view(parts), view(parts)});
  pending_ = {parts, kNone, lengthen(tail, gated, mixer.d_conv - 1, mixer.dim)};
}

LlamaCppGraph::Tensor LlamaCppGraph::finish(const ShortConv& mixer) {
  const uint64_t elements = product(mixer.dim, tokens_);
  const Tensor convolved = add(elements, 0, {pending_.result}, weight("shortconv.conv"), tokens_);
  const Tensor gated = add(elements, GraphNode::kInPlace, {view(pending_.gate), convolved});
  return view(multiply("shortconv.out_proj", gated, hidden_, tokens_));
}

}  // namespace vramgauge

// Feed-forward parts in the graph of llama_cpp_compute_graph.h.
#include <variant>

#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {

LlamaCppGraph::Tensor LlamaCppGraph::feed_forward(const Ffn& ffn, Tensor x) {
  if (const auto* plain = std::get_if<DenseFfn>(&ffn))
    return dense("", x, plain->intermediate_size, plain->is_gated, plain->fused_gate_up);
  if (const auto* moe = std::get_if<MoeFfn>(&ffn)) return experts(*moe, x);
  return x;
}

LlamaCppGraph::Tensor LlamaCppGraph::dense(std::string_view suffix, Tensor x, uint64_t width,
                                           bool is_gated, bool is_fused) {
  const bool is_shared = !suffix.empty();
  const uint64_t elements = product(width, rows_);
  Tensor inner = kNone;
  if (is_gated && is_fused) {
    inner = add(elements, 0, {multiply("ffn_up", x, 2 * width, rows_)});
  } else if (is_gated) {
    const Tensor gate = multiply(is_shared ? "ffn_gate_shexp" : "ffn_gate", x, width, rows_);
    const Tensor up = multiply(is_shared ? "ffn_up_shexp" : "ffn_up", x, width, rows_);
    inner = add(elements, 0, {gate, up});
  } else {
    inner = multiply(is_shared ? "ffn_up_shexp" : "ffn_up", x, width, rows_);
  }
  return multiply(is_shared ? "ffn_down_shexp" : "ffn_down", inner, hidden_, rows_);
}

LlamaCppGraph::Tensor LlamaCppGraph::route(const MoeFfn& ffn, Tensor x, Tensor& chosen) {
  using Rules = LlamaCppGraphRules;
  const uint64_t all = product(ffn.num_experts, rows_);
  const uint64_t used = product(ffn.num_experts_per_tok, rows_);
  const Tensor logits = multiply("ffn_gate_inp", x, ffn.num_experts, rows_);
  Tensor probabilities = logits;
  if (is(Rules::kWeightsInputs)) {
    probabilities = add(all, GraphNode::kInPlace, {logits});
    chosen = add(all, 0, {logits});
  } else {
    if (!is(Rules::kSoftmaxOfChosen)) probabilities = add(all, GraphNode::kInPlace, {logits});
    Tensor ranked = probabilities;
    if (ffn.has_correction_bias)
      ranked =
          add(all, GraphNode::kInPlace, {probabilities}, weight("exp_probs_b", ".bias"), rows_);
    chosen = add(all, 0, {ranked});
  }
  Tensor weights = add(used, 0, {view(probabilities), view(chosen)});
  if (is(Rules::kSoftmaxOfChosen)) {
    weights = add(used, GraphNode::kInPlace, {view(weights)});
  } else if (!is(Rules::kRawExpertWeights) || ffn.has_correction_bias) {
    const Tensor sum = add(rows_, 0, {view(weights)});
    weights = view(add(used, GraphNode::kInPlace, {view(weights), sum}));
  }
  if (is(Rules::kScalesWeights) && ffn.has_correction_bias)
    weights = add(used, GraphNode::kInPlace, {weights});
  return weights;
}

LlamaCppGraph::Tensor LlamaCppGraph::experts(const MoeFfn& ffn, Tensor x) {
  Tensor chosen = kNone;
  const Tensor weights = route(ffn, x, chosen);
  Tensor sum = mix_experts(ffn, x, weights, chosen);
  // What follows is computed only when the next layer reads it.
  recall_ahead();
  if (ffn.expert_hidden_size != 0 && ffn.expert_hidden_size != hidden_)
    sum = multiply("ffn_latent_up", sum, hidden_, rows_);
  if (ffn.shared_intermediate_size == 0) return sum;
  Tensor shared = dense("shexp", x, ffn.shared_intermediate_size, ffn.is_gated, false);
  if (ffn.has_shared_gate) {
    const Tensor gate = multiply("ffn_gate_inp_shexp", x, 1, rows_);
    shared = add(product(rows_, hidden_), GraphNode::kInPlace, {shared, gate});
  }
  return add(product(rows_, hidden_), GraphNode::kInPlace, {sum, shared});
}

LlamaCppGraph::Tensor LlamaCppGraph::mix_experts(const MoeFfn& ffn, Tensor x, Tensor weights,
                                                 Tensor chosen) {
  using Rules = LlamaCppGraphRules;
  const uint64_t width = ffn.expert_hidden_size != 0 ? ffn.expert_hidden_size : hidden_;
  const uint64_t used = product(ffn.num_experts_per_tok, rows_);
  Tensor in = view(width != hidden_ ? multiply("ffn_latent_down", x, width, rows_) : x);
  if (is(Rules::kWeightsInputs)) {
    const Tensor repeated = add(product(used, width), 0, {in});
    in = add(product(used, width), GraphNode::kInPlace, {repeated, weights});
  }
  const auto multiply_chosen = [&](std::string_view name, Tensor from, uint64_t features) {
    const uint64_t elements = product(features, used);
    const Tensor made = add(elements, 0, {from, view(chosen)}, weight(name), rows_);
    return add_bias(name, made, elements, rows_, view(chosen));
  };
  Tensor inner = kNone;
  if (ffn.is_gated && is(Rules::kGemma4)) {
    const Tensor both = multiply_chosen("ffn_gate_up_exps", in, 2 * ffn.moe_intermediate_size);
    inner = add(product(ffn.moe_intermediate_size, used), 0, {view(both), view(both)});
  } else if (ffn.is_gated) {
    const Tensor gate = multiply_chosen("ffn_gate_exps", in, ffn.moe_intermediate_size);
    const Tensor up = multiply_chosen("ffn_up_exps", in, ffn.moe_intermediate_size);
    inner = add(product(ffn.moe_intermediate_size, used), 0, {gate, up});
  } else {
    inner = multiply_chosen("ffn_up_exps", in, ffn.moe_intermediate_size);
  }
  Tensor each = multiply_chosen("ffn_down_exps", inner, width);
  if (is(Rules::kGemma4)) {
    // A scale for each expert, repeated for every token, of which the chosen ones are picked.
    const Weight place = weight("ffn_down_exps", ".scale");
    const Tensor scale = external(product(ffn.num_experts, 4), place.home);
    const Tensor scales = add(product(ffn.num_experts, rows_), 0, {scale});
    const Tensor picked = add(used, 0, {scales, view(chosen)});
    each = add(product(used, width), GraphNode::kInPlace, {each, picked});
  }
  if (!is(Rules::kWeightsInputs))
    each = add(product(used, width), GraphNode::kInPlace, {each, weights});
  const uint64_t elements = product(rows_, width);
  Tensor sum = kNone;
  if (ffn.num_experts_per_tok <= 1) {
    sum = add(elements, 0, {view(each)});
  } else {
    sum = add(elements, 0, {view(each), view(each)});
    // Further experts are added in place; only the last one sets the others free.
    for (uint64_t i = 2; i < ffn.num_experts_per_tok; ++i)
      sum = add(elements, GraphNode::kInPlace, {sum, view(each)});
  }
  return sum;
}

}  // namespace vramgauge

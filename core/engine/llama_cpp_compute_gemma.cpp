// What only Gemma 3n and Gemma 4 have, in the graph of llama_cpp_compute_graph.h:
// src/models/gemma3n.cpp and gemma4.cpp.
#include <algorithm>
#include <variant>

#include "engine/llama_cpp_compute_graph.h"

namespace vramgauge {
namespace {

constexpr uint16_t kInPlace = GraphNode::kInPlace;
/// Layers of Gemma 3n whose feed-forward part keeps only large gates (n_layer_sparsity).
constexpr uint32_t kSparseLayers = 10;

constexpr std::string_view kLayerEmbeddings = "per_layer_token_embd.weight";

}  // namespace

/// The slices of all layers that a GPU computes are copied there in front of the first one; and
/// batches that overlap keep what attention on the host reads.
bool LlamaCppGraph::keeps_layer_copies() const {
  if (has_gpus() && lone_size(kLayerEmbeddings, 0) != 0) return true;
  return placement_.is_pipelined && attends_on_host();
}

/// Looks up a second embedding of every token, a slice for each layer.
void LlamaCppGraph::embed_per_layer(Tensor x) {
  const uint64_t width = lone_size(kLayerEmbeddings, 0);
  if (width == 0) return;
  per_layer_width_ = width / std::max<uint64_t>(model_.num_layers, 1);
  const uint64_t elements = product(width, tokens_);
  const auto host = static_cast<uint8_t>(num_gpus_);
  const Tensor ids = input(product(tokens_, 4));
  const Tensor rows = add(elements, 0, {ids}, {host, 0}, 0);
  per_layer_rows_ = add(elements, kInPlace, {view(rows)});
  per_layer_source_ = x;
}

/// The slices of all layers, mixed with the embedding; computed when the first layer reads its own.
LlamaCppGraph::Tensor LlamaCppGraph::per_layer_inputs() {
  if (per_layer_ != kNone) return per_layer_;
  const uint64_t elements = product(product(per_layer_width_, model_.num_layers), tokens_);
  const Tensor projected =
      add(elements, 0, {per_layer_source_}, lone_weight("per_layer_model_proj.weight"), tokens_);
  Tensor normed = add(elements, kInPlace, {view(projected)});
  if (has_gpus()) {
    normed = add(elements, kInPlace, {normed}, lone_weight("per_layer_proj_norm.weight"),
                 product(tokens_, model_.num_layers));
  }
  const Tensor sum = add(elements, kInPlace, {normed, view(per_layer_rows_)});
  per_layer_ = add(elements, 0, {view(sum)});
  return per_layer_;
}

/// The layer's slice, gated by its result.
LlamaCppGraph::Tensor LlamaCppGraph::gate_slice(Tensor x) {
  const uint64_t elements = product(per_layer_width_, tokens_);
  const Tensor gate = multiply("inp_gate", x, per_layer_width_, tokens_);
  const Tensor gated =
      add(elements, kInPlace, {gate, part(per_layer_inputs(), product(elements, 4))});
  return norm("post_norm", multiply("proj", gated, hidden_, tokens_), hidden_, tokens_);
}

LlamaCppGraph::Tensor LlamaCppGraph::gemma4_ffn(const Ffn& ffn, Tensor x) {
  const auto* moe = std::get_if<MoeFfn>(&ffn);
  if (moe == nullptr) return feed_forward(ffn, norm("ffn_norm", x, hidden_, rows_));
  // The router reads a norm of its own; dense and routed parts run side by side.
  const uint64_t elements = product(hidden_, rows_);
  Tensor router = add(elements, kInPlace, {x});
  if (has_gpus())
    router = add(elements, kInPlace, {router}, weight("ffn_gate_inp", ".scale"), rows_);
  Tensor chosen = kNone;
  const Tensor weights = route(*moe, router, chosen);
  const Tensor routed =
      mix_experts(*moe, norm("pre_ffw_norm_2", x, hidden_, rows_), weights, chosen);
  const uint64_t width = layer_size("ffn_gate", 1);
  const Tensor plain = dense("", norm("ffn_norm", x, hidden_, rows_), width, true, false);
  const Tensor plain_normed = norm("post_ffw_norm_1", plain, hidden_, rows_);
  const Tensor routed_normed = norm("post_ffw_norm_2", routed, hidden_, rows_);
  return add(elements, kInPlace, {plain_normed, routed_normed});
}

/// Square root of the sum of squares of each row.
LlamaCppGraph::Tensor LlamaCppGraph::magnitude(Tensor x, uint64_t streams) {
  const uint64_t rows = product(streams, tokens_);
  const Tensor squares = add(product(rows, hidden_), kInPlace, {x});
  return add(rows, 0, {squares});
}

/// Scales projections to the magnitude of another tensor, `like`.
LlamaCppGraph::Tensor LlamaCppGraph::match_magnitude(Tensor made, Tensor like, uint64_t streams) {
  const uint64_t elements = product(product(streams, hidden_), tokens_);
  const Tensor target = magnitude(like, 1);
  const Tensor scaled = add(elements, kInPlace, {made, target});
  const Tensor own = magnitude(made, streams);
  return add(elements, kInPlace, {scaled, own});
}

/// The embedding and its projections as parallel streams.
LlamaCppGraph::Tensor LlamaCppGraph::split_streams(Tensor x) {
  const uint64_t others = lone_size("altup_proj.weight", 2);
  streams_ = others + 1;
  const uint64_t elements = product(product(others, hidden_), tokens_);
  // The embedding is scaled here, when it is first read.
  x = add(product(tokens_, hidden_), kInPlace, {x});
  per_layer_source_ = x;
  const Tensor repeated = add(elements, 0, {x});
  const Tensor projected = add(elements, 0, {repeated}, lone_weight("altup_proj.weight"), tokens_);
  const Tensor made = match_magnitude(projected, x, others);
  return add(product(product(streams_, hidden_), tokens_), 0, {x, made});
}

LlamaCppGraph::Tensor LlamaCppGraph::join_streams(Tensor x) {
  const uint64_t others = streams_ - 1;
  const uint64_t elements = product(hidden_, tokens_);
  const Tensor projected = add(product(others, elements), 0, {view(x)},
                               lone_weight("altup_unembd_proj.weight"), tokens_);
  const Tensor made = match_magnitude(projected, view(x), others);
  Tensor sum = add(elements, 0, {view(x), view(made)});
  for (uint64_t i = 1; i < others; ++i)
    sum = add(elements, kInPlace, {sum, view(made)});
  rows_ = outputs_;
  return select(sum, hidden_);
}

/// The one copy of a weight that several nodes read; none when it lies where they run.
LlamaCppGraph::Tensor LlamaCppGraph::share(SharedWeight& slot, Weight& place) {
  if (!has_host_weights_ || place.home != num_gpus_) return kNone;
  if (slot.layer != layer_index_ || slot.tensor == kNone) {
    slot = {layer_index_, external(place.bytes, place.home)};
    nodes_.back().flags |= GraphNode::kSharedWeight;
  }
  place.bytes = 0;
  return slot.tensor;
}

/// How much each stream takes from the others.
LlamaCppGraph::Tensor LlamaCppGraph::modalities(Tensor x) {
  // A layer does this twice, with one copy of each weight.
  const uint64_t elements = product(hidden_, tokens_);
  Tensor normed = add(elements, kInPlace, {x});
  if (has_gpus()) {
    Weight place = weight("altup_router_norm");
    const Tensor shared = share(router_norm_, place);
    normed = add(elements, kInPlace, {normed, shared}, place, tokens_);
  }
  Weight place = weight("altup_router");
  const Tensor shared = share(router_, place);
  return add(product(streams_, tokens_), 0, {shared, normed}, place, tokens_);
}

LlamaCppGraph::Tensor LlamaCppGraph::gemma3n_layer(const Layer& spec, Tensor x) {
  const uint64_t one = product(hidden_, tokens_);
  const uint64_t all = product(streams_, one);
  const uint64_t rank = layer_size("laurel_l", 1);
  const Tensor permuted = add(all, 0, {view(x)});
  const Tensor coefficients =
      multiply("altup_predict_coef", modalities(view(x)), streams_ * streams_, tokens_);
  const Tensor mixed = add(all, 0, {permuted, view(coefficients)});
  const Tensor ordered = add(all, 0, {view(mixed)});
  const Tensor predictions = add(all, kInPlace, {ordered, x});

  const Tensor normed = norm("attn_norm", view(predictions), hidden_, tokens_);
  const auto* mixer = std::get_if<Attention>(&spec.mixers.front());
  if (mixer == nullptr) return x;
  const Tensor attended = project_output(attention(*mixer, normed));
  const Tensor post = norm("post_attention_norm", attended, hidden_, tokens_);
  const Tensor with_active = add(one, kInPlace, {post, view(predictions)});
  const Tensor thin = multiply("laurel_l", normed, rank, tokens_);
  const Tensor wide = multiply("laurel_r", thin, hidden_, tokens_);
  const Tensor laurel =
      add(one, kInPlace, {norm("laurel_post_norm", wide, hidden_, tokens_), normed});
  const Tensor middle = add(one, kInPlace, {with_active, laurel});

  const Tensor fed = gemma3n_ffn(spec.ffn, norm("ffn_norm", middle, hidden_, tokens_));
  const Tensor fed_normed = norm("post_ffw_norm", fed, hidden_, tokens_);
  const Tensor activated = add(one, kInPlace, {fed_normed, middle});

  const Tensor innovation = add(one, kInPlace, {activated, view(predictions)});
  const Tensor repeated = add(all, 0, {innovation});
  const Tensor correct = multiply("altup_correct_coef", modalities(activated), streams_, tokens_);
  const Tensor correct_rows = add(product(streams_, tokens_), 0, {view(correct)});
  const Tensor weighted = add(all, kInPlace, {repeated, correct_rows});
  const Tensor corrected = add(all, kInPlace, {weighted, predictions});

  const Tensor first =
      add(one, kInPlace, {view(corrected)}, weight("altup_correct_scale"), tokens_);
  const Tensor slice = gate_slice(first);
  const Tensor rest = add(product(streams_ - 1, one), kInPlace, {view(corrected), slice});
  return add(all, 0, {view(corrected), rest});
}

LlamaCppGraph::Tensor LlamaCppGraph::gemma3n_ffn(const Ffn& ffn, Tensor x) {
  const auto* plain = std::get_if<DenseFfn>(&ffn);
  const uint64_t width = plain != nullptr ? plain->intermediate_size : 0;
  const uint64_t elements = product(width, tokens_);
  const Tensor up = multiply("ffn_up", x, width, tokens_);
  Tensor gate = multiply("ffn_gate", x, width, tokens_);
  if (layer_index_ < kSparseLayers) {
    const Tensor mean = add(tokens_, 0, {gate});
    const Tensor off = add(elements, kInPlace, {gate, mean});
    const Tensor spread = add(tokens_, 0, {off});
    const Tensor cutoff = add(tokens_, kInPlace, {mean, spread});
    gate = add(elements, kInPlace, {gate, cutoff});
  }
  return multiply("ffn_down", add(elements, kInPlace, {up, gate}), hidden_, tokens_);
}

}  // namespace vramgauge

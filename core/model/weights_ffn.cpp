// Tensors of the feed-forward blocks.
#include "model/weights_layer.h"

namespace vramgauge {
namespace {

using Role = TensorRole;

void add_dense(LayerWeights& layer, const DenseFfn& ffn) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t width = ffn.intermediate_size;
  if (ffn.fused_gate_up) {
    layer.matrix("mlp.gate_up_proj", Role::mlp_up, 2 * width, hidden, ffn.bias);
  } else {
    if (ffn.is_gated) layer.matrix("mlp.gate_proj", Role::mlp_gate, width, hidden, ffn.bias);
    layer.matrix("mlp.up_proj", Role::mlp_up, width, hidden, ffn.bias);
  }
  layer.matrix("mlp.down_proj", Role::mlp_down, hidden, width, ffn.bias);
}

/// One projection of every expert, with its bias when the family has one.
void add_expert(LayerWeights& layer, const MoeFfn& moe, const std::string& name, Role role,
                uint64_t rows, uint64_t cols) {
  layer.experts(name, role, rows, cols, moe.num_experts, moe.num_experts_per_tok);
  if (moe.bias)
    layer.experts(name + ".bias", role, 1, rows, moe.num_experts, moe.num_experts_per_tok);
}

void add_shared(LayerWeights& layer, const MoeFfn& moe) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t width = moe.shared_intermediate_size;
  if (width == 0) return;
  if (moe.is_gated)
    layer.matrix("mlp.shared_experts.gate_proj", Role::shared_expert_gate, width, hidden);
  layer.matrix("mlp.shared_experts.up_proj", Role::shared_expert_up, width, hidden);
  layer.matrix("mlp.shared_experts.down_proj", Role::shared_expert_down, hidden, width);
  if (moe.has_shared_gate) layer.matrix("mlp.shared_expert_gate", Role::router, 1, hidden);
}

void add_moe(LayerWeights& layer, const MoeFfn& moe) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t expert_hidden = moe.expert_hidden_size != 0 ? moe.expert_hidden_size : hidden;
  const uint64_t width = moe.moe_intermediate_size;
  layer.matrix("mlp.gate", Role::router, moe.num_experts, hidden, moe.router_bias);
  if (moe.has_correction_bias)
    layer.vector("mlp.gate.e_score_correction_bias", Role::router, moe.num_experts);
  if (moe.is_gated)
    add_expert(layer, moe, "mlp.experts.gate_proj", Role::expert_gate, width, expert_hidden);
  add_expert(layer, moe, "mlp.experts.up_proj", Role::expert_up, width, expert_hidden);
  add_expert(layer, moe, "mlp.experts.down_proj", Role::expert_down, expert_hidden, width);
  add_shared(layer, moe);
}

}  // namespace

void add_ffn_weights(LayerWeights& layer, const Ffn& ffn) {
  if (const auto* dense = std::get_if<DenseFfn>(&ffn)) add_dense(layer, *dense);
  if (const auto* moe = std::get_if<MoeFfn>(&ffn)) add_moe(layer, *moe);
}

}  // namespace vramgauge

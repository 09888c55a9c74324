// Feed-forward blocks from the tensors of a GGUF layer.
#include "import/gguf_layers.h"

namespace vramgauge::gguf {
namespace {

/// True when every matrix that is there has a bias, which is then taken.
bool take_biases(LayerTensors& tensors, std::initializer_list<const char*> names) {
  bool has_all = true;
  for (const std::string name : names) {
    if (tensors.has(name + ".weight")) has_all = has_all && tensors.has(name + ".bias");
  }
  if (!has_all) return false;
  for (const std::string name : names)
    tensors.take(name + ".bias");
  return true;
}

DenseFfn read_dense(LayerTensors& tensors) {
  DenseFfn ffn;
  const GgufTensorInfo& up = *tensors.take("ffn_up.weight");
  const GgufTensorInfo& down = *tensors.take("ffn_down.weight");
  ffn.intermediate_size = down.dims[0];
  ffn.is_gated = tensors.claim("ffn_gate.weight");
  if (!ffn.is_gated && up.dims[1] == 2 * down.dims[0]) ffn.is_gated = ffn.fused_gate_up = true;
  ffn.bias = take_biases(tensors, {"ffn_gate", "ffn_up", "ffn_down"});
  return ffn;
}

DenseFfn read_channel_mixing(LayerTensors& tensors) {
  DenseFfn ffn;
  const GgufTensorInfo& value = *tensors.take("channel_mix_value.weight");
  tensors.take("channel_mix_key.weight");
  ffn.intermediate_size = value.dims[0];
  ffn.is_gated = false;
  return ffn;
}

void take_shared(LayerTensors& tensors, MoeFfn& moe) {
  if (const GgufTensorInfo* down = tensors.take("ffn_down_shexp.weight")) {
    moe.shared_intermediate_size = down->dims[0];
    tensors.take("ffn_up_shexp.weight");
    tensors.take("ffn_gate_shexp.weight");
    moe.has_shared_gate = tensors.claim("ffn_gate_inp_shexp.weight");
  } else if (const GgufTensorInfo* dense = tensors.take("ffn_down.weight")) {
    // A dense block beside the experts, which every token passes through.
    moe.shared_intermediate_size = dense->dims[0];
    tensors.take("ffn_up.weight");
    tensors.take("ffn_gate.weight");
  }
}

/// Experts that an old file lists one by one.
void take_listed_experts(LayerTensors& tensors, MoeFfn& moe) {
  const GgufTensorInfo* down = tensors.take_all("ffn_down.");
  tensors.take_all("ffn_up.");
  moe.is_gated = tensors.take_all("ffn_gate.") != nullptr;
  moe.moe_intermediate_size = down == nullptr ? 0 : down->dims[0];
}

void take_stacked_experts(LayerContext& context, LayerTensors& tensors, MoeFfn& moe) {
  const GgufTensorInfo& down = *tensors.take("ffn_down_exps.weight");
  check_width(context, down, down.dims[2], "expert_count", moe.num_experts);
  moe.moe_intermediate_size = down.dims[0];
  if (down.dims[1] != context.hidden_size) moe.expert_hidden_size = down.dims[1];
  const bool has_fused = tensors.claim("ffn_gate_up_exps.weight");
  tensors.take("ffn_up_exps.weight");
  moe.is_gated = tensors.claim("ffn_gate_exps.weight") || has_fused;
  moe.bias = take_biases(tensors, {"ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"});
}

MoeFfn read_moe(LayerContext& context, LayerTensors& tensors) {
  MoeFfn moe;
  moe.num_experts = context.keys.require("expert_count", kMaxHeads);
  moe.num_experts_per_tok = context.keys.require("expert_used_count", kMaxHeads);
  if (tensors.has("ffn_down_exps.weight")) {
    take_stacked_experts(context, tensors, moe);
  } else {
    take_listed_experts(tensors, moe);
  }
  if (tensors.claim("ffn_gate_inp.weight")) moe.router_bias = tensors.claim("ffn_gate_inp.bias");
  moe.has_correction_bias =
      tensors.claim("exp_probs_b.bias") || tensors.claim("exp_probs_b.weight");
  take_shared(tensors, moe);
  return moe;
}

}  // namespace

Ffn read_ffn(LayerContext& context, LayerTensors& tensors) {
  if (tensors.has("ffn_down_exps.weight") || tensors.has("ffn_down.0.weight"))
    return read_moe(context, tensors);
  if (tensors.has("ffn_up.weight") && tensors.has("ffn_down.weight")) return read_dense(tensors);
  if (tensors.has("channel_mix_value.weight")) return read_channel_mixing(tensors);
  return {};
}

}  // namespace vramgauge::gguf

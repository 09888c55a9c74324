// Recurrent mixers from the tensors of a GGUF layer.
#include "import/gguf_layers.h"

namespace vramgauge::gguf {
namespace {

Mamba1 read_mamba1(LayerContext& context, LayerTensors& tensors) {
  Mamba1 mamba;
  const GgufTensorInfo& in = *tensors.take("ssm_in.weight");
  mamba.d_inner = in.dims[1] / 2;
  check_width(context, in, mamba.d_inner, "ssm.inner_size", context.keys.require("ssm.inner_size"));
  mamba.d_state = context.keys.require("ssm.state_size");
  mamba.d_conv = context.keys.require("ssm.conv_kernel");
  mamba.dt_rank = context.keys.require("ssm.time_step_rank");
  const GgufTensorInfo& x = *tensors.take("ssm_x.weight");
  check_width(context, x, x.dims[1], "ssm.state_size", mamba.dt_rank + 2 * mamba.d_state);
  for (const std::string_view name :
       {"ssm_dt.weight", "ssm_dt.bias", "ssm_a", "ssm_d", "ssm_conv1d.weight", "ssm_out.weight"}) {
    tensors.take(name);
  }
  mamba.conv_bias = tensors.claim("ssm_conv1d.bias");
  mamba.proj_bias = tensors.claim("ssm_in.bias") && tensors.claim("ssm_out.bias");
  mamba.has_inner_norms = tensors.claim("ssm_dt_norm.weight") &&
                          tensors.claim("ssm_b_norm.weight") && tensors.claim("ssm_c_norm.weight");
  return mamba;
}

Mamba2 read_mamba2(LayerContext& context, LayerTensors& tensors) {
  Keys& keys = context.keys;
  Mamba2 mamba;
  const uint64_t d_inner = keys.require("ssm.inner_size");
  mamba.num_heads = keys.require("ssm.time_step_rank", kMaxHeads);
  mamba.head_dim = mamba.num_heads == 0 ? 0 : d_inner / mamba.num_heads;
  mamba.num_groups = keys.find("ssm.group_count", kMaxHeads).value_or(1);
  mamba.d_state = keys.require("ssm.state_size");
  mamba.d_conv = keys.require("ssm.conv_kernel");
  const GgufTensorInfo& in = *tensors.take("ssm_in.weight");
  check_width(context, in, in.dims[1], "ssm.inner_size",
              2 * mamba.num_heads * mamba.head_dim + 2 * mamba.num_groups * mamba.d_state +
                  mamba.num_heads);
  for (const std::string_view name :
       {"ssm_a", "ssm_d", "ssm_dt.bias", "ssm_conv1d.weight", "ssm_out.weight"}) {
    tensors.take(name);
  }
  mamba.conv_bias = tensors.claim("ssm_conv1d.bias");
  mamba.proj_bias = tensors.claim("ssm_in.bias") && tensors.claim("ssm_out.bias");
  mamba.has_gated_norm = tensors.claim("ssm_norm.weight");
  return mamba;
}

/// Value heads are counted by the time steps, key heads by the groups.
GatedDelta read_gated_delta(LayerContext& context, LayerTensors& tensors) {
  Keys& keys = context.keys;
  GatedDelta delta;
  delta.num_v_heads = keys.require("ssm.time_step_rank", kMaxHeads);
  delta.num_k_heads = keys.require("ssm.group_count", kMaxHeads);
  delta.k_head_dim = keys.require("ssm.state_size");
  const uint64_t v_width = keys.require("ssm.inner_size");
  delta.v_head_dim = delta.num_v_heads == 0 ? 0 : v_width / delta.num_v_heads;
  delta.d_conv = keys.require("ssm.conv_kernel");
  delta.fused_projections = tensors.claim("ssm_ba.weight");
  const uint64_t qkv_rows = 2 * delta.num_k_heads * delta.k_head_dim + v_width;
  if (const GgufTensorInfo* qkv = tensors.take("attn_qkv.weight"))
    check_width(context, *qkv, qkv->dims[1], "ssm.inner_size", qkv_rows);
  if (const GgufTensorInfo* all = tensors.take("ssm_in.weight"))
    check_width(context, *all, all->dims[1], "ssm.inner_size", qkv_rows + v_width);
  for (const std::string_view name :
       {"attn_gate.weight", "ssm_alpha.weight", "ssm_beta.weight", "ssm_a", "ssm_dt.bias",
        "ssm_conv1d.weight", "ssm_norm.weight", "ssm_out.weight"}) {
    tensors.take(name);
  }
  return delta;
}

GatedDelta read_kimi_delta(LayerContext& context, LayerTensors& tensors, uint64_t layer) {
  GatedDelta delta;
  delta.num_k_heads = delta.num_v_heads =
      context.keys.find_at("attention.head_count", layer, kMaxHeads).value_or(0);
  delta.k_head_dim = delta.v_head_dim = context.keys.require("kda.head_dim");
  delta.d_conv = context.keys.require("ssm.conv_kernel");
  delta.is_channel_wise = true;
  const GgufTensorInfo& conv = *tensors.take("ssm_conv1d_q.weight");
  check_width(context, conv, conv.elements(), "kda.head_dim",
              delta.num_k_heads * delta.k_head_dim * delta.d_conv);
  for (const std::string_view name :
       {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight",
        "ssm_conv1d_k.weight", "ssm_conv1d_v.weight", "ssm_a", "ssm_dt.bias", "ssm_beta.weight",
        "ssm_f_a.weight", "ssm_f_b.weight", "ssm_g_a.weight", "ssm_g_b.weight",
        "ssm_norm.weight"}) {
    tensors.take(name);
  }
  return delta;
}

ShortConv read_short_conv(LayerContext& context, LayerTensors& tensors) {
  ShortConv conv;
  const GgufTensorInfo& taps = *tensors.take("shortconv.conv.weight");
  conv.dim = taps.dims[1];
  conv.d_conv = context.keys.require("shortconv.l_cache");
  check_width(context, taps, taps.dims[0], "shortconv.l_cache", conv.d_conv);
  conv.has_projections =
      tensors.claim("shortconv.in_proj.weight") && tensors.claim("shortconv.out_proj.weight");
  return conv;
}

/// Elements of a factor's second matrix per output feature; 0 when the layer has none.
uint64_t rank_of(const LayerTensors& tensors, std::string_view second) {
  const GgufTensorInfo* factor = tensors.find(second);
  return factor == nullptr ? 0 : factor->dims[0];
}

Rwkv read_rwkv(LayerContext& context, LayerTensors& tensors) {
  Rwkv rwkv;
  const bool is_7 = tensors.has("time_mix_a0.weight");
  rwkv.version = is_7 ? 7 : 6;
  rwkv.hidden_size = context.hidden_size;
  rwkv.head_dim = context.keys.require("wkv.head_size");
  rwkv.num_heads = rwkv.head_dim == 0 ? 0 : rwkv.hidden_size / rwkv.head_dim;
  if (is_7) {
    rwkv.decay_rank = rank_of(tensors, "time_mix_w2.weight");
    rwkv.learning_rate_rank = rank_of(tensors, "time_mix_a2.weight");
    rwkv.value_rank = rank_of(tensors, "time_mix_v2.weight");
    rwkv.gate_rank = rank_of(tensors, "time_mix_g2.weight");
  } else {
    rwkv.mix_rank = context.keys.require("rwkv.time_mix_extra_dim");
    rwkv.decay_rank = context.keys.require("rwkv.time_decay_extra_dim");
  }
  tensors.take_all("time_mix_");
  return rwkv;
}

}  // namespace

std::optional<Mixer> read_recurrent(LayerContext& context, LayerTensors& tensors, uint64_t layer) {
  if (tensors.has("ssm_conv1d_q.weight")) return read_kimi_delta(context, tensors, layer);
  if (tensors.has("ssm_ba.weight") || tensors.has("ssm_alpha.weight"))
    return read_gated_delta(context, tensors);
  const bool has_input = tensors.has("ssm_in.weight");
  if (has_input && tensors.has("ssm_x.weight")) return read_mamba1(context, tensors);
  if (has_input) return read_mamba2(context, tensors);
  if (tensors.has("shortconv.conv.weight")) return read_short_conv(context, tensors);
  if (tensors.has("time_mix_key.weight")) return read_rwkv(context, tensors);
  return std::nullopt;
}

}  // namespace vramgauge::gguf

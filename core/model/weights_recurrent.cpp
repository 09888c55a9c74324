// Tensors of the recurrent mixers, named as transformers names them.
#include "model/weights_layer.h"

namespace vramgauge {
namespace {

constexpr TensorRole kRole = TensorRole::recurrent;

/// A depthwise convolution: `taps` weights per channel, never quantised.
void add_conv(LayerWeights& layer, std::string_view name, uint64_t channels, uint64_t taps,
              bool bias) {
  layer.plain(name, kRole, channels, taps);
  if (bias) layer.vector(std::string(name) + ".bias", kRole, channels);
}

}  // namespace

void add_mixer_weights(LayerWeights& layer, const Mamba1& m) {
  const uint64_t hidden = layer.hidden_size();
  layer.matrix("mamba.in_proj", kRole, 2 * m.d_inner, hidden, m.proj_bias);
  add_conv(layer, "mamba.conv1d", m.d_inner, m.d_conv, m.conv_bias);
  layer.matrix("mamba.x_proj", kRole, m.dt_rank + 2 * m.d_state, m.d_inner);
  layer.matrix("mamba.dt_proj", kRole, m.d_inner, m.dt_rank, true);
  layer.plain("mamba.A_log", kRole, m.d_inner, m.d_state);
  layer.vector("mamba.D", kRole, m.d_inner);
  layer.matrix("mamba.out_proj", kRole, hidden, m.d_inner, m.proj_bias);
  if (!m.has_inner_norms) return;
  layer.vector("mamba.dt_layernorm", TensorRole::norm, m.dt_rank);
  layer.vector("mamba.b_layernorm", TensorRole::norm, m.d_state);
  layer.vector("mamba.c_layernorm", TensorRole::norm, m.d_state);
}

void add_mixer_weights(LayerWeights& layer, const Mamba2& m) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t d_inner = m.num_heads * m.head_dim;
  const uint64_t conv_dim = d_inner + 2 * m.num_groups * m.d_state;
  layer.matrix("mamba.in_proj", kRole, d_inner + conv_dim + m.num_heads, hidden, m.proj_bias);
  add_conv(layer, "mamba.conv1d", conv_dim, m.d_conv, m.conv_bias);
  layer.vector("mamba.A_log", kRole, m.num_heads);
  layer.vector("mamba.D", kRole, m.num_heads);
  layer.vector("mamba.dt_bias", kRole, m.num_heads);
  if (m.has_gated_norm) layer.vector("mamba.norm", TensorRole::norm, d_inner);
  layer.matrix("mamba.out_proj", kRole, hidden, d_inner, m.proj_bias);
}

namespace {

/// Gated delta net: one decay and one learning rate per value head.
void add_gated_delta(LayerWeights& layer, const GatedDelta& m) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t k_width = m.num_k_heads * m.k_head_dim;
  const uint64_t v_width = m.num_v_heads * m.v_head_dim;
  if (m.fused_projections) {
    layer.matrix("linear_attn.in_proj_qkvz", kRole, 2 * k_width + 2 * v_width, hidden);
    layer.matrix("linear_attn.in_proj_ba", kRole, 2 * m.num_v_heads, hidden);
  } else {
    layer.matrix("linear_attn.in_proj_qkv", kRole, 2 * k_width + v_width, hidden);
    layer.matrix("linear_attn.in_proj_z", kRole, v_width, hidden);
    layer.matrix("linear_attn.in_proj_b", kRole, m.num_v_heads, hidden);
    layer.matrix("linear_attn.in_proj_a", kRole, m.num_v_heads, hidden);
  }
  add_conv(layer, "linear_attn.conv1d", 2 * k_width + v_width, m.d_conv, false);
  layer.vector("linear_attn.dt_bias", kRole, m.num_v_heads);
  layer.vector("linear_attn.A_log", kRole, m.num_v_heads);
  layer.vector("linear_attn.norm", TensorRole::norm, m.v_head_dim);
  layer.matrix("linear_attn.out_proj", kRole, hidden, v_width);
}

/// A product of two thin matrices through head_dim, as Kimi delta attention makes its decay and
/// gate.
void add_thin_pair(LayerWeights& layer, const std::string& name, uint64_t rank, uint64_t width) {
  layer.matrix("self_attn." + name + "_a_proj", kRole, rank, layer.hidden_size());
  layer.matrix("self_attn." + name + "_b_proj", kRole, width, rank);
}

/// Kimi delta attention: a decay per channel.
void add_kimi_delta(LayerWeights& layer, const GatedDelta& m) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t k_width = m.num_k_heads * m.k_head_dim;
  const uint64_t v_width = m.num_v_heads * m.v_head_dim;
  layer.matrix("self_attn.q_proj", kRole, k_width, hidden);
  layer.matrix("self_attn.k_proj", kRole, k_width, hidden);
  layer.matrix("self_attn.v_proj", kRole, v_width, hidden);
  add_conv(layer, "self_attn.q_conv1d", k_width, m.d_conv, false);
  add_conv(layer, "self_attn.k_conv1d", k_width, m.d_conv, false);
  add_conv(layer, "self_attn.v_conv1d", v_width, m.d_conv, false);
  layer.vector("self_attn.A_log", kRole, m.num_v_heads);
  add_thin_pair(layer, "f", m.v_head_dim, k_width);
  layer.vector("self_attn.dt_bias", kRole, k_width);
  layer.matrix("self_attn.b_proj", kRole, m.num_v_heads, hidden);
  if (m.has_full_rank_gate) {
    layer.matrix("self_attn.g_proj", kRole, v_width, hidden);
  } else {
    add_thin_pair(layer, "g", m.v_head_dim, v_width);
  }
  layer.vector("self_attn.o_norm", TensorRole::norm, m.v_head_dim);
  layer.matrix("self_attn.o_proj", kRole, hidden, v_width);
}

}  // namespace

void add_mixer_weights(LayerWeights& layer, const GatedDelta& m) {
  if (m.is_channel_wise) {
    add_kimi_delta(layer, m);
  } else {
    add_gated_delta(layer, m);
  }
}

void add_mixer_weights(LayerWeights& layer, const LinearAttention& m) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t width = m.num_heads * m.head_dim;
  layer.matrix("self_attn.qkv_proj", kRole, 3 * width, hidden);
  layer.matrix("self_attn.output_gate", kRole, width, hidden);
  layer.vector("self_attn.norm", TensorRole::norm, width);
  layer.matrix("self_attn.out_proj", kRole, hidden, width);
}

void add_mixer_weights(LayerWeights& layer, const ShortConv& m) {
  const uint64_t hidden = layer.hidden_size();
  if (m.has_projections) layer.matrix("conv.in_proj", kRole, 3 * m.dim, hidden, m.bias);
  add_conv(layer, "conv.conv", m.dim, m.d_conv, m.bias);
  if (m.has_projections) layer.matrix("conv.out_proj", kRole, hidden, m.dim, m.bias);
}

namespace {

/// An adapter of two matrices around `rank` features, with the vector it is added to.
void add_adapter(LayerWeights& layer, std::string_view vector, std::string_view name, uint64_t rank,
                 uint64_t width) {
  if (rank == 0) return;
  if (!vector.empty()) layer.vector(vector, kRole, width);
  layer.plain(std::string(name) + "1", kRole, layer.hidden_size(), rank);
  layer.plain(std::string(name) + "2", kRole, rank, width);
}

void add_square_projections(LayerWeights& layer, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    layer.matrix("attention." + std::string(name), kRole, layer.hidden_size(), layer.hidden_size());
  }
}

/// Version 4: decay and first-token bonus per channel, no group norm, no gate.
void add_rwkv4(LayerWeights& layer) {
  const uint64_t hidden = layer.hidden_size();
  layer.vector("attention.time_decay", kRole, hidden);
  layer.vector("attention.time_first", kRole, hidden);
  layer.plain("attention.time_mix", kRole, 3, hidden);
  add_square_projections(layer, {"key", "value", "receptance", "output"});
}

/// Version 5.2 (Eagle): as 4 with a gate, a group norm and a matrix-valued state.
void add_rwkv5(LayerWeights& layer) {
  const uint64_t hidden = layer.hidden_size();
  layer.vector("attention.time_decay", kRole, hidden);
  layer.vector("attention.time_faaaa", kRole, hidden);
  layer.plain("attention.time_mix", kRole, 4, hidden);
  add_square_projections(layer, {"key", "value", "receptance", "gate", "output"});
  layer.vector("attention.ln_x", TensorRole::norm, hidden);
  layer.vector("attention.ln_x.bias", TensorRole::norm, hidden);
}

/// Version 6 (Finch): the five mixes and the decay depend on the data through adapters.
void add_rwkv6(LayerWeights& layer, const Rwkv& m) {
  constexpr uint64_t kMixes = 5;
  const uint64_t hidden = layer.hidden_size();
  layer.plain("attention.time_maa", kRole, kMixes + 1, hidden);
  layer.plain("attention.time_maa_w1", kRole, hidden, kMixes * m.mix_rank);
  layer.plain("attention.time_maa_w2", kRole, kMixes * m.mix_rank, hidden);
  add_adapter(layer, "attention.time_decay", "attention.time_decay_w", m.decay_rank, hidden);
  layer.vector("attention.time_faaaa", kRole, hidden);
  add_square_projections(layer, {"key", "value", "receptance", "gate", "output"});
  layer.vector("attention.ln_x", TensorRole::norm, hidden);
  layer.vector("attention.ln_x.bias", TensorRole::norm, hidden);
}

/// Version 7 (Goose): decay, in-context learning rate, value residual and gate are adapters.
void add_rwkv7(LayerWeights& layer, const Rwkv& m) {
  constexpr uint64_t kMixes = 6;
  const uint64_t hidden = layer.hidden_size();
  layer.plain("attn.x", kRole, kMixes, hidden);
  layer.vector("attn.k_k", kRole, hidden);
  layer.vector("attn.k_a", kRole, hidden);
  layer.vector("attn.r_k", kRole, hidden);
  add_square_projections(layer, {"r_proj", "k_proj", "v_proj", "o_proj"});
  add_adapter(layer, "attn.w0", "attn.w", m.decay_rank, hidden);
  add_adapter(layer, "attn.a0", "attn.a", m.learning_rate_rank, hidden);
  add_adapter(layer, "attn.v0", "attn.v", m.value_rank, hidden);
  add_adapter(layer, "", "attn.g", m.gate_rank, hidden);
  layer.vector("attn.g_norm", TensorRole::norm, hidden);
  layer.vector("attn.g_norm.bias", TensorRole::norm, hidden);
}

}  // namespace

void add_mixer_weights(LayerWeights& layer, const Rwkv& m) {
  if (m.version == 4) add_rwkv4(layer);
  if (m.version == 5) add_rwkv5(layer);
  if (m.version == 6) add_rwkv6(layer, m);
  if (m.version == 7) add_rwkv7(layer, m);
}

void add_mixer_weights(LayerWeights& layer, const GatedLru& m) {
  const uint64_t hidden = layer.hidden_size();
  const uint64_t block = m.num_heads == 0 ? m.width : m.width / m.num_heads;
  layer.matrix("temporal_block.linear_y", kRole, m.width, hidden, true);
  layer.matrix("temporal_block.linear_x", kRole, m.width, hidden, true);
  layer.matrix("temporal_block.linear_out", kRole, hidden, m.width, true);
  add_conv(layer, "temporal_block.conv_1d", m.width, m.d_conv, true);
  layer.vector("temporal_block.rg_lru.recurrent_param", kRole, m.width);
  for (const std::string_view gate : {"input_gate", "recurrent_gate"}) {
    const std::string name = "temporal_block.rg_lru." + std::string(gate);
    layer.plain(name + "_weight", kRole, m.width, block);
    layer.vector(name + "_bias", kRole, m.width);
  }
}

}  // namespace vramgauge

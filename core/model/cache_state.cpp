#include "model/cache_state.h"

// Shapes: MambaStateShapeCalculator in vLLM (vllm/model_executor/layers/mamba/mamba_utils.py),
// which llama.cpp's n_embd_r and n_embd_s agree with; RWKV: llama.cpp and transformers;
// RecurrentGemma: transformers; compressor: inference/model.py of DeepSeek-V4.
namespace vramgauge {
namespace {

constexpr CheckedU64 kOne = uint64_t{1};
constexpr CheckedU64 kTwo = uint64_t{2};
constexpr CheckedU64 kThree = uint64_t{3};
/// DeepSeek-V4 overlaps neighbouring entries only at this ratio.
constexpr uint64_t kOverlappingRatio = 4;

/// Tokens that a causal convolution looks back on.
CheckedU64 conv_tail(uint64_t d_conv) {
  return d_conv == 0 ? CheckedU64() : CheckedU64(d_conv - 1);
}

}  // namespace

StateShape state_shape(const Mamba1& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 channels = ceil_div(mixer.d_inner, tensor_parallel);
  return {"mamba1", conv_tail(mixer.d_conv) * channels, channels * mixer.d_state};
}

StateShape state_shape(const Mamba2& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 heads = ceil_div(mixer.num_heads, tensor_parallel);
  const CheckedU64 groups = ceil_div(mixer.num_groups, tensor_parallel);
  const CheckedU64 channels = heads * mixer.head_dim;
  return {"mamba2", conv_tail(mixer.d_conv) * (channels + kTwo * groups * mixer.d_state),
          channels * mixer.d_state};
}

StateShape state_shape(const GatedDelta& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 k_heads = ceil_div(mixer.num_k_heads, tensor_parallel);
  const CheckedU64 v_heads = ceil_div(mixer.num_v_heads, tensor_parallel);
  const CheckedU64 v_width = v_heads * mixer.v_head_dim;
  const std::string_view name = mixer.is_channel_wise ? "kimi_delta" : "gated_delta";
  return {name, conv_tail(mixer.d_conv) * (kTwo * k_heads * mixer.k_head_dim + v_width),
          v_width * mixer.k_head_dim};
}

StateShape state_shape(const LinearAttention& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 heads = ceil_div(mixer.num_heads, tensor_parallel);
  return {"linear_attention", CheckedU64(), heads * mixer.head_dim * mixer.head_dim};
}

StateShape state_shape(const ShortConv& mixer, CheckedU64 tensor_parallel) {
  return {"short_conv", conv_tail(mixer.d_conv) * ceil_div(mixer.dim, tensor_parallel),
          CheckedU64()};
}

StateShape state_shape(const Rwkv& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 shift = kTwo * mixer.hidden_size;
  if (mixer.version == 4)
    return {"rwkv", shift, kThree * ceil_div(mixer.hidden_size, tensor_parallel)};
  const CheckedU64 heads = ceil_div(mixer.num_heads, tensor_parallel);
  return {"rwkv", shift, heads * mixer.head_dim * mixer.head_dim};
}

StateShape state_shape(const GatedLru& mixer, CheckedU64 tensor_parallel) {
  const CheckedU64 channels = ceil_div(mixer.width, tensor_parallel);
  return {"gated_lru", conv_tail(mixer.d_conv) * channels, channels};
}

CheckedU64 compressor_state_elements(CheckedU64 width, uint64_t compress_ratio) {
  const CheckedU64 overlap = compress_ratio == kOverlappingRatio ? kTwo : kOne;
  const CheckedU64 tokens = overlap * compress_ratio;
  const CheckedU64 key_and_score = kTwo * overlap * width;
  return tokens * key_and_score;
}

}  // namespace vramgauge

// Audio towers: Whisper's encoder and those who build on it, Gemma 4's conformer.
#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {

void whisper_encoder(TowerBuilder& builder, const WhisperShape& shape) {
  constexpr uint64_t kConvTaps = 3;
  const uint64_t hidden = shape.hidden_size;
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = shape.intermediate_size;
  layer.has_k_bias = false;
  builder.conv("conv1", hidden, shape.num_mel_bins * kConvTaps, true);
  builder.conv("conv2", hidden, hidden * kConvTaps, true);
  builder.table("embed_positions", shape.max_source_positions, hidden);
  add_encoder_layers(builder, layer, shape.num_layers);
  builder.norm("layer_norm", hidden, true);
}

namespace {

WhisperShape read_whisper_shape(TowerDims& dims) {
  WhisperShape shape;
  shape.hidden_size = dims.dim({"d_model", "hidden_size"}, 1280);
  shape.intermediate_size = dims.dim({"encoder_ffn_dim", "intermediate_size"}, 5120);
  shape.num_layers = dims.few({"encoder_layers", "num_hidden_layers"}, 32);
  shape.num_mel_bins = dims.few({"num_mel_bins"}, 128);
  shape.max_source_positions = dims.dim({"max_source_positions"}, 1500);
  return shape;
}

}  // namespace

void qwen2_audio_tower(const TowerInput& input) {
  const WhisperShape shape = read_whisper_shape(input.dims);
  whisper_encoder(input.builder, shape);
  input.builder.section("multi_modal_projector", TensorRole::projector);
  input.builder.linear("linear", shape.hidden_size, input.text_hidden_size, true);
}

void voxtral_tower(const TowerInput& input) {
  const WhisperShape shape = read_whisper_shape(input.dims);
  whisper_encoder(input.builder, shape);
  input.builder.section("multi_modal_projector", TensorRole::projector);
  input.builder.linear("linear_1", shape.intermediate_size, input.text_hidden_size, false);
  input.builder.linear("linear_2", input.text_hidden_size, input.text_hidden_size, false);
}

namespace {

/// Feed-forward, attention and convolution of one conformer layer of Gemma 4; the clipping limits
/// of its linear layers are scalars and not counted as parameters.
void add_gemma4_conformer(TowerBuilder& builder, uint64_t hidden, uint64_t head_dim,
                          uint64_t taps) {
  for (const std::string_view name : {"feed_forward1", "feed_forward2"}) {
    const std::string prefix = "layers.*." + std::string(name);
    builder.linear(prefix + ".ffw_layer_1", hidden, 4 * hidden, false);
    builder.linear(prefix + ".ffw_layer_2", 4 * hidden, hidden, false);
    builder.table(prefix + ".norms", 2, hidden);
  }
  for (const std::string_view name : {"q_proj", "k_proj", "v_proj", "post", "relative_k_proj"}) {
    builder.linear("layers.*.self_attn." + std::string(name), hidden, hidden, false);
  }
  builder.vector("layers.*.self_attn.per_dim_scale", head_dim);
  builder.linear("layers.*.lconv1d.linear_start", hidden, 2 * hidden, false);
  builder.linear("layers.*.lconv1d.linear_end", hidden, hidden, false);
  builder.conv("layers.*.lconv1d.depthwise_conv1d", hidden, taps, false);
  builder.table("layers.*.lconv1d.norms", 2, hidden);
  builder.table("layers.*.norms", 3, hidden);
}

}  // namespace

void gemma4_audio_tower(const TowerInput& input) {
  // Two 3 x 3 convolutions of these widths by default; the released towers share them.
  constexpr uint64_t kFilter = 9;
  constexpr uint64_t kFirstChannels = 128;
  constexpr uint64_t kSecondChannels = 32;
  TowerDims& dims = input.dims;
  TowerBuilder& builder = input.builder;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1024);
  const uint64_t heads = dims.few({"num_attention_heads"}, 8);
  const uint64_t out = dims.dim({"output_proj_dims"}, 1536);
  builder.conv("subsample_conv.layer0", kFirstChannels, kFilter, false);
  builder.vector("subsample_conv.layer0.norm", kFirstChannels);
  builder.conv("subsample_conv.layer1", kSecondChannels, kFilter * kFirstChannels, false);
  builder.vector("subsample_conv.layer1.norm", kSecondChannels);
  builder.linear("subsample_conv.input_proj", kFirstChannels / 4 * kSecondChannels, hidden, false);
  builder.repeat(dims.few({"num_hidden_layers"}, 12));
  add_gemma4_conformer(builder, hidden, hidden / heads, dims.few({"conv_kernel_size"}, 5));
  builder.repeat(1);
  builder.linear("output_proj", hidden, out, true);
  builder.section("embed_audio", TensorRole::projector);
  builder.linear("embedding_projection", out, input.text_hidden_size, false);
}

}  // namespace vramgauge::hf

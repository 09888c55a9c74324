// Plain vision transformers (CLIP, SigLIP, Pixtral, InternViT), and the models that join them to a
// decoder with a small projector.
#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {
namespace {

constexpr TensorRole kProjector = TensorRole::projector;

/// Two linear layers from the tower's features to the decoder's.
void add_mlp_projector(TowerBuilder& builder, uint64_t in, uint64_t out, bool has_bias) {
  builder.section("multi_modal_projector", kProjector);
  builder.linear("linear_1", in, out, has_bias);
  builder.linear("linear_2", out, out, has_bias);
}

uint64_t patch_elements(uint64_t channels, uint64_t patch_size) {
  return channels * patch_size * patch_size;
}

}  // namespace

void clip_encoder(const TowerInput& input) {
  // Defaults: ViT-L/14 at 336 pixels, which LlavaConfig takes for a missing vision_config.
  const uint64_t hidden = input.dims.dim({"hidden_size"}, 1024);
  const uint64_t patch = input.dims.few({"patch_size"}, 14);
  const uint64_t patches = num_patches(input.dims.side("image_size", 336), patch);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = input.dims.dim({"intermediate_size"}, 4096);

  input.builder.vector("embeddings.class_embedding", hidden);
  input.builder.conv("embeddings.patch_embedding", hidden,
                     patch_elements(input.dims.few({"num_channels"}, 3), patch), false);
  input.builder.table("embeddings.position_embedding", patches + 1, hidden);
  input.builder.norm("pre_layrnorm", hidden, true);
  add_encoder_layers(input.builder, layer, input.dims.few({"num_hidden_layers"}, 24));
  input.builder.norm("post_layernorm", hidden, true);
}

namespace {

/// Attention pooling over the patches, with one learned query.
void add_siglip_head(TowerBuilder& builder, const EncoderLayer& layer) {
  const uint64_t hidden = layer.hidden_size;
  builder.vector("head.probe", hidden);
  builder.linear("head.attention.in_proj", hidden, 3 * hidden, true);
  builder.linear("head.attention.out_proj", hidden, hidden, true);
  builder.norm("head.layernorm", hidden, true);
  builder.linear("head.mlp.fc1", hidden, layer.intermediate_size, true);
  builder.linear("head.mlp.fc2", layer.intermediate_size, hidden, true);
}

}  // namespace

void siglip_encoder(const TowerInput& input, bool drop_last_layer, bool head_by_default) {
  const uint64_t hidden = input.dims.dim({"hidden_size"});
  const uint64_t patch = input.dims.few({"patch_size"});
  const uint64_t patches = num_patches(input.dims.side("image_size"), patch);
  const uint64_t layers = input.dims.few({"num_hidden_layers"});
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = input.dims.dim({"intermediate_size"});

  input.builder.conv("embeddings.patch_embedding", hidden,
                     patch_elements(input.dims.few({"num_channels"}, 3), patch), true);
  input.builder.table("embeddings.position_embedding", patches, hidden);
  add_encoder_layers(input.builder, layer, drop_last_layer ? layers - 1 : layers);
  input.builder.norm("post_layernorm", hidden, true);
  if (input.dims.flag("vision_use_head", head_by_default)) add_siglip_head(input.builder, layer);
}

void pixtral_encoder(const TowerInput& input) {
  const uint64_t hidden = input.dims.dim({"hidden_size"}, 1024);
  const uint64_t heads = input.dims.few({"num_attention_heads"}, 16);
  const uint64_t patch = input.dims.few({"patch_size"}, 16);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = input.dims.dim({"intermediate_size"}, 4096);
  layer.q_width = layer.kv_width = heads * input.dims.dim({"head_dim"}, hidden / heads);
  layer.qkv_bias = layer.o_bias = layer.mlp_bias = layer.norm_bias = false;
  layer.is_gated = true;

  input.builder.conv("patch_conv", hidden,
                     patch_elements(input.dims.few({"num_channels"}, 3), patch), false);
  input.builder.norm("ln_pre", hidden, false);
  add_encoder_layers(input.builder, layer, input.dims.few({"num_hidden_layers"}, 24));
}

void intern_vit_encoder(const TowerInput& input) {
  const uint64_t hidden = input.dims.dim({"hidden_size"});
  const uint64_t patch = input.dims.few({"patch_size"}, 14);
  const uint64_t patches = num_patches(input.dims.side("image_size"), patch);
  const uint64_t layers = input.dims.few({"num_hidden_layers"});
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = input.dims.dim({"intermediate_size"});
  layer.fused_qkv = true;
  layer.qkv_bias = input.dims.flag("qkv_bias", input.dims.flag("attention_bias", true));
  layer.norm_bias = input.dims.text("norm_type") != "rms_norm";

  input.builder.vector("embeddings.class_embedding", hidden);
  input.builder.conv("embeddings.patch_embedding", hidden,
                     patch_elements(input.dims.few({"num_channels"}, 3), patch), true);
  input.builder.table("embeddings.position_embedding", patches + 1, hidden);
  add_encoder_layers(input.builder, layer, layers);
  input.builder.repeat(layers);
  input.builder.vector("layers.*.ls1", hidden);
  input.builder.vector("layers.*.ls2", hidden);
  if (input.dims.flag("qk_normalization", input.dims.flag("use_qk_norm", false))) {
    input.builder.norm("layers.*.attn.q_norm", hidden, false);
    input.builder.norm("layers.*.attn.k_norm", hidden, false);
  }
  input.builder.repeat(1);
}

void llava_tower(const TowerInput& input) {
  const std::string kind = input.dims.text("model_type");
  if (kind == "pixtral") {
    pixtral_encoder(input);
  } else if (kind == "siglip_vision_model") {
    siglip_encoder(input);
  } else {
    clip_encoder(input);
  }
  // A list of feature layers is concatenated along the features.
  const uint64_t features =
      input.dims.dim({"hidden_size"}, 1024) * input.root.length("vision_feature_layer", 1);
  add_mlp_projector(input.builder, features, input.text_hidden_size,
                    input.root.flag("multimodal_projector_bias", true));
}

void llava_next_tower(const TowerInput& input) {
  llava_tower(input);
  input.builder.vector("image_newline", input.text_hidden_size);
}

void mistral3_tower(const TowerInput& input) {
  pixtral_encoder(input);
  const uint64_t hidden =
      input.dims.dim({"hidden_size"}, 1024) * input.root.length("vision_feature_layer", 1);
  const uint64_t merge = input.root.few({"spatial_merge_size"}, 2);
  add_mlp_projector(input.builder, hidden, input.text_hidden_size,
                    input.root.flag("multimodal_projector_bias", false));
  input.builder.linear("patch_merger.merging_layer", hidden * merge * merge, hidden, false);
  input.builder.norm("norm", hidden, false);
}

void paligemma_tower(const TowerInput& input) {
  siglip_encoder(input, false, false);
  input.builder.section("multi_modal_projector", kProjector);
  input.builder.linear("linear", input.dims.dim({"hidden_size"}), input.text_hidden_size, true);
}

void gemma3_tower(const TowerInput& input) {
  // Gemma 3 never has the pooling head, whether or not its configuration says so.
  siglip_encoder(input, false, false);
  const uint64_t hidden = input.dims.dim({"hidden_size"});
  input.builder.section("multi_modal_projector", kProjector);
  input.builder.linear("mm_input_projection", hidden, input.text_hidden_size, false);
  input.builder.norm("mm_soft_emb_norm", hidden, false);
}

void idefics3_tower(const TowerInput& input) {
  siglip_encoder(input, false, false);
  const uint64_t scale = input.root.few({"scale_factor"}, 2);
  input.builder.section("connector", kProjector);
  input.builder.linear("modality_projection.proj", input.dims.dim({"hidden_size"}) * scale * scale,
                       input.text_hidden_size, false);
}

namespace {

/// Norm and two linear layers over `ratio` x `ratio` patches at a time.
void add_intern_projector(const TowerInput& input) {
  constexpr uint64_t kPatchesPerToken = 4;  // downsample_ratio 0.5
  const uint64_t merged = input.dims.dim({"hidden_size"}) * kPatchesPerToken;
  input.builder.section("mlp1", kProjector);
  input.builder.norm("layer_norm", merged, true);
  input.builder.linear("linear_1", merged, input.text_hidden_size, true);
  input.builder.linear("linear_2", input.text_hidden_size, input.text_hidden_size, true);
}

}  // namespace

void intern_vl_tower(const TowerInput& input) {
  intern_vit_encoder(input);
  add_intern_projector(input);
}

void phi3_v_tower(const TowerInput& input) {
  // The configuration names the encoder; its shape is ViT-L/14 at 336 pixels.
  clip_encoder(input);
  constexpr uint64_t kPatchesPerToken = 4;
  const uint64_t merged = input.dims.dim({"image_dim_out"}, 1024) * kPatchesPerToken;
  input.builder.vector("glb_GN", merged);
  input.builder.vector("sub_GN", merged);
  input.builder.section("img_projection", kProjector);
  input.builder.linear("0", merged, input.text_hidden_size, true);
  input.builder.linear("2", input.text_hidden_size, input.text_hidden_size, true);
}

}  // namespace vramgauge::hf

// Vision towers of Qwen-VL, GLM-V, Kimi, MiniMax-M3 and Muse Glimmer: patches of any grid, merged
// two by two before the decoder reads them.
#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {
namespace {

constexpr TensorRole kProjector = TensorRole::projector;

/// Elements of a filter over channels, frames and a square patch.
uint64_t patch_volume(TowerDims& dims, uint64_t default_patch_size) {
  const uint64_t patch = dims.few({"patch_size", "spatial_patch_size"}, default_patch_size);
  return dims.few({"in_channels", "in_chans", "num_channels"}, 3) *
         dims.few({"temporal_patch_size"}, 2) * patch * patch;
}

uint64_t merged_patches(TowerDims& dims) {
  const uint64_t side = dims.few({"spatial_merge_size"}, 2);
  return side * side;
}

/// Norm, then two linear layers over the features of the merged patches.
void add_merger(TowerBuilder& builder, uint64_t norm_width, bool norm_bias, uint64_t merged,
                uint64_t out) {
  builder.norm("norm", norm_width, norm_bias);
  builder.linear("linear_fc1", merged, merged, true);
  builder.linear("linear_fc2", merged, out, true);
}

}  // namespace

void qwen2_vl_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"embed_dim"}, 1280);
  const uint64_t out = dims.dim({"hidden_size"}, input.text_hidden_size);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = hidden * dims.few({"mlp_ratio"}, 4);
  layer.fused_qkv = true;
  input.builder.conv("patch_embed.proj", hidden, patch_volume(dims, 14), false);
  add_encoder_layers(input.builder, layer, dims.few({"depth"}, 32));
  input.builder.section("visual.merger", kProjector);
  add_merger(input.builder, hidden, true, hidden * merged_patches(dims), out);
}

void qwen2_5_vl_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1280);
  const uint64_t heads = dims.few({"num_heads"}, 16);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"}, 3420);
  layer.fused_qkv = true;
  layer.is_gated = true;
  layer.norm_bias = false;
  // EXAONE 4.5 groups the heads of the tower.
  layer.kv_width = dims.few({"num_key_value_heads"}, heads) * (hidden / heads);
  input.builder.conv("patch_embed.proj", hidden, patch_volume(dims, 14), false);
  add_encoder_layers(input.builder, layer, dims.few({"depth"}, 32));
  input.builder.section("visual.merger", kProjector);
  add_merger(input.builder, hidden, false, hidden * merged_patches(dims),
             dims.dim({"out_hidden_size"}, input.text_hidden_size));
}

void qwen3_vl_tower(const TowerInput& input) {
  constexpr uint64_t kDefaultDeepstackLayers = 3;
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1152);
  const uint64_t merged = hidden * merged_patches(dims);
  const uint64_t out = dims.dim({"out_hidden_size"}, input.text_hidden_size);
  const bool is_qwen3_5 = dims.text("model_type").rfind("qwen3_5", 0) == 0;
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"}, 4304);
  layer.fused_qkv = true;
  input.builder.conv("patch_embed.proj", hidden, patch_volume(dims, 16), true);
  input.builder.table("pos_embed", dims.dim({"num_position_embeddings"}, 2304), hidden);
  add_encoder_layers(input.builder, layer, dims.few({"depth"}, 27));
  input.builder.section("visual.merger", kProjector);
  add_merger(input.builder, hidden, true, merged, out);
  input.builder.section("visual.deepstack_merger_list.*", kProjector);
  input.builder.repeat(
      dims.length("deepstack_visual_indexes", is_qwen3_5 ? 0 : kDefaultDeepstackLayers));
  add_merger(input.builder, merged, true, merged, out);
}

void glm4v_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1536);
  const uint64_t out = dims.dim({"out_hidden_size"}, 4096);
  const uint64_t patches = num_patches(dims.side("image_size", 336), dims.few({"patch_size"}, 14));
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size =
      out;  // the blocks take the decoder's width; intermediate_size is the merger's
  layer.fused_qkv = true;
  layer.is_gated = true;
  layer.qkv_bias = dims.flag("attention_bias", false);
  layer.o_bias = layer.mlp_bias = layer.norm_bias = false;
  input.builder.conv("patch_embed.proj", hidden, patch_volume(dims, 14), true);
  input.builder.table("embeddings.position_embedding", patches, hidden);
  input.builder.norm("post_conv_layernorm", hidden, false);
  add_encoder_layers(input.builder, layer, dims.few({"depth"}, 24));
  input.builder.norm("post_layernorm", hidden, false);
  input.builder.conv("downsample", out, hidden * merged_patches(dims), true);

  const uint64_t wide = dims.dim({"intermediate_size"}, 13696);
  input.builder.section("visual.merger", kProjector);
  input.builder.linear("proj", out, out, false);
  input.builder.norm("post_projection_norm", out, true);
  input.builder.linear("gate_proj", out, wide, false);
  input.builder.linear("up_proj", out, wide, false);
  input.builder.linear("down_proj", wide, out, false);
}

namespace {

/// Names of a MoonViT dimension in Kimi-VL and, with "vt_", in later configurations.
void add_moon_vit(const TowerInput& input, uint64_t hidden) {
  TowerDims& dims = input.dims;
  const uint64_t patch = dims.few({"patch_size"}, 14);
  const uint64_t positions =
      dims.dim({"init_pos_emb_height"}, 64) * dims.dim({"init_pos_emb_width"}, 64);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size", "vt_intermediate_size"}, 4304);
  layer.fused_qkv = true;
  input.builder.conv("patch_embed.proj", hidden, 3 * patch * patch, true);
  input.builder.table("patch_embed.pos_emb", positions, hidden);
  add_encoder_layers(input.builder, layer,
                     dims.few({"num_hidden_layers", "vt_num_hidden_layers"}, 27));
  input.builder.norm("encoder.final_layernorm", hidden, true);
}

}  // namespace

void kimi_vl_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size", "vt_hidden_size"}, 1152);
  add_moon_vit(input, hidden);
  input.builder.section("multi_modal_projector", kProjector);
  add_merger(input.builder, hidden, true, hidden * dims.area("merge_kernel_size", 4),
             input.text_hidden_size);
}

void kimi_k3_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"vt_hidden_size"}, 1024);
  const uint64_t patch = dims.few({"patch_size"}, 14);
  const uint64_t positions =
      dims.dim({"init_pos_emb_height"}, 64) * dims.dim({"init_pos_emb_width"}, 64);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"vt_intermediate_size"}, 4096);
  layer.q_width = layer.kv_width = dims.dim({"qkv_hidden_size"}, 1536);
  layer.fused_qkv = true;
  layer.qkv_bias = layer.o_bias = dims.flag("attn_bias", false);
  layer.mlp_bias = dims.flag("linear_bias", false);
  layer.norm_bias = false;
  input.builder.conv("patch_embed.proj", hidden, 3 * patch * patch,
                     dims.flag("patch_embed_proj_bias", false));
  input.builder.table("patch_embed.pos_emb", positions, hidden);
  add_encoder_layers(input.builder, layer, dims.few({"vt_num_hidden_layers"}, 27));
  input.builder.norm("encoder.final_layernorm", hidden, false);

  const uint64_t merged = hidden * dims.area("merge_kernel_size", 4);
  input.builder.section("mm_projector", kProjector);
  input.builder.linear("proj.0", merged, merged, false);
  input.builder.linear("proj.2", merged, input.text_hidden_size, false);
  input.builder.norm("post_norm", input.text_hidden_size, false);
}

void minimax_m3_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1280);
  const uint64_t wide = input.root.dim({"projector_hidden_size"}, input.text_hidden_size);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"}, 5120);
  input.builder.conv("embeddings.patch_embedding", hidden, patch_volume(dims, 14), false);
  input.builder.norm("pre_layrnorm", hidden, true);
  add_encoder_layers(input.builder, layer, dims.few({"num_hidden_layers"}, 32));
  input.builder.section("multi_modal_projector", kProjector);
  input.builder.linear("linear_1", hidden, wide, true);
  input.builder.linear("linear_2", wide, input.text_hidden_size, true);
  input.builder.section("patch_merge", kProjector);
  input.builder.linear("linear_1", input.text_hidden_size * merged_patches(dims), wide, true);
  input.builder.linear("linear_2", wide, input.text_hidden_size, true);
}

void muse_glimmer_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1536);
  const uint64_t patch = dims.few({"patch_size"}, 14);
  const uint64_t merge = dims.few({"merge_size"}, 2);
  const uint64_t wide = input.root.dim({"projector_hidden_size"}, 4096);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"});
  input.builder.linear("patch_embedder.patch_embedding",
                       3 * dims.few({"patch_temporal"}, 2) * patch * patch, hidden, false);
  input.builder.table("patch_embedder.position_embedding_table",
                      dims.few({"pos_emb_height"}, 32) * dims.few({"pos_emb_width"}, 32), hidden);
  input.builder.norm("ln_pre", hidden, true);
  add_encoder_layers(input.builder, layer, dims.few({"num_hidden_layers"}));
  input.builder.norm("ln_post", hidden, true);
  input.builder.section("vision_adapter", kProjector);
  input.builder.linear("fc1", input.root.dim({"out_hidden_size"}, hidden * merge * merge), wide,
                       false);
  input.builder.linear("fc2", wide, wide, false);
  input.builder.linear("vision_projection", wide, input.text_hidden_size, false);
}

}  // namespace vramgauge::hf

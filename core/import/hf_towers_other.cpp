// Vision towers of their own kind: Llama 3.2 Vision, Llama 4, Gemma 4, and encoders known by name
// only.
#include <algorithm>

#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {
namespace {

constexpr TensorRole kVision = TensorRole::vision;
constexpr TensorRole kProjector = TensorRole::projector;

/// Ways to lay at most `tiles` tiles out as a rectangle.
uint64_t num_aspect_ratios(uint64_t tiles) {
  constexpr uint64_t kMaxTiles = 64;
  uint64_t ratios = 0;
  for (uint64_t width = 1; width <= std::min(tiles, kMaxTiles); ++width)
    ratios += tiles / width;
  return ratios;
}

/// Position tables of tiles: one per aspect ratio, and one for padding, behind a learned gate.
void add_tile_positions(TowerBuilder& builder, std::string_view name, uint64_t ratios,
                        uint64_t row) {
  builder.table(name, ratios + 1, row);
  builder.vector(std::string(name) + ".gate", 1);
}

}  // namespace

void mllama_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  TowerBuilder& builder = input.builder;
  const uint64_t hidden = dims.dim({"hidden_size"}, 1280);
  const uint64_t patch = dims.few({"patch_size"}, 14);
  const uint64_t tokens = num_patches(dims.side("image_size", 560), patch) + 1;
  const uint64_t tiles = dims.few({"max_num_tiles"}, 4);
  const uint64_t ratios = dims.has("supported_aspect_ratios")
                              ? dims.length("supported_aspect_ratios", 0)
                              : num_aspect_ratios(tiles);
  const uint64_t global_layers = dims.few({"num_global_layers"}, 8);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"}, 5120);
  layer.qkv_bias = layer.o_bias = false;

  builder.conv("patch_embedding", hidden, dims.few({"num_channels"}, 3) * patch * patch, false);
  builder.vector("class_embedding", hidden);
  builder.table("gated_positional_embedding", tokens, hidden);
  add_tile_positions(builder, "gated_positional_embedding.tile", ratios, tiles * tokens * hidden);
  add_tile_positions(builder, "pre_tile_positional_embedding", ratios, tiles * hidden);
  add_tile_positions(builder, "post_tile_positional_embedding", ratios, tiles * hidden);
  builder.norm("layernorm_pre", hidden, true);
  builder.norm("layernorm_post", hidden, true);
  add_encoder_layers(builder, layer, dims.few({"num_hidden_layers", "num_local_layers"}, 32));
  add_encoder_layers(builder, layer, global_layers);
  builder.repeat(global_layers);
  builder.vector("global_transformer.layers.*.gate_attn", 1);
  builder.vector("global_transformer.layers.*.gate_ffn", 1);
  builder.section("multi_modal_projector", kProjector);
  builder.linear("linear", dims.dim({"vision_output_dim"}, 7680), input.text_hidden_size, true);
}

void llama4_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  TowerBuilder& builder = input.builder;
  // Defaults: the tower that the released Scout and Maverick share.
  const uint64_t hidden = dims.dim({"hidden_size"}, 1408);
  const uint64_t wide = dims.dim({"intermediate_size"}, 5632);
  const uint64_t patch = dims.few({"patch_size"}, 14);
  const uint64_t patches = num_patches(dims.side("image_size", 336), patch);
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = wide;
  builder.conv("patch_embedding.linear", hidden, dims.few({"num_channels"}, 3) * patch * patch,
               false);
  builder.vector("class_embedding", hidden);
  builder.table("positional_embedding_vlm", patches + 1, hidden);
  builder.norm("layernorm_pre", hidden, true);
  builder.norm("layernorm_post", hidden, true);
  add_encoder_layers(builder, layer, dims.few({"num_hidden_layers"}, 34));
  const uint64_t adapter_in = dims.dim({"projector_input_dim"}, 4096);
  const uint64_t adapter_out = dims.dim({"projector_output_dim"}, 4096);
  builder.linear("vision_adapter.mlp.fc1", wide, adapter_in, false);
  builder.linear("vision_adapter.mlp.fc2", adapter_in, adapter_out, false);
  builder.section("multi_modal_projector", kProjector);
  builder.linear("linear_1", dims.dim({"vision_output_dim"}, 4096), input.text_hidden_size, false);
}

void gemma4_tower(const TowerInput& input) {
  TowerDims& dims = input.dims;
  TowerBuilder& builder = input.builder;
  const uint64_t hidden = dims.dim({"hidden_size"});
  const uint64_t heads = dims.few({"num_attention_heads"});
  const uint64_t head_dim = dims.dim({"head_dim"}, hidden / heads);
  const uint64_t patch = dims.few({"patch_size"}, 16);
  const uint64_t layers = dims.few({"num_hidden_layers"});
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = dims.dim({"intermediate_size"});
  layer.q_width = heads * head_dim;
  layer.kv_width = dims.few({"num_key_value_heads"}, heads) * head_dim;
  layer.qkv_bias = layer.o_bias = layer.mlp_bias = layer.norm_bias = false;
  layer.is_gated = true;
  layer.num_norms = 4;
  builder.linear("patch_embedder.input_proj", 3 * patch * patch, hidden, false);
  builder.table("patch_embedder.position_embedding_table",
                2 * dims.dim({"position_embedding_size"}, 10240), hidden);
  add_encoder_layers(builder, layer, layers);
  builder.repeat(layers);
  builder.norm("layers.*.attn.q_norm", head_dim, false);
  builder.norm("layers.*.attn.k_norm", head_dim, false);
  builder.repeat(1);
  if (dims.flag("standardize", false)) builder.table("std_bias_and_scale", 2, hidden);
  builder.section("embed_vision", kProjector);
  builder.linear("embedding_projection", hidden, input.text_hidden_size, false);
}

void convnext_xxlarge_encoder(TowerBuilder& builder, uint64_t image_dim) {
  struct Stage {
    uint64_t channels;
    uint64_t blocks;
  };
  constexpr Stage kStages[] = {{384, 3}, {768, 4}, {1536, 30}, {3072, 3}};
  constexpr uint64_t kStemElements = uint64_t{3} * 4 * 4;
  constexpr uint64_t kDepthwiseElements = uint64_t{7} * 7;
  constexpr uint64_t kDownsample = uint64_t{2} * 2;
  builder.conv("stem", kStages[0].channels, kStemElements, true);
  uint64_t previous = kStages[0].channels;
  builder.norm("stem.norm", previous, true);
  for (const Stage& stage : kStages) {
    if (stage.channels != previous) {
      builder.norm("downsample.norm", previous, true);
      builder.conv("downsample", stage.channels, kDownsample * previous, true);
    }
    builder.repeat(stage.blocks);
    builder.conv("blocks.*.conv_dw", stage.channels, kDepthwiseElements, true);
    builder.norm("blocks.*.norm", stage.channels, true);
    builder.linear("blocks.*.mlp.fc1", stage.channels, 4 * stage.channels, true);
    builder.linear("blocks.*.mlp.fc2", 4 * stage.channels, stage.channels, true);
    builder.vector("blocks.*.gamma", stage.channels);
    builder.repeat(1);
    previous = stage.channels;
  }
  builder.norm("head.norm", previous, true);
  builder.linear("head.proj", previous, image_dim, true);
}

namespace {

/// SigLIP So400m at 384 pixels, whose last layer LLaVA-style pipelines leave out with its head.
void so400m_without_last_layer(const TowerInput& input) {
  json::Value shape = json::Value::object();
  shape.set("hidden_size", json::Value::integer(1152));
  shape.set("intermediate_size", json::Value::integer(4304));
  shape.set("num_hidden_layers", json::Value::integer(27));
  shape.set("patch_size", json::Value::integer(14));
  shape.set("image_size", json::Value::integer(384));
  Diagnostics unused;
  TowerDims dims(&shape, "", unused);
  siglip_encoder({dims, input.root, input.text_hidden_size, input.builder}, true, false);
}

bool add_named_encoder(const TowerInput& input, std::string_view name) {
  constexpr uint64_t kConvNextImageDim = 1024;
  if (name == "openai/clip-vit-large-patch14-336") {
    clip_encoder(input);
  } else if (name == "google/siglip-so400m-patch14-384" || name == "siglip2-384") {
    so400m_without_last_layer(input);
  } else if (name == "convnext-1024") {
    convnext_xxlarge_encoder(input.builder, kConvNextImageDim);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool named_towers(const TowerInput& input, const std::string& names) {
  for (size_t start = 0; start <= names.size();) {
    const size_t end = std::min(names.find(',', start), names.size());
    input.builder.section("vision_tower." + std::to_string(start), kVision);
    if (!add_named_encoder(input, std::string_view(names).substr(start, end - start))) return false;
    start = end + 1;
  }
  const uint64_t features = input.root.dim({"mm_hidden_size"});
  const std::string kind = input.root.text("mm_projector_type");
  input.builder.section("model.mm_projector", kProjector);
  input.builder.linear("0", features, input.text_hidden_size, true);
  if (kind == "mlp2x_gelu") {
    input.builder.linear("2", input.text_hidden_size, input.text_hidden_size, true);
  } else if (kind != "linear") {
    return false;
  }
  if (input.root.text("mm_patch_merge_type").find("unpad") != std::string::npos) {
    input.builder.vector("image_newline", input.text_hidden_size);
  }
  return true;
}

}  // namespace vramgauge::hf

// Decoders that read an encoder through cross-attention: T5, BART and its kin, Whisper, Llama 3.2
// Vision. The encoder is a tower; its keys and values are cached once per source token.
#include "import/hf_hybrid.h"
#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {
namespace {

/// Self-attention of full heads and the cross-attention beside it.
std::vector<Mixer> self_and_cross(const Attention& self) {
  Attention cross = self;
  cross.is_cross = true;
  return {self, cross};
}

Attention full_heads(uint64_t heads, uint64_t head_dim) {
  Attention attention;
  attention.num_heads = attention.num_kv_heads = heads;
  attention.head_dim = attention.v_head_dim = head_dim;
  return attention;
}

Tower encoder_tower(TowerBuilder& builder) {
  Tower tower;
  tower.kind = Tower::Kind::encoder;
  tower.tensors = builder.take();
  return tower;
}

/// Tokens of the source when the configuration bounds them; otherwise `fallback`, noted.
void set_cross_tokens(Import& import, std::string_view key, uint64_t fallback) {
  ConfigView& view = import.text();
  const auto given = view.u64(key, kTokenRange);
  if (!given) view.assume("cross_tokens", std::to_string(fallback));
  import.spec.cross_tokens = given.value_or(fallback);
}

}  // namespace

void build_t5(Import& import, const Traits& traits) {
  constexpr uint64_t kTrainedTokens = 512;
  ConfigView& view = import.text();
  const uint64_t encoder_layers = read_model_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  const uint64_t decoder_layers = view.u64_or("num_decoder_layers", encoder_layers, kLayerRange);
  const uint64_t heads = view.require("num_attention_heads", kHeadRange);
  const uint64_t d_kv = view.require("d_kv");
  const uint64_t buckets = view.u64_or("relative_attention_num_buckets", 32, kDimRange);
  const std::string projection = view.string("feed_forward_proj").value_or("relu");
  const bool is_gated = projection.rfind("gated", 0) == 0 || view.flag("is_gated_act", false);
  const DenseFfn ffn{view.require("intermediate_size"), is_gated, false, false};
  view.ignore("relative_attention_max_distance");
  view.ignore("dense_act_fn");
  if (import.failed()) return;
  // umt5 learns the position bias in every layer, the others in the first.
  const bool every_layer = import.spec.model_type == "umt5";

  import.spec.layers = make_layers(import, traits, decoder_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = self_and_cross(full_heads(heads, d_kv));
    layer.ffn = ffn;
    if (i == 0 || every_layer) {
      layer.extras.push_back({"self_attn.relative_attention_bias", TensorRole::attention_other,
                              buckets, heads, false});
    }
  }
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = ffn.intermediate_size;
  layer.q_width = layer.kv_width = heads * d_kv;
  layer.qkv_bias = layer.o_bias = layer.mlp_bias = layer.norm_bias = false;
  layer.is_gated = is_gated;
  TowerBuilder builder("encoder", TensorRole::other);
  add_encoder_layers(builder, layer, encoder_layers);
  builder.repeat(every_layer ? encoder_layers : 1);
  builder.table("relative_attention_bias", buckets, heads);
  builder.repeat(1);
  builder.norm("final_layer_norm", hidden, false);
  import.spec.towers.push_back(encoder_tower(builder));
  set_cross_tokens(import, "max_position_embeddings", kTrainedTokens);
}

namespace {

/// What the descendants of BART differ in.
struct BartKind {
  std::string_view model_type;
  /// Rows of each position table beyond max_position_embeddings; learned tables only.
  bool has_learned_positions;
  uint64_t extra_positions;
  bool has_embedding_norm;
  bool has_final_norm;
  bool has_logits_bias;
};

constexpr BartKind kBartKinds[] = {
    {"bart", true, 2, true, false, true},       {"mbart", true, 2, true, true, true},
    {"plbart", true, 2, true, false, true},     {"m2m_100", false, 0, false, true, false},
    {"pegasus", false, 0, false, true, true},   {"marian", false, 0, false, false, true},
    {"blenderbot", true, 0, false, true, true}, {"blenderbot-small", true, 0, true, false, true},
};

const BartKind& bart_kind(std::string_view model_type) {
  for (const BartKind& kind : kBartKinds) {
    if (kind.model_type == model_type) return kind;
  }
  return kBartKinds[0];
}

/// Width of one side (encoder or decoder) of such a model.
struct Side {
  uint64_t layers = 0;
  uint64_t heads = 0;
  uint64_t intermediate_size = 0;
};

Side read_side(ConfigView& view, const std::string& name) {
  return {view.require(name + "_layers", kLayerRange),
          view.require(name + "_attention_heads", kHeadRange), view.require(name + "_ffn_dim")};
}

/// hidden_size, vocabulary and ties for a model whose layers are counted per side.
void read_side_dims(Import& import, const Traits& traits) {
  read_width_dims(import, traits);
  import.text().ignore("num_hidden_layers");
  for (const std::string_view key :
       {"scale_embedding", "extra_pos_embeddings", "normalize_before", "normalize_embedding",
        "add_final_layer_norm", "add_bias_logits", "static_position_embeddings", "classif_dropout",
        "num_hidden_layers", "share_encoder_decoder_embeddings"}) {
    import.text().ignore(key);
  }
}

std::vector<Layer> bart_decoder(Import& import, const Traits& traits, const Side& side,
                                bool k_bias) {
  Attention attention = full_heads(side.heads, import.spec.hidden_size / side.heads);
  attention.q_bias = attention.v_bias = attention.o_bias = true;
  attention.k_bias = k_bias;
  std::vector<Layer> layers = make_layers(import, traits, side.layers);
  for (Layer& layer : layers) {
    layer.mixers = self_and_cross(attention);
    layer.ffn = DenseFfn{side.intermediate_size, false, true, false};
  }
  return layers;
}

void add_bart_encoder_layers(TowerBuilder& builder, uint64_t hidden, const Side& side) {
  EncoderLayer layer;
  layer.hidden_size = hidden;
  layer.intermediate_size = side.intermediate_size;
  add_encoder_layers(builder, layer, side.layers);
}

void check_heads(Import& import, const Side& side, std::string_view key) {
  if (import.spec.hidden_size % side.heads == 0) return;
  import.text().error(ErrorCode::model_inconsistent, key, {{"key", key}, {"other", "hidden_size"}, {
                                                             "detail",
                                                             std::string("it does not divide it")
                                                           }});
}

}  // namespace

void build_bart(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  read_side_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  const BartKind& kind = bart_kind(import.spec.model_type);
  const Side encoder = read_side(view, "encoder");
  const Side decoder = read_side(view, "decoder");
  if (!import.failed()) check_heads(import, decoder, "decoder_attention_heads");
  if (import.failed()) return;
  const uint64_t positions =
      kind.has_learned_positions ? import.spec.max_context_tokens + kind.extra_positions : 0;

  import.spec.layers = bart_decoder(import, traits, decoder, true);
  import.spec.position_embeddings = positions;
  import.spec.has_final_norm = kind.has_final_norm;
  import.spec.output_bias = kind.has_logits_bias;
  if (kind.has_embedding_norm) {
    import.spec.extras.push_back(
        {"decoder.layernorm_embedding", TensorRole::norm, 2, hidden, false});
  }
  TowerBuilder builder("encoder", TensorRole::other);
  if (positions != 0) builder.table("embed_positions", positions, hidden);
  if (kind.has_embedding_norm) builder.norm("layernorm_embedding", hidden, true);
  add_bart_encoder_layers(builder, hidden, encoder);
  if (kind.has_final_norm) builder.norm("layer_norm", hidden, true);
  import.spec.towers.push_back(encoder_tower(builder));
  set_cross_tokens(import, "max_position_embeddings", 1024);
}

void build_whisper(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  read_side_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  const Side encoder = read_side(view, "encoder");
  const Side decoder = read_side(view, "decoder");
  const uint64_t mel_bins = view.u64_or("num_mel_bins", 80, kDimRange);
  const uint64_t source = view.u64_or("max_source_positions", 1500, kDimRange);
  const uint64_t target = view.u64_or("max_target_positions", 448, kDimRange);
  if (!import.failed()) check_heads(import, decoder, "decoder_attention_heads");
  if (import.failed()) return;
  import.spec.max_context_tokens = import.spec.position_embeddings = target;
  import.spec.cross_tokens = source;
  import.spec.layers = bart_decoder(import, traits, decoder, false);

  TowerBuilder builder("encoder", TensorRole::audio);
  whisper_encoder(builder, {hidden, encoder.intermediate_size, encoder.layers, mel_bins, source});
  import.spec.towers.push_back(encoder_tower(builder));
}

namespace {

/// Every patch of every tile, and a class token per tile.
uint64_t mllama_image_tokens(Import& import) {
  const json::Value* vision = import.config.find("vision_config");
  TowerDims dims(vision != nullptr && vision->as_object() != nullptr ? vision : nullptr,
                 "/vision_config", import.errors);
  const uint64_t patches = num_patches(dims.side("image_size", 560), dims.few({"patch_size"}, 14));
  return dims.few({"max_num_tiles"}, 4) * (patches + 1);
}

}  // namespace

void build_mllama(Import& import, const Traits& traits) {
  // Image and begin-of-image tokens: rows of the embedding that the output does not have.
  constexpr uint64_t kSpecialTokens = 8;
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Attention self = read_attention(import, traits);
  Attention cross = self;
  cross.is_cross = true;
  cross.qk_norm = QkNorm::per_head_dim;
  const auto cross_layers = view.list("cross_attention_layers", {0, kLayerRange.max});
  if (!cross_layers) {
    view.error(ErrorCode::json_missing_key, "cross_attention_layers",
               {{"key", "cross_attention_layers"}});
  }
  const DenseFfn ffn = read_dense_ffn(import, traits);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.ffn = ffn;
    const bool is_cross = contains(*cross_layers, i);
    layer.mixers = {is_cross ? Mixer(cross) : Mixer(self)};
    if (!is_cross) continue;
    layer.extras.push_back({"cross_attn_attn_gate", TensorRole::attention_other, 1, 1, false});
    layer.extras.push_back({"cross_attn_mlp_gate", TensorRole::mlp_gate, 1, 1, false});
  }
  import.spec.extras.push_back({"model.embed_tokens.special", TensorRole::embedding, kSpecialTokens,
                                import.spec.hidden_size, true});
  import.spec.cross_tokens = mllama_image_tokens(import);
}

}  // namespace vramgauge::hf

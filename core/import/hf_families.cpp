// The generic decoder builder and the look-up of families.
#include "import/hf_families.h"

#include <algorithm>
#include <iterator>

namespace vramgauge::hf {
namespace {

constexpr std::string_view kEncoderOnly[] = {
    "bert",
    "roberta",
    "xlm-roberta",
    "distilbert",
    "albert",
    "electra",
    "deberta",
    "deberta-v2",
    "modernbert",
    "mpnet",
    "nomic_bert",
    "new",
    "clip",
    "siglip",
    "vit",
    "dinov2",
    "wav2vec2",
    "hubert",
    "camembert",
    "xlm-roberta-xl",
    "layoutlm",
    "layoutlmv2",
    "layoutlmv3",
    "longformer",
    "big_bird",
    "eurobert",
    "gte",
    "jina_bert",
    "neobert",
    "clip_vision_model",
    "siglip_vision_model",
    "esm",
    "squeezebert",
    "mobilebert",
    "funnel",
    "convbert",
    "roformer",
    "ernie",
    "megatron-bert",
    "nezha",
};

/// tie_word_embeddings: the decoder's own word, then the whole model's, then the class default.
bool read_tie(Import& import, const Traits& traits) {
  ConfigView& text = import.text();
  if (text.given("tie_word_embeddings")) return text.flag("tie_word_embeddings", traits.tied);
  if (import.nested && import.root.given("tie_word_embeddings")) {
    return import.root.flag("tie_word_embeddings", traits.tied);
  }
  const bool tied = text.flag("tie_word_embeddings", traits.tied);
  text.assume("tie_word_embeddings", tied ? "true" : "false");
  return tied;
}

uint64_t learned_positions(const Traits& traits, uint64_t max_context_tokens) {
  switch (traits.positions) {
    case Positions::rotary: return 0;
    case Positions::learned: return max_context_tokens;
    case Positions::learned_plus_2: return max_context_tokens + 2;
  }
  return 0;
}

void set_span(Layer& layer, LayerSpan span) {
  for (Mixer& mixer : layer.mixers) {
    if (auto* attention = std::get_if<Attention>(&mixer)) {
      attention->window_tokens = span.window_tokens;
      attention->chunk_tokens = span.chunk_tokens;
    }
  }
}

const Family* find_in(FamilyTable table, std::string_view model_type) {
  const auto* end = table.rows + table.size;
  const auto* row =
      std::find_if(table.rows, end, [&](const Family& f) { return f.model_type == model_type; });
  return row == end ? nullptr : row;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const FamilyTable table :
       {dense_families(), moe_families(), special_families(), recurrent_families()}) {
    if (const Family* family = find_in(table, model_type)) return family;
  }
  return nullptr;
}

bool is_encoder_only(std::string_view model_type) {
  const auto ends = [&](std::string_view end) {
    return model_type.size() >= end.size() &&
           model_type.substr(model_type.size() - end.size()) == end;
  };
  constexpr std::string_view kEndings[] = {"_encoder", "_vision", "_vision_model", "/vision",
                                           "_audio"};
  if (std::find(std::begin(kEncoderOnly), std::end(kEncoderOnly), model_type) !=
      std::end(kEncoderOnly))
    return true;
  return std::any_of(std::begin(kEndings), std::end(kEndings), ends) &&
         find_family(model_type) == nullptr;
}

void read_width_dims(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  spec.hidden_size = view.require("hidden_size");
  if (!view.given("vocab_size") && import.nested && import.root.given("vocab_size")) {
    spec.vocab_size = import.root.require("vocab_size");
  } else {
    spec.vocab_size = view.require("vocab_size");
  }
  spec.max_context_tokens = view.u64_or("max_position_embeddings", 0, {1, kTokenRange.max});
  spec.tie_word_embeddings = read_tie(import, traits);
  spec.position_embeddings = learned_positions(traits, spec.max_context_tokens);
  spec.has_final_norm = traits.has_norm_weights;
  spec.norm_bias = traits.norm_bias;
  spec.output_bias = view.flag("lm_head_bias", traits.output_bias);
}

uint64_t read_model_dims(Import& import, const Traits& traits) {
  read_width_dims(import, traits);
  return import.text().require("num_hidden_layers", kLayerRange);
}

std::vector<Layer> make_layers(const Import& import, const Traits& traits, uint64_t num_layers) {
  Layer layer;
  if (traits.has_norm_weights) layer.norms.assign(traits.norms, import.spec.hidden_size);
  layer.norm_bias = traits.norm_bias;
  return std::vector<Layer>(static_cast<size_t>(num_layers), layer);
}

void build_decoder(Import& import, const Traits& traits) {
  const uint64_t num_layers = read_model_dims(import, traits);
  if (import.failed()) return;
  const Mixer mixer = traits.mixer != nullptr ? traits.mixer(import, traits)
                                              : Mixer(read_attention(import, traits));
  const std::vector<Ffn> ffns = read_ffns(import, traits, num_layers);
  const std::vector<LayerSpan> spans = read_spans(import, traits, num_layers);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Layer& layer = import.spec.layers[i];
    layer.mixers = {mixer};
    layer.ffn = ffns[i];
    set_span(layer, spans[i]);
  }
  if (traits.adjust != nullptr) traits.adjust(import);
  if (!import.failed()) add_mtp_layers(import, traits);
}

}  // namespace vramgauge::hf

// Relatives of LLaMA whose layers differ from one another.
#include "import/hf_families_adjust.h"
#include "import/hf_families_adjust_moe.h"
#include "import/hf_families_special.h"

namespace vramgauge::hf {
namespace {

/// Layers without rotary positions see the whole context; the others only their chunk.
std::vector<bool> read_chunked(ConfigView& view, uint64_t num_layers) {
  const auto rope = view.per_layer("no_rope_layers", num_layers, {0, 1});
  if (rope && !rope->empty()) return std::vector<bool>(rope->begin(), rope->end());
  const uint64_t interval = view.u64_or("no_rope_layer_interval", 4, kLayerRange);
  std::vector<bool> chunked;
  for (uint64_t i = 0; i < num_layers; ++i)
    chunked.push_back((i + 1) % interval != 0);
  return chunked;
}

bool is_empty_list(ConfigView& view, std::string_view key) {
  const json::Value* value = view.raw(key);
  return value != nullptr && value->as_array() != nullptr && value->as_array()->empty();
}

void set_chunks(Import& import) {
  ConfigView& view = import.text();
  const uint64_t chunk = view.u64_or("attention_chunk_size", 0, kTokenRange);
  if (view.given("layer_types") || chunk == 0) return;
  std::vector<bool> chunked;
  const uint64_t num_layers = import.spec.layers.size();
  if (is_empty_list(view, "no_rope_layers")) {
    for (uint64_t i = 0; i < num_layers; ++i)
      chunked.push_back((i + 1) % 4 != 0);
  } else {
    chunked = read_chunked(view, num_layers);
  }
  if (import.failed()) return;
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    if (chunked[i]) std::get<Attention>(import.spec.layers[i].mixers.front()).chunk_tokens = chunk;
  }
}

constexpr uint64_t kNasWidthStep = 256;

/// 2/3 of ffn_mult x hidden_size, rounded up to a multiple of 256.
uint64_t nas_width(double multiple, uint64_t hidden) {
  const double exact = 2.0 * multiple * static_cast<double>(hidden) / 3.0;
  if (!(exact >= 1.0) || exact > static_cast<double>(kDimRange.max)) return 0;
  const uint64_t whole = static_cast<uint64_t>(exact);
  return (whole + kNasWidthStep - 1) / kNasWidthStep * kNasWidthStep;
}

void unsupported(ConfigView& view, std::string_view key, std::string reason) {
  view.error(ErrorCode::model_unsupported, key, {{"what", key}, {"reason", std::move(reason)}});
}

void read_nas_attention(Import& import, ConfigView& block, const Attention& base, Layer& layer) {
  for (std::string_view key : {"sparsify", "use_prefill_window_in_sink_attention", "llama4"})
    block.ignore(key);
  if (block.flag("no_op", false)) return;
  layer.norms.push_back(import.spec.hidden_size);
  if (block.flag("replace_with_linear", false)) {
    layer.extras.push_back({"self_attn.linear_attn", TensorRole::attention_other,
                            import.spec.hidden_size, import.spec.hidden_size, true});
    return;
  }
  for (std::string_view key : {"window_length", "num_sink_tokens", "unshifted_sink"}) {
    const json::Value* value = block.raw(key);
    const bool is_off =
        value == nullptr || (value->as_boolean() != nullptr && !*value->as_boolean());
    if (!is_off) unsupported(block, key, "its cache has not been described");
  }
  Attention attention = base;
  const uint64_t group = block.require("n_heads_in_group", kHeadRange);
  if (attention.num_heads % group != 0) {
    block.error(ErrorCode::model_heads_not_divisible, "n_heads_in_group",
                {{"heads", attention.num_heads}, {"kv_heads", group}});
    return;
  }
  attention.num_kv_heads = attention.num_heads / group;
  layer.mixers = {attention};
}

void read_nas_ffn(Import& import, ConfigView& block, Layer& layer) {
  block.ignore("sparsify");
  if (block.flag("no_op", false)) return;
  const uint64_t hidden = import.spec.hidden_size;
  layer.norms.push_back(hidden);
  if (block.flag("replace_with_linear", false)) {
    layer.extras.push_back({"mlp.linear_mlp", TensorRole::mlp_up, hidden, hidden, true});
    return;
  }
  DenseFfn ffn;
  const auto multiple = block.real("ffn_mult");
  const auto width = block.u64("intermediate_size", kDimRange);
  ffn.intermediate_size = width ? *width : nas_width(multiple.value_or(0), hidden);
  if (ffn.intermediate_size == 0) {
    block.error(ErrorCode::model_missing_dimension, "ffn_mult",
                {{"key", "ffn_mult"}, {"model_type", "nemotron-nas"}});
  }
  layer.ffn = ffn;
}

void read_nas_block(Import& import, const json::Value& value, const std::string& path,
                    const Attention& base, Layer& layer) {
  ConfigView block(value, path, import.errors, import.notes);
  for (std::string_view part : {"attention", "ffn"}) {
    const json::Value* inner = block.reader().object(part);
    if (inner == nullptr) {
      block.error(ErrorCode::model_missing_dimension, part,
                  {{"key", part}, {"model_type", "nemotron-nas"}});
      continue;
    }
    ConfigView view(*inner, block.path_to(part), import.errors, import.notes);
    if (part == "attention") {
      read_nas_attention(import, view, base, layer);
    } else {
      read_nas_ffn(import, view, layer);
    }
  }
}

}  // namespace

void adjust_llama4(Import& import) {
  ConfigView& view = import.text();
  set_chunks(import);
  const uint64_t dense_width = view.u64_or("intermediate_size_mlp", 0);
  const uint64_t expert_width = view.require("intermediate_size");
  for (Layer& layer : import.spec.layers) {
    if (auto* dense = std::get_if<DenseFfn>(&layer.ffn); dense != nullptr && dense_width != 0) {
      dense->intermediate_size = dense_width;
    }
    if (auto* moe = std::get_if<MoeFfn>(&layer.ffn)) moe->shared_intermediate_size = expert_width;
  }
  view.ignore("use_qk_norm");  // without weights
}

void build_nemotron_nas(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const json::Value::Array* blocks = view.reader().array("block_configs");
  if (blocks == nullptr || blocks->size() != num_layers) {
    view.bad_pattern("block_configs", num_layers,
                     blocks == nullptr ? "it is missing"
                                       : "it has " + std::to_string(blocks->size()) + " items");
    return;
  }
  const Attention base = read_attention(import, traits);
  view.ignore("intermediate_size");
  read_flag(view, traits.mlp_bias);
  std::vector<Layer> layers(blocks->size());
  for (size_t i = 0; i < layers.size() && !import.failed(); ++i) {
    read_nas_block(import, (*blocks)[i],
                   json::pointer_to(view.path_to("block_configs"), uint64_t{i}), base, layers[i]);
  }
  import.spec.layers = std::move(layers);
}

void adjust_molmo(Import& import) {
  ConfigView& view = import.text();
  // intermediate_size counts both halves of the gated block; the table has rows for image tokens.
  for (Layer& layer : import.spec.layers) {
    if (auto* ffn = std::get_if<DenseFfn>(&layer.ffn)) ffn->intermediate_size /= 2;
  }
  const uint64_t extra_rows = view.u64_or("additional_vocab_size", 128);
  for (std::string_view key : {"embedding_size", "norm_after", "attention_layer_norm"})
    view.ignore(key);
  import.spec.extras.push_back({"model.transformer.wte.new_embedding", TensorRole::embedding,
                                extra_rows, import.spec.hidden_size, true});
}

void adjust_eagle3(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const uint64_t hidden = spec.hidden_size;
  const uint64_t target_hidden = view.u64_or("target_hidden_size", hidden, kDimRange);
  const uint64_t vocab = view.u64_or("draft_vocab_size", spec.vocab_size, kDimRange);
  spec.tie_word_embeddings = true;  // the output is of the draft's own vocabulary
  spec.extras.push_back({"lm_head", TensorRole::output, vocab, hidden, true});
  spec.extras.push_back({"fc", TensorRole::other, hidden, 3 * target_hidden, true});
  for (Layer& layer : spec.layers) {
    const auto& a = std::get<Attention>(layer.mixers.front());
    const uint64_t rows = a.head_dim * (a.num_heads + 2 * a.num_kv_heads);
    // Attention reads the embedding beside the hidden state: twice the input width.
    layer.extras.push_back(
        {"self_attn.qkv_proj.embedding_half", TensorRole::attention_qkv, rows, hidden, true});
    layer.norms.push_back(hidden);
  }
}

void adjust_cogvlm(Import& import) {
  ModelSpec& spec = import.spec;
  const uint64_t hidden = spec.hidden_size;
  for (Layer& layer : spec.layers) {
    const auto& a = std::get<Attention>(layer.mixers.front());
    const auto* ffn = std::get_if<DenseFfn>(&layer.ffn);
    if (ffn == nullptr) continue;
    const uint64_t rows = a.head_dim * (a.num_heads + 2 * a.num_kv_heads);
    // A second set of weights for image tokens.
    layer.extras.push_back(
        {"self_attn.vision_expert_query_key_value", TensorRole::attention_qkv, rows, hidden, true});
    layer.extras.push_back({"self_attn.vision_expert_dense", TensorRole::attention_output, hidden,
                            a.num_heads * a.v_head_dim, true});
    layer.extras.push_back(
        {"mlp.vision_mlp.gate_proj", TensorRole::mlp_gate, ffn->intermediate_size, hidden, true});
    layer.extras.push_back(
        {"mlp.vision_mlp.up_proj", TensorRole::mlp_up, ffn->intermediate_size, hidden, true});
    layer.extras.push_back(
        {"mlp.vision_mlp.down_proj", TensorRole::mlp_down, hidden, ffn->intermediate_size, true});
  }
}

}  // namespace vramgauge::hf

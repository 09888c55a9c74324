#include "import/hf_families_adjust.h"

namespace vramgauge::hf {
namespace {

const Attention& first_attention(const ModelSpec& spec) {
  return std::get<Attention>(spec.layers.front().mixers.front());
}

template <typename Change>
void for_each_dense(ModelSpec& spec, Change change) {
  for (Layer& layer : spec.layers) {
    if (auto* ffn = std::get_if<DenseFfn>(&layer.ffn)) change(*ffn);
  }
}

/// Layers listed one by one as local or global.
void set_local_layers(Import& import, const std::vector<std::string>& kinds, uint64_t window) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    auto& attention = std::get<Attention>(import.spec.layers[i].mixers.front());
    if (kinds[i] == "local") attention.window_tokens = window;
  }
}

/// [[["global", "local"], 12]] as 24 names.
std::vector<std::string> expand_attention_types(const json::Value& value) {
  std::vector<std::string> kinds;
  if (value.as_array() == nullptr) return kinds;
  for (const json::Value& entry : *value.as_array()) {
    const json::Value::Array* pair = entry.as_array();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].as_array() == nullptr) return {};
    const uint64_t repeats = (*pair)[1].as_u64().value_or(0);
    for (uint64_t i = 0; i < repeats && kinds.size() < kLayerRange.max; ++i) {
      for (const json::Value& name : *(*pair)[0].as_array()) {
        if (name.as_string() != nullptr) kinds.push_back(*name.as_string());
      }
    }
  }
  return kinds;
}

}  // namespace

void add_layer_extra(ModelSpec& spec, const ExtraTensor& extra) {
  for (Layer& layer : spec.layers)
    layer.extras.push_back(extra);
}

void set_norms(ModelSpec& spec, size_t count) {
  for (Layer& layer : spec.layers)
    layer.norms.assign(count, spec.hidden_size);
}

void adjust_phi(Import& import) {
  if (!import.text().flag("qk_layernorm", false)) return;
  for_each_attention(import.spec, [](Attention& a) {
    a.qk_norm = QkNorm::per_head_dim;
    a.qk_norm_bias = true;
  });
}

void adjust_phi3small(Import& import) {
  // Block-sparse layers read part of the context, but every token stays in the cache.
  for (std::string_view key :
       {"dense_attention_every_n_layers", "blocksparse_block_size", "blocksparse_num_local_blocks",
        "blocksparse_vert_stride", "blocksparse_homo_head_pattern",
        "blocksparse_triton_kernel_block_size", "ff_dim_multiplier", "ff_intermediate_size"}) {
    import.text().ignore(key);
  }
  import.spec.position_embeddings = 0;
}

void adjust_gpt2(Import& import) { import.text().ignore("n_inner"); }

void adjust_gpt_neo(Import& import) {
  ConfigView& view = import.text();
  const uint64_t num_layers = import.spec.layers.size();
  std::vector<std::string> kinds;
  if (auto listed = view.strings("attention_layers")) kinds = *listed;
  const json::Value* types = view.raw("attention_types");
  if (kinds.empty() && types != nullptr) kinds = expand_attention_types(*types);
  if (kinds.size() != num_layers) {
    view.bad_pattern("attention_types", num_layers,
                     "it describes " + std::to_string(kinds.size()) + " layers");
    return;
  }
  set_local_layers(import, kinds, view.u64_or("window_size", 256, kTokenRange));
}

void adjust_opt(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  if (!view.flag("do_layer_norm_before", true) || view.flag("_remove_final_layer_norm", false)) {
    spec.has_final_norm = false;
  }
  const uint64_t width = view.u64_or("word_embed_proj_dim", spec.hidden_size, kDimRange);
  if (width == spec.hidden_size) return;
  spec.embedding_dim = width;
  spec.extras.push_back(
      {"model.decoder.project_in", TensorRole::other, spec.hidden_size, width, true});
  spec.extras.push_back(
      {"model.decoder.project_out", TensorRole::other, width, spec.hidden_size, true});
}

void adjust_bloom(Import& import) {
  ModelSpec& spec = import.spec;
  spec.extras.push_back(
      {"word_embeddings_layernorm", TensorRole::norm, 1, spec.hidden_size, false});
  spec.extras.push_back(
      {"word_embeddings_layernorm.bias", TensorRole::norm, 1, spec.hidden_size, false});
}

void adjust_falcon(Import& import) {
  ConfigView& view = import.text();
  // The class ties the output, but the checkpoints store it beside the embedding.
  if (!view.given("tie_word_embeddings")) import.spec.tie_word_embeddings = false;
  const bool is_new = view.flag("new_decoder_architecture", false);
  const bool is_parallel = view.flag("parallel_attn", true);
  const uint64_t given_norms = view.u64_or("num_ln_in_parallel_attn", is_new ? 2 : 1, {1, 2});
  set_norms(import.spec, is_new || is_parallel ? static_cast<size_t>(given_norms) : 2);
  // Only the new architecture groups its keys; the old one has one KV head, or as many as heads.
  const bool is_single = !is_new && view.flag("multi_query", true);
  for_each_attention(import.spec, [&](Attention& a) {
    if (is_single) a.num_kv_heads = 1;
    if (!is_new && !is_single) a.num_kv_heads = a.num_heads;
    if (is_new && !view.given("num_key_value_heads")) a.num_kv_heads = a.num_heads;
  });
}

void adjust_parallel_norms(Import& import) {
  if (import.text().flag("use_parallel_residual", false)) set_norms(import.spec, 1);
}

void adjust_parallel_ignored(Import& import) { import.text().ignore("use_parallel_residual"); }

void adjust_qk_norm_bias(Import& import) {
  for_each_attention(import.spec, [](Attention& a) { a.qk_norm_bias = a.qk_norm != QkNorm::none; });
}

void adjust_qwen1(Import& import) {
  // intermediate_size counts both halves of the gated block.
  for_each_dense(import.spec, [](DenseFfn& ffn) { ffn.intermediate_size /= 2; });
}

void adjust_telechat(Import& import) {
  add_layer_extra(import.spec,
                  {"mlp.down_proj.bias", TensorRole::mlp_down, 1, import.spec.hidden_size, false});
}

void adjust_apertus(Import& import) {
  add_layer_extra(import.spec, {"mlp.act_fn.alpha_p", TensorRole::other, 1, 1, false});
  add_layer_extra(import.spec, {"mlp.act_fn.alpha_n", TensorRole::other, 1, 1, false});
}

void adjust_bitnet(Import& import) {
  for (Layer& layer : import.spec.layers) {
    layer.norms.push_back(import.spec.hidden_size);
    const auto* ffn = std::get_if<DenseFfn>(&layer.ffn);
    if (ffn != nullptr) layer.norms.push_back(ffn->intermediate_size);
  }
}

void adjust_doge(Import& import) {
  ConfigView& view = import.text();
  if (view.flag("is_moe", false)) {
    view.error(ErrorCode::model_unsupported, "is_moe",
               {{"what", "The mixture of doge"}, {"reason", "its experts are not described"}});
    return;
  }
  ModelSpec& spec = import.spec;
  const Attention a = first_attention(spec);
  add_layer_extra(spec, {"self_attn.A", TensorRole::attention_other, 1, a.num_kv_heads, false});
  add_layer_extra(spec, {"self_attn.dt_proj", TensorRole::attention_other, a.num_kv_heads,
                         a.num_kv_heads * a.head_dim, true});
  add_layer_extra(spec, {"input_residual", TensorRole::other, 1, spec.hidden_size, false});
  add_layer_extra(spec, {"post_attention_residual", TensorRole::other, 1, spec.hidden_size, false});
}

void adjust_diffllama(Import& import) {
  const uint64_t head_dim = first_attention(import.spec).head_dim;
  for (const char* name : {"self_attn.lambda_q1", "self_attn.lambda_k1", "self_attn.lambda_q2",
                           "self_attn.lambda_k2"}) {
    add_layer_extra(import.spec, {name, TensorRole::attention_other, 1, head_dim, false});
  }
}

void adjust_modernbert(Import& import) {
  ModelSpec& spec = import.spec;
  const uint64_t window = import.text().u64_or("local_attention", 128, kTokenRange);
  const uint64_t period = import.text().u64_or("global_attn_every_n_layers", 3, kLayerRange);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (i % period == 0) continue;
    std::get<Attention>(spec.layers[i].mixers.front()).window_tokens = window / 2;
  }
  spec.layers.front().norms.pop_back();  // the first layer reads normalised embeddings
  spec.extras.push_back({"model.embeddings.norm", TensorRole::norm, 1, spec.hidden_size, false});
  spec.extras.push_back(
      {"lm_head.dense", TensorRole::other, spec.hidden_size, spec.hidden_size, true});
  spec.extras.push_back({"lm_head.norm", TensorRole::norm, 1, spec.hidden_size, false});
}

void build_openai_gpt(Import& import, const Traits& traits) {
  build_decoder(import, traits);
  import.spec.has_final_norm = false;
}

void build_mpt(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  build_decoder(import, traits);
  const uint64_t ratio = view.u64_or("expansion_ratio", 4, {1, 64});
  const bool has_bias = !view.flag("no_bias", true);
  const json::Value* attention = view.raw("attn_config");
  uint64_t kv_heads = 0;
  bool has_alibi = view.flag("alibi", false);
  if (attention != nullptr) {
    ConfigView inner(*attention, view.path_to("attn_config"), import.errors, import.notes);
    kv_heads = inner.u64_or("kv_n_heads", 0, {0, kHeadRange.max});
    has_alibi = inner.flag("alibi", has_alibi) || inner.flag("rope", false);
    if (inner.string("attn_type").value_or("") == "multiquery_attention") kv_heads = 1;
  }
  ModelSpec& spec = import.spec;
  if (!has_alibi) spec.position_embeddings = spec.max_context_tokens;
  spec.norm_bias = has_bias;
  for (Layer& layer : spec.layers)
    layer.norm_bias = has_bias;
  for_each_attention(spec, [&](Attention& a) {
    if (kv_heads != 0) a.num_kv_heads = kv_heads;
    a.q_bias = a.k_bias = a.v_bias = a.o_bias = has_bias;
  });
  for_each_dense(spec, [&](DenseFfn& ffn) {
    ffn.intermediate_size = ratio * spec.hidden_size;
    ffn.bias = has_bias;
  });
}

}  // namespace vramgauge::hf

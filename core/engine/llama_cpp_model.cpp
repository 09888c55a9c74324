#include "engine/llama_cpp_model.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "import/gguf_architectures.h"
#include "import/gguf_model.h"
#include "import/gguf_tensors.h"
#include "model/cache_state.h"
#include "units/index.h"

namespace vramgauge {
namespace {

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Families whose window llama.cpp has code for; others keep the whole context, whatever their key
/// says (src/models/*.cpp: what sets swa_type).
bool knows_windows(std::string_view architecture) {
  if (is_any_of(architecture, {"lfm2", "lfm2moe"})) return true;
  const gguf::Architecture* row = gguf::find_architecture(architecture);
  return row != nullptr && row->window != gguf::WindowRule::none &&
         row->window != gguf::WindowRule::all;
}

/// Families whose converter keeps the latent but whose graph caches full keys and values.
bool expands_latent(std::string_view architecture) {
  return is_any_of(architecture, {"minicpm3", "plm"});
}

/// Builds the layers of one model.
class LayerBuilder {
 public:
  explicit LayerBuilder(LlamaCppModel& model)
      : model_(model), has_windows_(knows_windows(model.architecture)) {}

  Diagnostics build() {
    model_.num_layers = model_.spec.layers.size();
    if (model_.num_layers == 0) refuse("a model without layers");
    for (const auto* layers : {&model_.spec.layers, &model_.spec.mtp_layers}) {
      for (const Layer& layer : *layers)
        add(layer);
    }
    return std::move(errors_);
  }

 private:
  void add(const Layer& layer) {
    LlamaCppLayer made;
    for (const Mixer& mixer : layer.mixers)
      std::visit([&](const auto& kind) { read(made, kind); }, mixer);
    model_.widest_v_elements = std::max(model_.widest_v_elements, made.v_elements);
    model_.layers.push_back(made);
  }

  void read(LlamaCppLayer& layer, const Attention& attention) {
    if (attention.is_cross) return refuse("cross-attention");
    layer.num_heads = attention.num_heads;
    layer.num_kv_heads = attention.num_kv_heads;
    layer.head_dim_k = attention.head_dim;
    layer.head_dim_v = attention.v_head_dim;
    layer.k_elements = attention.num_kv_heads * attention.head_dim;
    layer.v_elements = attention.num_kv_heads * attention.v_head_dim;
    const uint64_t window = std::max(attention.window_tokens, attention.chunk_tokens);
    layer.is_windowed = has_windows_ && window != 0;
    if (layer.is_windowed) model_.window_tokens = window;
    if (!attention.cache_shared_with)
      layer.cache = layer.is_windowed ? LlamaCppCacheKind::windowed : LlamaCppCacheKind::full;
  }

  void read(LlamaCppLayer& layer, const LatentAttention& latent) {
    layer.num_heads = latent.num_heads;
    if (expands_latent(model_.architecture)) {
      layer.num_kv_heads = latent.num_heads;
      layer.head_dim_k = latent.qk_nope_head_dim + latent.qk_rope_head_dim;
      layer.head_dim_v = latent.v_head_dim;
      layer.cache = LlamaCppCacheKind::full;
    } else {
      layer.num_kv_heads = 1;
      layer.head_dim_k = latent.kv_lora_rank + latent.qk_rope_head_dim;
      layer.head_dim_v = latent.kv_lora_rank;
      layer.cache = LlamaCppCacheKind::latent;
      model_.is_latent = true;
    }
    layer.k_elements = layer.num_kv_heads * layer.head_dim_k;
    layer.v_elements = layer.num_kv_heads * layer.head_dim_v;
    // The cache of index keys has a row for every layer, also where a layer reuses earlier scores.
    if (latent.indexer && is_any_of(model_.architecture, {"deepseek32", "glm-dsa"})) {
      layer.indexer_elements = latent.indexer->head_dim;
      model_.is_sparse = true;
    }
  }

  void read(LlamaCppLayer& layer, const Mamba1& mixer) { read_state(layer, mixer); }
  void read(LlamaCppLayer& layer, const Mamba2& mixer) { read_state(layer, mixer); }
  void read(LlamaCppLayer& layer, const GatedDelta& mixer) { read_state(layer, mixer); }
  void read(LlamaCppLayer& layer, const ShortConv& mixer) { read_state(layer, mixer); }
  void read(LlamaCppLayer& layer, const Rwkv& mixer) { read_state(layer, mixer); }
  void read(LlamaCppLayer&, const LinearAttention&) { refuse("linear attention"); }
  void read(LlamaCppLayer&, const CompressedAttention&) { refuse("compressed attention"); }
  void read(LlamaCppLayer&, const GatedLru&) { refuse("the gated linear recurrent unit"); }

  template <typename Recurrent>
  static void read_state(LlamaCppLayer& layer, const Recurrent& mixer) {
    const StateShape shape = state_shape(mixer, uint64_t{1});
    layer.is_recurrent = true;
    layer.conv_elements = shape.conv_elements.value_or(UINT64_MAX);
    layer.state_elements = shape.temporal_elements.value_or(UINT64_MAX);
  }

  void refuse(std::string_view what) {
    if (!errors_.empty()) return;
    errors_.push_back(
        {ErrorCode::model_unsupported,
         "",
         {{"what", "The memory of llama.cpp"},
          {"reason", std::string("its rules for ") + std::string(what) + " are not known here"}},
         std::nullopt});
  }

  LlamaCppModel& model_;
  bool has_windows_;
  Diagnostics errors_;
};

}  // namespace

Result<LlamaCppModel> llama_cpp_model(std::string architecture, ModelSpec spec,
                                      std::vector<LlamaCppTensor> tensors) {
  LlamaCppModel model;
  model.architecture = std::move(architecture);
  model.spec = std::move(spec);
  model.tensors = std::move(tensors);
  Diagnostics errors = LayerBuilder(model).build();
  if (!errors.empty()) return fail(std::move(errors));
  model.weights = llama_cpp_weights(model.architecture, model.num_layers, model.tensors);
  model.groups = llama_cpp_groups(model);
  return model;
}

Result<LlamaCppModel> llama_cpp_model(const GgufHeader& header) {
  Result<ImportedModel> imported = import_gguf(header);
  if (!imported) return fail(std::move(imported.error()));
  return llama_cpp_model(std::string(header.text("general.architecture").value_or("")),
                         std::move(imported->spec), llama_cpp_tensors(header));
}

}  // namespace vramgauge

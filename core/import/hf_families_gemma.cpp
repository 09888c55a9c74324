// Gemma 3n and Gemma 4: shared caches, two kinds of heads, inputs per layer.
#include "import/hf_families_adjust.h"
#include "import/hf_families_special.h"
#include "units/index.h"

namespace vramgauge::hf {
namespace {

/// The last num_kv_shared_layers layers read the cache of the last earlier layer of their kind.
void share_caches(Import& import, const std::vector<LayerSpan>& spans) {
  ModelSpec& spec = import.spec;
  const uint64_t num_layers = spec.layers.size();
  const uint64_t num_shared = import.text().u64_or("num_kv_shared_layers", 0);
  if (num_shared == 0) return;
  if (num_shared >= num_layers) {
    import.text().bad_pattern("num_kv_shared_layers", num_layers, "no layer is left to share from");
    return;
  }
  const uint64_t first_shared = num_layers - num_shared;
  for (uint64_t i = first_shared; i < num_layers; ++i) {
    uint64_t source = first_shared;
    while (source > 0 && (spans[index_of(source - 1)].window_tokens != 0) !=
                             (spans[index_of(i)].window_tokens != 0))
      --source;
    if (source == 0) {
      import.text().bad_pattern("num_kv_shared_layers", num_layers,
                                "no earlier layer of the same kind");
      return;
    }
    std::get<Attention>(spec.layers[index_of(i)].mixers.front()).cache_shared_with = source - 1;
  }
}

/// Inputs per layer: one embedding row and two small projections for each layer.
void add_layer_inputs(Import& import, bool has_scale) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const uint64_t width = view.u64_or("hidden_size_per_layer_input", 0);
  const uint64_t vocab = view.u64_or("vocab_size_per_layer_input", spec.vocab_size);
  if (has_scale) add_layer_extra(spec, {"layer_scalar", TensorRole::other, 1, 1, false});
  if (width == 0) return;
  const uint64_t total = width * spec.layers.size();
  spec.extras.push_back(
      {"model.embed_tokens_per_layer", TensorRole::embedding, vocab, total, true});
  spec.extras.push_back(
      {"model.per_layer_model_projection", TensorRole::other, total, spec.hidden_size, true});
  spec.extras.push_back({"model.per_layer_projection_norm", TensorRole::norm, 1, width, false});
  add_layer_extra(spec, {"per_layer_input_gate", TensorRole::other, width, spec.hidden_size, true});
  add_layer_extra(spec, {"per_layer_projection", TensorRole::other, spec.hidden_size, width, true});
  add_layer_extra(spec,
                  {"post_per_layer_input_norm", TensorRole::norm, 1, spec.hidden_size, false});
}

/// Widths of the dense blocks, one number or one per layer.
std::vector<uint64_t> read_widths(ConfigView& view, uint64_t num_layers) {
  if (const auto widths = view.per_layer("intermediate_size", num_layers, kDimRange))
    return *widths;
  if (!view.given("intermediate_size")) view.require("intermediate_size");
  return std::vector<uint64_t>(static_cast<size_t>(num_layers), 1);
}

void add_laurel_and_altup(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const uint64_t hidden = spec.hidden_size;
  const uint64_t rank = view.u64_or("laurel_rank", 64);
  const uint64_t streams = view.u64_or("altup_num_inputs", 4, {1, 64});
  for (std::string_view key : {"altup_active_idx", "activation_sparsity_pattern", "altup_coef_clip",
                               "altup_correct_scale"}) {
    view.ignore(key);
  }
  add_layer_extra(spec, {"laurel.linear_left", TensorRole::other, rank, hidden, true});
  add_layer_extra(spec, {"laurel.linear_right", TensorRole::other, hidden, rank, true});
  add_layer_extra(spec, {"laurel.post_laurel_norm", TensorRole::norm, 1, hidden, false});
  add_layer_extra(spec, {"altup.correct_output_scale", TensorRole::other, 1, hidden, false});
  add_layer_extra(spec, {"altup.correction_coefs", TensorRole::other, streams, streams, false});
  add_layer_extra(spec,
                  {"altup.prediction_coefs", TensorRole::other, streams * streams, streams, false});
  add_layer_extra(spec, {"altup.modality_router", TensorRole::other, streams, hidden, false});
  add_layer_extra(spec, {"altup.router_norm", TensorRole::norm, 1, hidden, false});
  for (uint64_t i = 1; i < streams; ++i) {
    const std::string index = std::to_string(i - 1);
    spec.extras.push_back(
        {"model.altup_projections." + index, TensorRole::other, hidden, hidden, true});
    spec.extras.push_back(
        {"model.altup_unembed_projections." + index, TensorRole::other, hidden, hidden, true});
  }
}

/// Layers that share a cache still store key and value projections of their own.
void add_unused_projections(ModelSpec& spec) {
  for (Layer& layer : spec.layers) {
    const auto& a = std::get<Attention>(layer.mixers.front());
    if (!a.cache_shared_with) continue;
    layer.extras.push_back({"self_attn.k_proj", TensorRole::attention_k,
                            a.num_kv_heads * a.head_dim, spec.hidden_size, true});
    layer.extras.push_back({"self_attn.v_proj", TensorRole::attention_v,
                            a.num_kv_heads * a.v_head_dim, spec.hidden_size, true});
  }
}

/// Full layers of Gemma 4 have wider heads, fewer of them, and may use the keys as values.
void widen_full_layers(Import& import, const std::vector<LayerSpan>& spans) {
  ConfigView& view = import.text();
  const bool k_is_v = view.flag("attention_k_eq_v", false);
  const auto head_dim = view.u64("global_head_dim", kDimRange);
  const auto kv_heads = view.u64("num_global_key_value_heads", kHeadRange);
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].window_tokens != 0) continue;
    auto& a = std::get<Attention>(import.spec.layers[i].mixers.front());
    if (head_dim) a.head_dim = a.v_head_dim = *head_dim;
    if (kv_heads && k_is_v) a.num_kv_heads = *kv_heads;
    a.v_equals_k = k_is_v;
  }
}

/// Experts beside the dense block, with norms of their own and a scaled router.
void add_gemma4_experts(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  MoeFfn moe = read_moe_ffn(view, traits);
  for (Layer& layer : spec.layers) {
    moe.shared_intermediate_size = std::get<DenseFfn>(layer.ffn).intermediate_size;
    layer.ffn = moe;
    layer.norms.insert(layer.norms.end(), 3, spec.hidden_size);
    layer.extras.push_back({"router.scale", TensorRole::router, 1, spec.hidden_size, false});
    layer.extras.push_back(
        {"router.per_expert_scale", TensorRole::router, 1, moe.num_experts, false});
  }
}

void build_layers(Import& import, const Traits& traits, uint64_t num_layers) {
  const Attention attention = read_attention(import, traits);
  const std::vector<uint64_t> widths = read_widths(import.text(), num_layers);
  const std::vector<LayerSpan> spans = read_spans(import, traits, num_layers);
  if (import.failed()) return;
  import.spec.layers = make_layers(import, traits, num_layers);
  for (size_t i = 0; i < import.spec.layers.size(); ++i) {
    Attention own = attention;
    own.window_tokens = spans[i].window_tokens;
    DenseFfn ffn;
    ffn.intermediate_size = widths[i];
    import.spec.layers[i].mixers = {own};
    import.spec.layers[i].ffn = ffn;
  }
  share_caches(import, spans);
}

std::vector<LayerSpan> spans_of(const ModelSpec& spec) {
  std::vector<LayerSpan> spans;
  for (const Layer& layer : spec.layers)
    spans.push_back({std::get<Attention>(layer.mixers.front()).window_tokens, 0});
  return spans;
}

void double_shared_widths(ModelSpec& spec) {
  for (Layer& layer : spec.layers) {
    const bool is_shared = std::get<Attention>(layer.mixers.front()).cache_shared_with.has_value();
    if (is_shared) std::get<DenseFfn>(layer.ffn).intermediate_size *= 2;
  }
}

}  // namespace

void build_gemma3n(Import& import, const Traits& traits) {
  const uint64_t num_layers = read_model_dims(import, traits);
  if (import.failed()) return;
  build_layers(import, traits, num_layers);
  if (import.failed()) return;
  add_unused_projections(import.spec);
  add_laurel_and_altup(import);
  add_layer_inputs(import, false);
}

void build_gemma4(Import& import, const Traits& traits) {
  const uint64_t num_layers = read_model_dims(import, traits);
  if (import.failed()) return;
  build_layers(import, traits, num_layers);
  if (import.failed()) return;
  ConfigView& view = import.text();
  widen_full_layers(import, spans_of(import.spec));
  if (view.flag("use_double_wide_mlp", false)) double_shared_widths(import.spec);
  for (std::string_view key : {"expert_intermediate_size", "num_experts", "num_experts_per_tok",
                               "moe_intermediate_size"}) {
    if (!view.flag("enable_moe_block", false)) view.ignore(key);
  }
  if (view.flag("enable_moe_block", false)) add_gemma4_experts(import, traits);
  add_unused_projections(import.spec);
  add_layer_inputs(import, true);
}

}  // namespace vramgauge::hf

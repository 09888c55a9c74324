// Families whose windowed and full layers have different heads, or whose sparse layers keep an
// index.
#include "import/hf_families_adjust.h"
#include "import/hf_families_adjust_moe.h"
#include "import/hf_families_special.h"

namespace vramgauge::hf {
namespace {

/// One gate value per head in front of the output projection.
void add_head_gates(ModelSpec& spec) {
  for (Layer& layer : spec.layers) {
    const auto& a = std::get<Attention>(layer.mixers.front());
    layer.extras.push_back(
        {"self_attn.g_proj", TensorRole::attention_other, a.num_heads, spec.hidden_size, true});
  }
}

/// Heads of the windowed layers, where they differ.
void read_window_heads(Import& import) {
  ConfigView& view = import.text();
  const json::Value* other = view.raw("attention_other_setting");
  if (other == nullptr) return;
  ConfigView inner(*other, view.path_to("attention_other_setting"), import.errors, import.notes);
  const auto heads = inner.u64("num_attention_heads", kHeadRange);
  const auto kv_heads = inner.u64("num_key_value_heads", kHeadRange);
  const auto head_dim = inner.u64("head_dim", kDimRange);
  for_each_attention(import.spec, [&](Attention& a) {
    if (a.window_tokens == 0) return;
    a.num_heads = heads.value_or(a.num_heads);
    a.num_kv_heads = kv_heads.value_or(a.num_kv_heads);
    if (head_dim) a.head_dim = a.v_head_dim = *head_dim;
  });
}

struct SparseAttention {
  Indexer indexer;
  std::vector<uint64_t> is_sparse;
};

/// The block-sparse layers keep one index key per token; queries of the index have their own heads.
std::optional<SparseAttention> read_sparse(Import& import, uint64_t num_layers) {
  ConfigView& view = import.text();
  const json::Value* value = view.raw("sparse_attention_config");
  if (value == nullptr) return std::nullopt;
  ConfigView inner(*value, view.path_to("sparse_attention_config"), import.errors, import.notes);
  if (!inner.flag("use_sparse_attention", true)) return std::nullopt;
  SparseAttention sparse;
  sparse.indexer.num_heads = inner.require("sparse_num_index_heads", kHeadRange);
  sparse.indexer.head_dim = inner.require("sparse_index_dim");
  const uint64_t block_tokens = inner.u64_or("sparse_block_size", 1, kTokenRange);
  sparse.indexer.top_k_tokens = inner.u64_or("sparse_topk_blocks", 0) * block_tokens;
  const auto layers = inner.per_layer("sparse_attention_freq", num_layers, {0, 1});
  sparse.is_sparse = layers.value_or(std::vector<uint64_t>(static_cast<size_t>(num_layers), 1));
  return sparse;
}

/// Draft layers: windowed attention, a dense block and an output matrix of their own.
void add_step3_mtp(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const uint64_t num_mtp = view.u64_or("num_nextn_predict_layers", 0, {0, kLayerRange.max});
  const uint64_t hidden = spec.hidden_size;
  for (const Layer& layer : spec.layers) {
    if (std::get<Attention>(layer.mixers.front()).window_tokens == 0) continue;
    Layer mtp = layer;
    DenseFfn ffn;
    ffn.intermediate_size = view.require("intermediate_size");
    mtp.ffn = ffn;
    mtp.extras.push_back({"eh_proj", TensorRole::mtp, hidden, 2 * hidden, true});
    for (const char* norm : {"enorm", "hnorm", "transformer.shared_head.norm"})
      mtp.extras.push_back({norm, TensorRole::mtp, 1, hidden, false});
    mtp.extras.push_back(
        {"transformer.shared_head.output", TensorRole::mtp, spec.vocab_size, hidden, true});
    spec.mtp_layers.assign(static_cast<size_t>(num_mtp), mtp);
    return;
  }
}

}  // namespace

void adjust_step3(Import& import) {
  ConfigView& view = import.text();
  read_window_heads(import);
  for (std::string_view key : {"moe_layer_offset", "moe_every_n_layer", "share_q_dim", "use_mfa"})
    view.ignore(key);
  if (view.flag("use_head_wise_attn_gate", true)) add_head_gates(import.spec);
  add_step3_mtp(import);
}

void adjust_laguna(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const auto heads =
      view.per_layer("num_attention_heads_per_layer", spec.layers.size(), kHeadRange);
  for (size_t i = 0; heads && i < spec.layers.size(); ++i) {
    auto& a = std::get<Attention>(spec.layers[i].mixers.front());
    a.num_heads = (*heads)[i];
    if (a.num_heads % a.num_kv_heads == 0) continue;
    view.error(ErrorCode::model_heads_not_divisible, "num_attention_heads_per_layer",
               {{"heads", a.num_heads}, {"kv_heads", a.num_kv_heads}});
    return;
  }
  for (std::string_view key :
       {"gating", "gating_types", "use_bidirectional_attention", "moe_router_logit_softcapping"})
    view.ignore(key);
  add_head_gates(spec);
}

void build_minimax_m3(Import& import, const Traits& traits) {
  build_decoder(import, traits);
  if (import.failed()) return;
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const auto dense_width = view.u64("dense_intermediate_size", kDimRange);
  const auto sparse = read_sparse(import, spec.layers.size());
  if (view.flag("attention_output_gate", false)) {
    for_each_attention(spec, [](Attention& a) { a.output_gate = true; });
  }
  for (std::string_view key :
       {"qk_norm_type", "num_mtp_modules", "mtp_transformer_layers", "use_mtp"})
    view.ignore(key);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    Layer& layer = spec.layers[i];
    if (auto* dense = std::get_if<DenseFfn>(&layer.ffn); dense != nullptr && dense_width)
      dense->intermediate_size = *dense_width;
    if (sparse && sparse->is_sparse[i] != 0)
      std::get<Attention>(layer.mixers.front()).indexer = sparse->indexer;
  }
}

void adjust_mimo_v2(Import& import) {
  ConfigView& view = import.text();
  ModelSpec& spec = import.spec;
  const auto pattern = view.per_layer("hybrid_layer_pattern", spec.layers.size(), {0, 1});
  if (!pattern) {
    view.error(ErrorCode::model_missing_dimension, "hybrid_layer_pattern",
               {{"key", "hybrid_layer_pattern"}, {"model_type", view.model_type()}});
    return;
  }
  const uint64_t window = view.require("sliding_window", {1, kTokenRange.max});
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if ((*pattern)[i] == 0) continue;
    auto& a = std::get<Attention>(spec.layers[i].mixers.front());
    a.window_tokens = window;
    a.num_heads = view.u64_or("swa_num_attention_heads", a.num_heads, kHeadRange);
    a.num_kv_heads = view.u64_or("swa_num_key_value_heads", a.num_kv_heads, kHeadRange);
    a.head_dim = view.u64_or("swa_head_dim", a.head_dim, kDimRange);
    a.v_head_dim = view.u64_or("swa_v_head_dim", a.v_head_dim, kDimRange);
    a.has_sinks = view.flag("add_swa_attention_sink_bias", false);
  }
  for (std::string_view key :
       {"swa_rope_theta", "add_full_attention_sink_bias", "attention_value_scale"})
    view.ignore(key);
}

}  // namespace vramgauge::hf

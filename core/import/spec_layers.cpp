#include "import/spec_parts.h"

#include <iterator>
#include <utility>

namespace vramgauge::spec {
namespace {

constexpr std::string_view kQkNorms[] = {"none", "per_head_dim", "per_head"};
constexpr Names kQkNormNames = names(kQkNorms);
constexpr std::string_view kTowerKinds[] = {"vision", "audio", "encoder"};
constexpr Names kTowerKindNames = names(kTowerKinds);
/// In the order of Mixer's alternatives.
constexpr std::string_view kMixerKinds[] = {
    "attention",   "latent_attention", "compressed_attention", "mamba1", "mamba2",
    "gated_delta", "linear_attention", "short_conv",           "rwkv",   "gated_lru"};
constexpr Names kMixerKindNames = names(kMixerKinds);
static_assert(std::size(kMixerKinds) == std::variant_size_v<Mixer>);
/// In the order of Ffn's alternatives behind the empty one.
constexpr std::string_view kFfnKinds[] = {"dense", "moe"};
constexpr Names kFfnKindNames = names(kFfnKinds);

template <typename Variant, size_t... I>
void emplace(Variant& variant, uint64_t index, std::index_sequence<I...> /*all*/) {
  ((index == I ? static_cast<void>(variant.template emplace<I>()) : static_cast<void>(0)), ...);
}

}  // namespace

static void describe(Fields& f, Indexer& x) {
  f.number("num_heads", x.num_heads, Limit::optional_count);
  f.number("head_dim", x.head_dim, Limit::optional_dim);
  f.number("top_k_tokens", x.top_k_tokens, Limit::tokens);
  f.number("tokens_per_key", x.tokens_per_key, Limit::count, 1);
  f.flag("stores_keys", x.stores_keys, true);
}

static void describe(Fields& f, Attention& a) {
  f.number("num_heads", a.num_heads, Limit::heads);
  f.number("num_kv_heads", a.num_kv_heads, Limit::heads);
  f.number("head_dim", a.head_dim, Limit::dim);
  f.number("v_head_dim", a.v_head_dim, Limit::dim, a.head_dim);
  f.number("window_tokens", a.window_tokens, Limit::tokens);
  f.number("chunk_tokens", a.chunk_tokens, Limit::tokens);
  f.optional_number("cache_shared_with", a.cache_shared_with, Limit::optional_count);
  f.flag("is_cross", a.is_cross);
  f.flag("q_bias", a.q_bias);
  f.flag("k_bias", a.k_bias);
  f.flag("v_bias", a.v_bias);
  f.flag("o_bias", a.o_bias);
  f.choice("qk_norm", a.qk_norm, kQkNormNames, QkNorm::none);
  f.flag("output_gate", a.output_gate);
  f.flag("has_sinks", a.has_sinks);
  f.flag("qk_norm_bias", a.qk_norm_bias);
  f.flag("fused_qkv", a.fused_qkv);
  f.flag("v_equals_k", a.v_equals_k);
  f.flag("has_projections", a.has_projections, true);
  f.object("indexer", a.indexer);
}

static void describe(Fields& f, LatentAttention& a) {
  f.number("num_heads", a.num_heads, Limit::heads);
  f.number("q_lora_rank", a.q_lora_rank, Limit::optional_dim);
  f.number("kv_lora_rank", a.kv_lora_rank, Limit::dim);
  f.number("qk_nope_head_dim", a.qk_nope_head_dim, Limit::optional_dim);
  f.number("qk_rope_head_dim", a.qk_rope_head_dim, Limit::optional_dim);
  f.number("v_head_dim", a.v_head_dim, Limit::dim);
  f.flag("bias", a.bias);
  f.flag("output_gate", a.output_gate);
  f.object("indexer", a.indexer);
}

static void describe(Fields& f, CompressedAttention& a) {
  f.number("num_heads", a.num_heads, Limit::heads);
  f.number("head_dim", a.head_dim, Limit::dim);
  f.number("rope_head_dim", a.rope_head_dim, Limit::optional_dim);
  f.number("q_lora_rank", a.q_lora_rank, Limit::optional_dim);
  f.number("o_lora_rank", a.o_lora_rank, Limit::optional_dim);
  f.number("o_groups", a.o_groups, Limit::optional_count);
  f.number("window_tokens", a.window_tokens, Limit::tokens);
  f.number("compress_ratio", a.compress_ratio, Limit::optional_count);
  f.object("indexer", a.indexer);
}

static void describe(Fields& f, Mamba1& m) {
  f.number("d_inner", m.d_inner, Limit::dim);
  f.number("d_state", m.d_state, Limit::dim);
  f.number("d_conv", m.d_conv, Limit::optional_count);
  f.number("dt_rank", m.dt_rank, Limit::optional_dim);
  f.flag("conv_bias", m.conv_bias, true);
  f.flag("proj_bias", m.proj_bias);
  f.flag("has_inner_norms", m.has_inner_norms);
}

static void describe(Fields& f, Mamba2& m) {
  f.number("num_heads", m.num_heads, Limit::heads);
  f.number("head_dim", m.head_dim, Limit::dim);
  f.number("num_groups", m.num_groups, Limit::optional_count);
  f.number("d_state", m.d_state, Limit::dim);
  f.number("d_conv", m.d_conv, Limit::optional_count);
  f.flag("conv_bias", m.conv_bias, true);
  f.flag("proj_bias", m.proj_bias);
  f.flag("has_gated_norm", m.has_gated_norm, true);
}

static void describe(Fields& f, GatedDelta& m) {
  f.number("num_k_heads", m.num_k_heads, Limit::heads);
  f.number("num_v_heads", m.num_v_heads, Limit::heads);
  f.number("k_head_dim", m.k_head_dim, Limit::dim);
  f.number("v_head_dim", m.v_head_dim, Limit::dim);
  f.number("d_conv", m.d_conv, Limit::optional_count);
  f.flag("is_channel_wise", m.is_channel_wise);
  f.flag("has_full_rank_gate", m.has_full_rank_gate);
  f.flag("fused_projections", m.fused_projections);
}

static void describe(Fields& f, LinearAttention& m) {
  f.number("num_heads", m.num_heads, Limit::heads);
  f.number("head_dim", m.head_dim, Limit::dim);
}

static void describe(Fields& f, ShortConv& m) {
  f.number("dim", m.dim, Limit::dim);
  f.number("d_conv", m.d_conv, Limit::optional_count);
  f.flag("bias", m.bias);
  f.flag("has_projections", m.has_projections, true);
}

static void describe(Fields& f, Rwkv& m) {
  f.number("version", m.version, Limit::rwkv_version);
  f.number("hidden_size", m.hidden_size, Limit::dim);
  f.number("num_heads", m.num_heads, Limit::optional_heads);
  f.number("head_dim", m.head_dim, Limit::optional_dim);
  f.number("mix_rank", m.mix_rank, Limit::optional_dim);
  f.number("decay_rank", m.decay_rank, Limit::optional_dim);
  f.number("gate_rank", m.gate_rank, Limit::optional_dim);
  f.number("learning_rate_rank", m.learning_rate_rank, Limit::optional_dim);
  f.number("value_rank", m.value_rank, Limit::optional_dim);
}

static void describe(Fields& f, GatedLru& m) {
  f.number("width", m.width, Limit::dim);
  f.number("num_heads", m.num_heads, Limit::optional_heads);
  f.number("d_conv", m.d_conv, Limit::optional_count);
}

static void describe(Fields& f, DenseFfn& ffn) {
  f.number("intermediate_size", ffn.intermediate_size, Limit::dim);
  f.flag("is_gated", ffn.is_gated, true);
  f.flag("bias", ffn.bias);
  f.flag("fused_gate_up", ffn.fused_gate_up);
}

static void describe(Fields& f, MoeFfn& moe) {
  f.number("num_experts", moe.num_experts, Limit::count);
  f.number("num_experts_per_tok", moe.num_experts_per_tok, Limit::optional_count);
  f.number("moe_intermediate_size", moe.moe_intermediate_size, Limit::dim);
  f.number("shared_intermediate_size", moe.shared_intermediate_size, Limit::optional_dim);
  f.number("expert_hidden_size", moe.expert_hidden_size, Limit::optional_dim);
  f.flag("is_gated", moe.is_gated, true);
  f.flag("bias", moe.bias);
  f.flag("router_bias", moe.router_bias);
  f.flag("has_correction_bias", moe.has_correction_bias);
  f.flag("has_shared_gate", moe.has_shared_gate);
}

static void describe(Fields& f, Mixer& mixer) {
  uint64_t kind = mixer.index();
  f.choice("kind", kind, kMixerKindNames);
  if (f.is_reading()) emplace(mixer, kind, std::make_index_sequence<std::variant_size_v<Mixer>>());
  std::visit([&](auto& one) { describe(f, one); }, mixer);
}

static void describe(Fields& f, Ffn& ffn) {
  uint64_t kind = f.is_reading() ? 0 : ffn.index() - 1;
  f.choice("kind", kind, kFfnKindNames);
  if (f.is_reading()) emplace(ffn, kind + 1, std::make_index_sequence<std::variant_size_v<Ffn>>());
  if (auto* dense = std::get_if<DenseFfn>(&ffn)) describe(f, *dense);
  if (auto* moe = std::get_if<MoeFfn>(&ffn)) describe(f, *moe);
}

static void describe(Fields& f, WeightTensor& tensor) {
  f.text("name", tensor.name);
  f.role("role", tensor.role);
  f.layer("layer", tensor.layer);
  f.number("rows", tensor.rows, Limit::elements, 1);
  f.number("cols", tensor.cols, Limit::elements);
  f.number("count", tensor.count, Limit::count, 1);
  f.number("active_count", tensor.active_count, Limit::optional_count, tensor.count);
  f.flag("is_matrix", tensor.is_matrix, true);
}

void describe(Fields& f, ExtraTensor& extra) {
  f.text("name", extra.name);
  f.role("role", extra.role);
  f.number("rows", extra.rows, Limit::elements, 1);
  f.number("cols", extra.cols, Limit::elements);
  f.flag("is_matrix", extra.is_matrix);
}

void describe(Fields& f, Layer& layer) {
  f.list("mixers", layer.mixers);
  std::optional<Ffn> ffn;
  if (!std::holds_alternative<std::monostate>(layer.ffn)) ffn = layer.ffn;
  f.object("ffn", ffn);
  if (ffn) layer.ffn = std::move(*ffn);
  f.numbers("norms", layer.norms, Limit::dim);
  f.flag("norm_bias", layer.norm_bias);
  f.list("extras", layer.extras);
}

void describe(Fields& f, Tower& tower) {
  f.choice("kind", tower.kind, kTowerKindNames, Tower::Kind::vision);
  f.list("tensors", tower.tensors);
  f.flag("is_counted", tower.is_counted, true);
}

void describe(Fields& f, RotaryTable& table) {
  f.number("rows", table.rows, Limit::elements);
  f.number("dim", table.dim, Limit::count);
  f.flag("is_local", table.is_local);
}

void describe(Fields& f, LayerTable& table) {
  f.list("kinds", table.kinds);
  f.sequence("order", table.order, table.kinds.empty() ? 0 : table.kinds.size() - 1, kMaxLayers);
}

}  // namespace vramgauge::spec

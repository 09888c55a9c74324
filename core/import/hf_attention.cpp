// Softmax attention of a configuration: heads, widths, biases, windows.
#include "import/hf_families.h"

namespace vramgauge::hf {
namespace {

uint64_t read_head_dim(ConfigView& view, uint64_t hidden, uint64_t heads) {
  if (const auto given = view.u64("head_dim", kDimRange)) return *given;
  if (hidden % heads == 0) return hidden / heads;
  view.error(
      ErrorCode::model_inconsistent, "num_attention_heads",
      {{"key", "num_attention_heads"},
       {"other", "hidden_size"},
       {"detail", std::to_string(hidden) + " is not divisible by " + std::to_string(heads)}});
  return 1;
}

uint64_t read_kv_heads(ConfigView& view, uint64_t heads) {
  const bool is_multi_query =
      view.flag("multi_query", false) || view.flag("multi_query_attention", false);
  const uint64_t fallback = is_multi_query ? 1 : heads;
  const uint64_t kv_heads = view.u64_or("num_key_value_heads", fallback, kHeadRange);
  if (heads % kv_heads != 0) {
    view.error(ErrorCode::model_heads_not_divisible, "num_key_value_heads",
               {{"heads", heads}, {"kv_heads", kv_heads}});
  }
  return kv_heads;
}

}  // namespace

Attention read_attention(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  Attention attention;
  attention.num_heads = view.require("num_attention_heads", kHeadRange);
  attention.num_kv_heads = read_kv_heads(view, attention.num_heads);
  attention.head_dim = read_head_dim(view, import.spec.hidden_size, attention.num_heads);
  attention.v_head_dim = view.u64("v_head_dim", kDimRange).value_or(attention.head_dim);
  const bool qkv_bias = read_flag(view, traits.qkv_bias);
  attention.q_bias = attention.k_bias = attention.v_bias = qkv_bias;
  attention.o_bias = read_flag(view, traits.o_bias);
  attention.qk_norm = read_flag(view, traits.qk_norm_if) ? traits.qk_norm : QkNorm::none;
  attention.fused_qkv = traits.fused_qkv;
  attention.output_gate = traits.output_gate;
  attention.has_sinks = traits.has_sinks;
  return attention;
}

}  // namespace vramgauge::hf

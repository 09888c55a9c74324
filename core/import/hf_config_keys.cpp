// The vocabulary of configurations: aliases, keys that change no size, words that speak of a shape.
#include <algorithm>
#include <iterator>

#include "import/hf_config_view.h"

namespace vramgauge::hf {
namespace {

struct Alias {
  std::string_view key;
  std::string_view others[9];
};

constexpr Alias kAliases[] = {
    {"hidden_size", {"n_embd", "n_embed", "d_model", "model_dim"}},
    {"num_hidden_layers", {"n_layer", "n_layers", "num_layers"}},
    {"num_attention_heads", {"n_head", "n_heads", "num_heads", "attention_heads"}},
    {"num_key_value_heads",
     {"num_kv_heads", "n_head_kv", "n_kv_heads", "kv_n_heads", "num_query_groups",
      "num_attention_groups", "multi_query_group_num", "num_multi_query_heads"}},
    {"intermediate_size",
     {"ffn_hidden_size", "n_inner", "ffn_dim", "d_ff", "inner_hidden_size", "d_ffn", "dff", "ff_intermediate_size"}},
    {"head_dim", {"kv_channels", "attention_head_dim", "head_size", "attention_key_value_channels"}},
    {"vocab_size", {"padded_vocab_size", "n_vocab"}},
    {"max_position_embeddings",
     {"n_positions", "seq_length", "max_seq_len", "max_sequence_length", "n_ctx",
      "model_max_length", "max_seq_length"}},
    {"num_experts",
     {"n_routed_experts", "num_local_experts", "moe_num_experts", "num_moe_experts", "n_experts",
      "num_routed_experts"}},
    {"num_experts_per_tok",
     {"moe_k", "moe_topk", "moe_top_k", "num_experts_per_token", "experts_per_token",
      "top_k_experts", "num_selected_experts"}},
    {"moe_intermediate_size",
     {"expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_hidden_dim", "expert_dim"}},
    {"n_shared_experts", {"num_shared_experts", "moe_num_shared_experts", "num_shared_expert"}},
    {"shared_expert_intermediate_size",
     {"shared_intermediate_size", "share_expert_dim", "moe_shared_expert_intermediate_size"}},
    {"first_k_dense_replace", {"num_dense_layers", "moe_layer_start_index"}},
    {"tie_word_embeddings", {"weight_tying", "tie_embeddings"}},
    {"attention_bias", {"use_attention_bias"}},
    {"sliding_window", {"sliding_window_size"}},
};

constexpr std::string_view kNone[] = {""};

constexpr std::string_view kIrrelevant[] = {
    "architectures", "model_type", "auto_map", "torch_dtype", "dtype", "transformers_version",
    "use_cache", "hidden_act", "hidden_activation", "activation_function", "activation",
    "attn_implementation", "initializer_range", "initializer_factor", "pretraining_tp",
    "gradient_checkpointing", "quantization_config", "compression_config", "ep_size", "task_specific_params",
    "id2label", "label2id", "language", "name_or_path", "is_decoder", "is_encoder_decoder",
    "chunk_size_feed_forward", "add_cross_attention", "cross_attention_hidden_size", "problem_type",
    "pruned_heads", "output_attentions", "output_hidden_states", "return_dict", "finetuning_task",
    "tf_legacy_loss", "use_bfloat16", "torchscript", "prefix", "num_labels", "bf16", "fp16", "fp32",
    "max_length", "min_length", "num_beams", "num_beam_groups", "num_return_sequences", "top_k",
    "top_p", "typical_p", "temperature", "do_sample", "early_stopping", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "length_penalty", "repetition_penalty", "diversity_penalty",
    "output_scores", "return_dict_in_generate", "remove_invalid_values", "bad_words_ids",
    "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens", "forced_bos_token_id",
    "tie_encoder_decoder", "tokenizer_class", "cache_implementation", "query_pre_attn_scalar",
    "partial_rotary_factor", "rotary", "rotary_dim", "rotary_pct", "rotary_emb_base",
    "partial_rotary_factors", "kv_cache_scheme", "n_group", "topk_group", "num_expert_group", "topk_method",
    "scoring_func", "seq_aux", "norm_topk_prob", "norm_expert_weight", "use_parallel_residual",
    "parallel_attn", "parallel_attention", "logit_scale", "logits_scaling", "clip_qkv", "mup_enabled",
    "no_rope_layers", "no_rope_layer_interval", "nope_layer_interval", "use_mrope", "runner_max_sequence_length",
    "for_llm_compressor", "max_window_layers", "use_sliding_window", "attn_temperature_tuning", "floor_scale",
    "scale_attn_weights", "scale_attention_softmax_in_fp32", "attention_softmax_in_fp32",
    "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "do_layer_norm_before",
    "apply_query_key_layer_scaling", "apply_residual_connection_post_layernorm", "bias_dropout_fusion",
    "fp32_residual_connection", "slow_but_exact", "masked_softmax_fusion", "skip_bias_add",
    "skip_bias_add_qkv", "offset_alibi", "original_rope", "post_layer_norm", "rmsnorm", "pre_seq_len",
    "prefix_projection", "use_cache_quantization", "use_cache_kernel", "softmax_in_fp32", "use_flash_attn",
    "use_flash_attention", "use_logn_attn", "use_dynamic_ntk", "model_max_length", "max_sequence_length",
    "seq_length", "alibi", "alibi_bias_max", "multi_query", "use_alibi", "use_rope", "learned_pos_emb",
    "num_experts_per_tok", "router_aux_loss_coef", "output_router_logits", "aux_loss_alpha", "aux_loss_free",
    "moe_router_activation", "moe_router_scaling_factor", "routed_scaling_factor", "route_scale", "route_norm",
    "score_func", "load_balance_coeff", "need_fp32_gate", "moe_routed_scaling_factor", "kv_lora_scale",
    "att_impl_type", "attention_method", "head_dtype", "norm_after", "layer_norm_type", "attention_layer_norm",
    "use_position_ids", "attention_type", "pad_head_dim_to_multiple_of", "rope_interleave", "expert_dtype",
    "scale_emb", "scale_depth", "dim_model_base", "embedding_multiplier", "residual_multiplier",
    "attention_multiplier", "attn_output_multiplier", "embedding_multiplier_scale", "output_multiplier_scale",
    "attn_scale", "rope_local_base_freq", "use_gemma_norm", "swiglu_alpha", "swiglu_limit",
    "moe_apply_router_weight_on_input", "template_version", "num_reward_heads",
    "bias_dropout_add", "summary_type", "norm_type", "layernorm_epsilon", "use_moe_router_bias",
    "is_llama_config", "original_max_position_embeddings", "moe_router_dtype", "model_size",
    "attention_bias", "mlp_bias", "qkv_bias", "use_bidirectional_attention", "full_attn_mod",
    "interpolate_factor", "flash_attn", "n_special", "order_of_interleaved_layers", "mlp_type",
    "embedding_fraction", "mtp_share_layers", "faster_token_stride", "tp_size", 
};

constexpr std::string_view kIrrelevantSuffixes[] = {
    "_token_id", "_token_ids", "_token_index", "_token", "_dropout", "_dropout_prob", "dropout", "_pdrop",
    "_eps", "_epsilon", "_init_range", "_initializer_range", "_softcapping", "_softcap", "_loss_coef",
    "_loss_weight", "_jitter_noise", "_implementation", "_implementation_internal", "_theta", "_coef",
    "_coeff", "_lr", "_beta", "_alpha", "_multipliers", "_act", "_activation", "_multiplier", "_prob",
    "_scaling_factor",
};

constexpr std::string_view kIrrelevantPrefixes[] = {"_", "rope", "summary_", "init_", "initializer", "tokenizer", "generation", "mup_", "lr_"};

constexpr std::string_view kStructuralWords[] = {
    "layer", "head", "dim", "rank", "window", "state", "expert", "conv", "attn", "attention", "ssm",
    "kv", "cache", "block", "size", "pattern", "hidden", "width", "depth", "mamba", "lora", "memory",
    "group", "chunk", "channel", "latent", "compress", "recurrent", "mixer", "moe", "mlp", "ffn",
    "embed", "num_", "n_", "stride", "kernel", "mtp", "nextn",
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

const std::string_view* aliases_of(std::string_view key) {
  const auto* found = std::find_if(std::begin(kAliases), std::end(kAliases),
                                   [&](const Alias& alias) { return alias.key == key; });
  return found == std::end(kAliases) ? kNone : found->others;
}

bool is_irrelevant_key(std::string_view key) {
  const auto equals = [&](std::string_view other) { return key == other; };
  const auto ends = [&](std::string_view end) { return ends_with(key, end); };
  const auto starts = [&](std::string_view start) { return starts_with(key, start); };
  return std::any_of(std::begin(kIrrelevant), std::end(kIrrelevant), equals) ||
         std::any_of(std::begin(kIrrelevantSuffixes), std::end(kIrrelevantSuffixes), ends) ||
         std::any_of(std::begin(kIrrelevantPrefixes), std::end(kIrrelevantPrefixes), starts);
}

bool looks_structural(std::string_view key) {
  const auto contains = [&](std::string_view word) { return key.find(word) != key.npos; };
  return std::any_of(std::begin(kStructuralWords), std::end(kStructuralWords), contains);
}

}  // namespace vramgauge::hf

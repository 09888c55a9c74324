#include "import/gguf_layers.h"

#include <algorithm>
#include <utility>

namespace vramgauge::gguf {

bool Keys::has(std::string_view name) const {
  return header_.find(prefix_ + std::string(name)) != nullptr;
}

void Keys::error(ErrorCode code, std::string_view name, ErrorArgs args) {
  args.push_back({"key", prefix_ + std::string(name)});
  errors_.push_back({code, "", std::move(args), std::nullopt});
}

std::optional<uint64_t> Keys::in_range(std::string_view name, std::optional<uint64_t> value,
                                       uint64_t max) {
  if (value && *value <= max) return value;
  error(ErrorCode::gguf_bad_key, name,
        {{"expected", "an integer from 0 to " + std::to_string(max)}});
  return std::nullopt;
}

std::optional<uint64_t> Keys::find(std::string_view name, uint64_t max) {
  const std::string key = prefix_ + std::string(name);
  if (header_.find(key) == nullptr) return std::nullopt;
  return in_range(name, header_.u64(key), max);
}

std::optional<uint64_t> Keys::find_at(std::string_view name, uint64_t layer, uint64_t max) {
  const GgufValue* value = header_.find(prefix_ + std::string(name));
  const auto* list = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (list == nullptr) return find(name, max);
  return in_range(name, list->u64_at(layer), max);
}

uint64_t Keys::require(std::string_view name, uint64_t max) {
  if (!has(name)) {
    error(ErrorCode::gguf_missing_key, name);
    return 0;
  }
  return find(name, max).value_or(0);
}

const GgufTensorInfo* LayerTensors::find(std::string_view rest) const {
  const auto found = tensors_.find(rest);
  return found == tensors_.end() ? nullptr : found->second.tensor;
}

const GgufTensorInfo* LayerTensors::take(std::string_view rest) {
  const auto found = tensors_.find(rest);
  if (found == tensors_.end()) return nullptr;
  found->second.is_taken = true;
  return found->second.tensor;
}

std::vector<const GgufTensorInfo*> LayerTensors::rest() const {
  std::vector<const GgufTensorInfo*> left;
  for (const auto& [name, slot] : tensors_) {
    if (!slot.is_taken) left.push_back(slot.tensor);
  }
  return left;
}

bool LayerTensors::has_prefix(std::string_view prefix) const {
  const auto found = tensors_.lower_bound(prefix);
  return found != tensors_.end() && found->first.substr(0, prefix.size()) == prefix;
}

const GgufTensorInfo* LayerTensors::take_all(std::string_view prefix) {
  const GgufTensorInfo* first = nullptr;
  for (auto at = tensors_.lower_bound(prefix); at != tensors_.end(); ++at) {
    if (at->first.substr(0, prefix.size()) != prefix) break;
    at->second.is_taken = true;
    if (first == nullptr) first = at->second.tensor;
  }
  return first;
}

bool check_width(LayerContext& context, const GgufTensorInfo& tensor, uint64_t found,
                 std::string_view key, uint64_t expected) {
  if (found == expected) return true;
  context.keys.error(
      ErrorCode::gguf_shape_conflict, key,
      {{"tensor", tensor.name},
       {"detail", std::to_string(found) + " instead of " + std::to_string(expected)}});
  return false;
}

namespace {

/// Lengths of one key and one value; windowed layers may have their own.
struct HeadDims {
  uint64_t key = 0;
  uint64_t value = 0;
};

HeadDims read_head_dims(LayerContext& context, uint64_t num_heads, bool is_windowed) {
  Keys& keys = context.keys;
  const uint64_t fallback = num_heads == 0 ? 0 : context.hidden_size / num_heads;
  HeadDims dims;
  dims.key = keys.find("attention.key_length").value_or(fallback);
  dims.value = keys.find("attention.value_length").value_or(fallback);
  if (!is_windowed) return dims;
  dims.key = keys.find("attention.key_length_swa").value_or(dims.key);
  dims.value = keys.find("attention.value_length_swa").value_or(dims.value);
  return dims;
}

QkNorm take_qk_norm(LayerTensors& tensors, Attention& attention) {
  const GgufTensorInfo* q = tensors.find("attn_q_norm.weight");
  const GgufTensorInfo* k = tensors.find("attn_k_norm.weight");
  if (q == nullptr || k == nullptr) return QkNorm::none;
  const bool is_shared = q->elements() == attention.head_dim && k->elements() == attention.head_dim;
  const bool is_per_head = q->elements() == attention.num_heads * attention.head_dim &&
                           k->elements() == attention.num_kv_heads * attention.head_dim;
  if (!is_shared && !is_per_head) return QkNorm::none;
  tensors.take("attn_q_norm.weight");
  tensors.take("attn_k_norm.weight");
  attention.qk_norm_bias = tensors.claim("attn_q_norm.bias") && tensors.claim("attn_k_norm.bias");
  return is_shared ? QkNorm::per_head_dim : QkNorm::per_head;
}

class AttentionReader {
 public:
  AttentionReader(LayerContext& context, LayerTensors& tensors, uint64_t layer, const Span& span)
      : context_(context), tensors_(tensors) {
    Keys& keys = context.keys;
    attention_.num_heads = keys.find_at("attention.head_count", layer, kMaxHeads).value_or(0);
    attention_.num_kv_heads =
        keys.find_at("attention.head_count_kv", layer, kMaxHeads).value_or(attention_.num_heads);
    const HeadDims dims = read_head_dims(context, attention_.num_heads, span.window_tokens != 0);
    attention_.head_dim = dims.key;
    attention_.v_head_dim = dims.value;
    attention_.window_tokens = span.window_tokens;
    attention_.chunk_tokens = span.chunk_tokens;
    attention_.cache_shared_with = span.shared_with;
  }

  Attention read() {
    if (attention_.num_heads == 0) {
      context_.keys.error(ErrorCode::gguf_missing_key, "attention.head_count");
      return attention_;
    }
    if (tensors_.has("attn_qkv.weight")) {
      read_fused();
    } else {
      read_query();
      read_keys_values();
    }
    read_output();
    attention_.qk_norm = take_qk_norm(tensors_, attention_);
    attention_.has_sinks = tensors_.claim("attn_sinks.weight");
    return attention_;
  }

 private:
  uint64_t q_rows() const { return attention_.num_heads * attention_.head_dim; }
  uint64_t k_rows() const { return attention_.num_kv_heads * attention_.head_dim; }
  uint64_t v_rows() const { return attention_.num_kv_heads * attention_.v_head_dim; }

  void read_fused() {
    const GgufTensorInfo& qkv = *tensors_.take("attn_qkv.weight");
    attention_.fused_qkv = true;
    check_width(context_, qkv, qkv.dims[1], "attention.head_count", q_rows() + k_rows() + v_rows());
    attention_.q_bias = tensors_.claim("attn_qkv.bias");
  }

  void read_query() {
    const GgufTensorInfo& q = *tensors_.take("attn_q.weight");
    attention_.output_gate = q.dims[1] == 2 * q_rows();
    if (!attention_.output_gate)
      check_width(context_, q, q.dims[1], "attention.head_count", q_rows());
    attention_.q_bias = tensors_.claim("attn_q.bias");
    const GgufTensorInfo* gate = tensors_.find("attn_gate.weight");
    if (!attention_.output_gate && gate != nullptr && gate->dims[1] == q_rows()) {
      tensors_.take("attn_gate.weight");
      attention_.output_gate = true;
    }
  }

  void read_keys_values() {
    if (attention_.cache_shared_with) return;
    const GgufTensorInfo* k = tensors_.take("attn_k.weight");
    const GgufTensorInfo* v = tensors_.take("attn_v.weight");
    if (k == nullptr) {
      context_.keys.error(ErrorCode::gguf_missing_tensor, "attention.head_count_kv",
                          {{"tensor", "attn_k"}});
      return;
    }
    check_width(context_, *k, k->dims[1], "attention.head_count_kv", k_rows());
    attention_.k_bias = tensors_.claim("attn_k.bias");
    attention_.v_equals_k = v == nullptr;
    if (v == nullptr) return;
    check_width(context_, *v, v->dims[1], "attention.head_count_kv", v_rows());
    attention_.v_bias = tensors_.claim("attn_v.bias");
  }

  void read_output() {
    const GgufTensorInfo* out = tensors_.take("attn_output.weight");
    if (out == nullptr) return;
    check_width(context_, *out, out->dims[0], "attention.value_length",
                attention_.num_heads * attention_.v_head_dim);
    attention_.o_bias = tensors_.claim("attn_output.bias");
  }

  LayerContext& context_;
  LayerTensors& tensors_;
  Attention attention_;
};

std::optional<Indexer> read_indexer(LayerContext& context, LayerTensors& tensors) {
  Keys& keys = context.keys;
  if (!keys.has("attention.indexer.head_count")) return std::nullopt;
  Indexer indexer;
  indexer.num_heads = keys.require("attention.indexer.head_count", kMaxHeads);
  indexer.head_dim = keys.require("attention.indexer.key_length");
  indexer.top_k_tokens = keys.require("attention.indexer.top_k");
  indexer.stores_keys = tensors.has("indexer.attn_k.weight");
  if (!indexer.stores_keys) return indexer;
  for (const std::string_view name :
       {"indexer.attn_q_b.weight", "indexer.attn_k.weight", "indexer.proj.weight",
        "indexer.k_norm.weight", "indexer.k_norm.bias"}) {
    tensors.take(name);
  }
  return indexer;
}

void take_queries(LayerTensors& tensors, LatentAttention& latent) {
  if (const GgufTensorInfo* q_a = tensors.take("attn_q_a.weight")) {
    latent.q_lora_rank = q_a->dims[1];
    tensors.take("attn_q_a_norm.weight");
    tensors.take("attn_q_b.weight");
  } else {
    tensors.take("attn_q.weight");
  }
}

/// Keys and values come out of the latent head by head: one key of the file's first dimension.
LatentAttention read_latent(LayerContext& context, LayerTensors& tensors, uint64_t layer) {
  Keys& keys = context.keys;
  LatentAttention latent;
  latent.kv_lora_rank = keys.require("attention.kv_lora_rank");
  latent.num_heads = keys.find_at("attention.head_count", layer, kMaxHeads).value_or(0);
  const GgufTensorInfo& kv_a = *tensors.take("attn_kv_a_mqa.weight");
  const GgufTensorInfo& k_b = *tensors.take("attn_k_b.weight");
  const GgufTensorInfo& v_b = *tensors.take("attn_v_b.weight");
  tensors.take("attn_kv_a_norm.weight");
  tensors.take("attn_output.weight");
  latent.qk_nope_head_dim = k_b.dims[0];
  latent.v_head_dim = v_b.dims[1];
  check_width(context, k_b, k_b.dims[2], "attention.head_count", latent.num_heads);
  check_width(context, k_b, k_b.dims[1], "attention.kv_lora_rank", latent.kv_lora_rank);
  if (kv_a.dims[1] > latent.kv_lora_rank) {
    latent.qk_rope_head_dim = kv_a.dims[1] - latent.kv_lora_rank;
  } else {
    check_width(context, kv_a, kv_a.dims[1], "attention.kv_lora_rank", latent.kv_lora_rank + 1);
  }
  take_queries(tensors, latent);
  latent.indexer = read_indexer(context, tensors);
  return latent;
}

/// Files from before the latent could be cached itself: full keys and values are cached for every
/// head, and the latent's own matrices are extras of the layer.
Attention read_expanded_latent(LayerContext& context, uint64_t layer) {
  Keys& keys = context.keys;
  Attention attention;
  attention.num_heads = keys.find_at("attention.head_count", layer, kMaxHeads).value_or(0);
  attention.num_kv_heads = attention.num_heads;
  attention.head_dim = keys.require("attention.key_length");
  attention.v_head_dim = keys.require("attention.value_length");
  attention.has_projections = false;
  return attention;
}

}  // namespace

std::vector<Mixer> read_mixers(LayerContext& context, LayerTensors& tensors, uint64_t layer,
                               const Span& span) {
  std::vector<Mixer> mixers;
  const bool is_delta = tensors.has("ssm_ba.weight") || tensors.has("ssm_alpha.weight") ||
                        tensors.has("ssm_conv1d_q.weight");
  if (tensors.has("attn_kv_a_mqa.weight") && tensors.has("attn_k_b.weight") &&
      tensors.has("attn_v_b.weight")) {
    mixers.emplace_back(read_latent(context, tensors, layer));
  } else if (tensors.has("attn_kv_a_mqa.weight")) {
    mixers.emplace_back(read_expanded_latent(context, layer));
  } else if (!is_delta && (tensors.has("attn_q.weight") || tensors.has("attn_qkv.weight"))) {
    mixers.emplace_back(AttentionReader(context, tensors, layer, span).read());
  }
  if (auto recurrent = read_recurrent(context, tensors, layer))
    mixers.push_back(std::move(*recurrent));
  return mixers;
}

}  // namespace vramgauge::gguf

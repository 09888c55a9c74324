#include "model/gguf_mix_tensors.h"

#include <algorithm>
#include <utility>

#include "model/parameters.h"

namespace vramgauge {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
};

/// Names below "model.layers.N." and what the converter makes of them below "blk.N.".
constexpr Rename kLayerNames[] = {
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_a_proj", "attn_q_a"},
    {"self_attn.q_b_proj", "attn_q_b"},
    {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"self_attn.indexer.wq_b", "indexer.attn_q_b"},
    {"self_attn.indexer.wk", "indexer.attn_k"},
    {"self_attn.indexer.weights_proj", "indexer.proj"},
    {"linear_attn.in_proj_qkv", "attn_qkv"},
    {"linear_attn.in_proj_z", "attn_gate"},
    {"linear_attn.in_proj_ba", "ssm_ba"},
    {"linear_attn.in_proj_a", "ssm_alpha"},
    {"linear_attn.in_proj_b", "ssm_beta"},
    {"linear_attn.out_proj", "ssm_out"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.experts.gate_proj", "ffn_gate_exps"},
    {"mlp.experts.up_proj", "ffn_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
    {"mlp.shared_experts.down_proj", "ffn_down_shexp"},
    {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
};

constexpr Rename kModelNames[] = {
    {"model.embed_tokens", "token_embd"},
    {"model.embed_tokens_per_layer", "per_layer_token_embd"},
    {"model.embed_positions", "position_embd"},
    {"model.per_layer_model_projection", "per_layer_model_proj"},
    {"lm_head", "output"},
};

std::string_view renamed(const Rename* begin, const Rename* end, std::string_view name) {
  const Rename* found =
      std::find_if(begin, end, [name](const Rename& rename) { return rename.from == name; });
  return found == end ? name : found->to;
}

/// Small tensors that the quantiser leaves at 16 bits; the others of their kind are exact.
constexpr Rename kSmallNames[] = {
    {"altup.modality_router", "altup_router.weight"},
    {"attn.a1", "time_mix_a1.weight"},
    {"attn.a2", "time_mix_a2.weight"},
    {"attn.v1", "time_mix_v1.weight"},
    {"attn.v2", "time_mix_v2.weight"},
    {"attn.g1", "time_mix_g1.weight"},
    {"attn.g2", "time_mix_g2.weight"},
};

bool is_left_out(TensorRole role) {
  return role == TensorRole::vision || role == TensorRole::audio || role == TensorRole::projector ||
         role == TensorRole::mtp;
}

/// Converts one tensor after the other, knowing the layers they belong to.
class Converter {
 public:
  explicit Converter(const ModelSpec& spec) : spec_(spec) {}

  void convert(const WeightTensor& tensor) {
    if (is_left_out(tensor.role)) return;
    group_ = role_group(tensor.role);
    const std::string prefix = "model.layers." + std::to_string(tensor.layer) + ".";
    const bool in_layer = tensor.layer >= 0 && tensor.name.compare(0, prefix.size(), prefix) == 0;
    if (!in_layer) {
      add(std::string(renamed(std::begin(kModelNames), std::end(kModelNames), tensor.name)),
          tensor);
      return;
    }
    prefix_ = "blk." + std::to_string(tensor.layer) + ".";
    const std::string_view name = std::string_view(tensor.name).substr(prefix.size());
    if (split(name, tensor)) return;
    const std::string_view matrix = renamed(std::begin(kLayerNames), std::end(kLayerNames), name);
    const std::string_view vector = renamed(std::begin(kSmallNames), std::end(kSmallNames), name);
    add(prefix_ + std::string(tensor.is_matrix ? matrix : vector), tensor);
  }

  /// Falcon's files hold the head apart although it equals the embedding.
  void add_untied_head() {
    if (spec_.model_type != "falcon" || !spec_.tie_word_embeddings) return;
    group_ = RoleGroup::output;
    prefix_.clear();
    add_matrix("output", spec_.hidden_size, spec_.vocab_size);
  }

  /// The table of rotary factors, which the converter makes: a vector, never quantised.
  void add_rope_factors() {
    if (spec_.rope_factor_elements == 0) return;
    tensors_.push_back(
        {"rope_freqs.weight", {spec_.rope_factor_elements, 1, 1, 1}, RoleGroup::attention});
  }

  std::vector<GgufTensor> take() { return std::move(tensors_); }

 private:
  void add(std::string name, const WeightTensor& tensor) {
    if (tensor.is_matrix) name += ".weight";
    tensors_.push_back({std::move(name), {tensor.cols, tensor.rows, tensor.count, 1}, group_});
  }

  void add_matrix(std::string_view name, uint64_t cols, uint64_t rows, uint64_t count = 1) {
    tensors_.push_back({prefix_ + std::string(name) + ".weight", {cols, rows, count, 1}, group_});
  }

  template <typename MixerType>
  const MixerType* mixer_of(const WeightTensor& tensor) const {
    const auto index = static_cast<size_t>(tensor.layer);
    if (index >= spec_.layers.size()) return nullptr;
    for (const Mixer& mixer : spec_.layers[index].mixers) {
      if (const auto* found = std::get_if<MixerType>(&mixer)) return found;
    }
    return nullptr;
  }

  /// Adds the parts of a projection that the converter takes apart; false when it does not.
  bool split(std::string_view name, const WeightTensor& tensor) {
    if (!tensor.is_matrix) return false;
    if (name == "self_attn.kv_b_proj") return split_latent(tensor);
    if (name == "linear_attn.in_proj_qkvz") return split_delta(tensor);
    if (name == "self_attn.qkv_proj") return split_attention(tensor);
    return false;
  }

  /// The latent's up-projection becomes one matrix per head for keys and one for values.
  bool split_latent(const WeightTensor& tensor) {
    const auto* latent = mixer_of<LatentAttention>(tensor);
    if (latent == nullptr) return false;
    add_matrix("attn_k_b", latent->qk_nope_head_dim, tensor.cols, latent->num_heads);
    add_matrix("attn_v_b", tensor.cols, latent->v_head_dim, latent->num_heads);
    return true;
  }

  bool split_delta(const WeightTensor& tensor) {
    const auto* delta = mixer_of<GatedDelta>(tensor);
    if (delta == nullptr) return false;
    const uint64_t gate_rows = delta->num_v_heads * delta->v_head_dim;
    if (gate_rows >= tensor.rows) return false;
    add_matrix("attn_qkv", tensor.cols, tensor.rows - gate_rows);
    add_matrix("attn_gate", tensor.cols, gate_rows);
    return true;
  }

  bool split_attention(const WeightTensor& tensor) {
    const bool is_taken_apart = spec_.model_type == "baichuan" || spec_.model_type == "internlm2";
    const auto* attention = mixer_of<Attention>(tensor);
    if (!is_taken_apart || attention == nullptr) return false;
    add_matrix("attn_q", tensor.cols, attention->num_heads * attention->head_dim);
    add_matrix("attn_k", tensor.cols, attention->num_kv_heads * attention->head_dim);
    add_matrix("attn_v", tensor.cols, attention->num_kv_heads * attention->v_head_dim);
    return true;
  }

  const ModelSpec& spec_;
  std::vector<GgufTensor> tensors_;
  std::string prefix_;
  RoleGroup group_ = RoleGroup::other;
};

uint64_t num_experts(const ModelSpec& spec) {
  for (const Layer& layer : spec.layers) {
    if (const auto* moe = std::get_if<MoeFfn>(&layer.ffn)) return moe->num_experts;
  }
  return 0;
}

/// Families whose files list KV heads layer by layer, 0 where a layer has none; the others write
/// one number for all layers.
bool lists_kv_heads(const ModelSpec& spec) {
  constexpr std::string_view kFamilies[] = {"jamba", "granitemoehybrid", "lfm2", "lfm2_moe",
                                            "nemotron_h"};
  return std::find(std::begin(kFamilies), std::end(kFamilies), spec.model_type) !=
         std::end(kFamilies);
}

uint64_t heads_per_kv_head(const Mixer& mixer) {
  if (const auto* attention = std::get_if<Attention>(&mixer)) {
    return attention->num_kv_heads == 0 ? 0 : attention->num_heads / attention->num_kv_heads;
  }
  // Converted latent attention has a single KV head.
  const auto* latent = std::get_if<LatentAttention>(&mixer);
  return latent != nullptr ? latent->num_heads : 0;
}

uint64_t first_heads_per_kv_head(const ModelSpec& spec) {
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const uint64_t heads = heads_per_kv_head(mixer);
      if (heads > 0) return heads;
    }
    if (lists_kv_heads(spec)) return 0;
  }
  return 0;
}

/// Layers that the quantiser counts: these files append the multi-token-prediction layers, the
/// others leave them out.
uint64_t num_counted_layers(const ModelSpec& spec) {
  const bool appends = spec.model_type == "glm4_moe" || spec.model_type == "bailing_moe_v2";
  return spec.layers.size() + (appends ? spec.mtp_layers.size() : 0);
}

/// llama.cpp's src/models/: which architectures call their 80 layers a 70B.
bool is_70b(const ModelSpec& spec, uint64_t heads_per_kv) {
  if (spec.layers.size() != 80) return false;
  if (spec.model_type == "qwen2" || spec.model_type == "olmo") return true;
  const bool is_llama = spec.model_type == "llama" || spec.model_type == "mistral";
  return is_llama && heads_per_kv > 1;
}

}  // namespace

std::vector<GgufTensor> gguf_tensors(const std::vector<WeightTensor>& tensors,
                                     const ModelSpec& spec) {
  Converter converter(spec);
  for (const WeightTensor& tensor : tensors)
    converter.convert(tensor);
  converter.add_untied_head();
  converter.add_rope_factors();
  return converter.take();
}

GgufFacts gguf_facts(const ModelSpec& spec) {
  GgufFacts facts;
  facts.num_layers = num_counted_layers(spec);
  facts.num_experts = num_experts(spec);
  facts.heads_per_kv_head = first_heads_per_kv_head(spec);
  facts.is_falcon = spec.model_type == "falcon";
  facts.is_70b = is_70b(spec, facts.heads_per_kv_head);
  if (spec.dtype == "bfloat16") facts.wide = GgmlType::bf16;
  return facts;
}

}  // namespace vramgauge

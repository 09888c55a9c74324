#include "import/gguf_tensors.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

namespace vramgauge {
namespace {

using Role = TensorRole;

struct NameRow {
  std::string_view file;
  /// Empty = the file's name stays.
  std::string_view name;
  Role role;
  bool is_matrix = false;
};

// Names below "blk.N.", without ".weight" and ".bias". Source: gguf-py/gguf/constants.py and
// src/llama-arch.cpp of llama.cpp (names only).
constexpr NameRow kLayerRows[] = {
    // Attention
    {"attn_q", "self_attn.q_proj", Role::attention_q, true},
    {"attn_k", "self_attn.k_proj", Role::attention_k, true},
    {"attn_v", "self_attn.v_proj", Role::attention_v, true},
    {"attn_qkv", "self_attn.qkv_proj", Role::attention_qkv, true},
    {"attn_output", "self_attn.o_proj", Role::attention_output, true},
    {"attn_gate", "self_attn.gate_proj", Role::attention_other, true},
    {"attn_sinks", "self_attn.sinks", Role::attention_other},
    {"attn_q_norm", "self_attn.q_norm", Role::norm},
    {"attn_k_norm", "self_attn.k_norm", Role::norm},
    {"attn_q_a", "self_attn.q_a_proj", Role::attention_q, true},
    {"attn_q_a_norm", "self_attn.q_a_layernorm", Role::norm},
    {"attn_q_b", "self_attn.q_b_proj", Role::attention_q, true},
    {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa", Role::attention_k, true},
    {"attn_kv_a_norm", "self_attn.kv_a_layernorm", Role::norm},
    {"attn_kv_b", "self_attn.kv_b_proj", Role::attention_v, true},
    {"attn_k_b", "self_attn.k_b_proj", Role::attention_v, true},
    {"attn_v_b", "self_attn.v_b_proj", Role::attention_v, true},
    {"attn_rot_embd", "", Role::other},
    {"indexer.attn_q_b", "self_attn.indexer.wq_b", Role::attention_other, true},
    {"indexer.attn_k", "self_attn.indexer.wk", Role::attention_other, true},
    {"indexer.k_norm", "self_attn.indexer.k_norm", Role::norm},
    {"indexer.proj", "self_attn.indexer.weights_proj", Role::attention_other, true},
    // Norms
    {"attn_norm", "", Role::norm},
    {"attn_norm_2", "", Role::norm},
    {"attn_output_norm", "", Role::norm},
    {"attn_post_norm", "", Role::norm},
    {"attn_sub_norm", "", Role::norm},
    {"post_attention_norm", "", Role::norm},
    {"ffn_norm", "", Role::norm},
    {"ffn_norm_exps", "", Role::norm},
    {"ffn_post_norm", "", Role::norm},
    {"ffn_sub_norm", "", Role::norm},
    {"layer_output_norm", "", Role::norm},
    {"post_ffw_norm", "", Role::norm},
    {"post_ffw_norm_1", "", Role::norm},
    {"post_ffw_norm_2", "", Role::norm},
    {"pre_ffw_norm", "", Role::norm},
    {"pre_ffw_norm_2", "", Role::norm},
    {"post_norm", "", Role::norm},
    {"layer_output_scale", "", Role::other},
    {"ffn_gate_inp.scale", "router.scale", Role::router},
    {"ffn_down_exps.scale", "router.per_expert_scale", Role::router},
    // Feed-forward
    {"ffn_gate", "mlp.gate_proj", Role::mlp_gate, true},
    {"ffn_up", "mlp.up_proj", Role::mlp_up, true},
    {"ffn_down", "mlp.down_proj", Role::mlp_down, true},
    {"ffn_act", "", Role::mlp_up},
    {"ffn_gate_inp", "mlp.gate", Role::router, true},
    {"exp_probs_b", "mlp.gate.e_score_correction_bias", Role::router},
    {"ffn_gate_exps", "mlp.experts.gate_proj", Role::expert_gate, true},
    {"ffn_up_exps", "mlp.experts.up_proj", Role::expert_up, true},
    {"ffn_gate_up_exps", "mlp.experts.gate_up_proj", Role::expert_up, true},
    {"ffn_down_exps", "mlp.experts.down_proj", Role::expert_down, true},
    {"ffn_gate_chexps", "mlp.chunk_experts.gate_proj", Role::expert_gate, true},
    {"ffn_up_chexps", "mlp.chunk_experts.up_proj", Role::expert_up, true},
    {"ffn_down_chexps", "mlp.chunk_experts.down_proj", Role::expert_down, true},
    {"ffn_gate_shexp", "mlp.shared_experts.gate_proj", Role::shared_expert_gate, true},
    {"ffn_up_shexp", "mlp.shared_experts.up_proj", Role::shared_expert_up, true},
    {"ffn_down_shexp", "mlp.shared_experts.down_proj", Role::shared_expert_down, true},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate", Role::router, true},
    {"ffn_latent_down", "", Role::other, true},
    {"ffn_latent_up", "", Role::other, true},
    // Recurrent mixers
    {"ssm_in", "mamba.in_proj", Role::recurrent, true},
    {"ssm_conv1d", "mamba.conv1d", Role::recurrent},
    {"ssm_x", "mamba.x_proj", Role::recurrent, true},
    {"ssm_dt", "mamba.dt_proj", Role::recurrent, true},
    {"ssm_a", "mamba.A_log", Role::recurrent},
    {"ssm_d", "mamba.D", Role::recurrent},
    {"ssm_out", "mamba.out_proj", Role::recurrent, true},
    {"ssm_norm", "mamba.norm", Role::norm},
    {"ssm_dt_norm", "mamba.dt_layernorm", Role::norm},
    {"ssm_b_norm", "mamba.b_layernorm", Role::norm},
    {"ssm_c_norm", "mamba.c_layernorm", Role::norm},
    {"ssm_ba", "linear_attn.in_proj_ba", Role::recurrent, true},
    {"ssm_alpha", "linear_attn.in_proj_a", Role::recurrent, true},
    {"ssm_beta", "linear_attn.in_proj_b", Role::recurrent, true},
    {"ssm_conv1d_q", "self_attn.q_conv1d", Role::recurrent},
    {"ssm_conv1d_k", "self_attn.k_conv1d", Role::recurrent},
    {"ssm_conv1d_v", "self_attn.v_conv1d", Role::recurrent},
    {"ssm_f_a", "self_attn.f_a_proj", Role::recurrent, true},
    {"ssm_f_b", "self_attn.f_b_proj", Role::recurrent, true},
    {"ssm_g_a", "self_attn.g_a_proj", Role::recurrent, true},
    {"ssm_g_b", "self_attn.g_b_proj", Role::recurrent, true},
    {"shortconv.conv", "conv.conv", Role::recurrent},
    {"shortconv.in_proj", "conv.in_proj", Role::recurrent, true},
    {"shortconv.out_proj", "conv.out_proj", Role::recurrent, true},
    {"time_mix_key", "attention.key", Role::recurrent, true},
    {"time_mix_value", "attention.value", Role::recurrent, true},
    {"time_mix_receptance", "attention.receptance", Role::recurrent, true},
    {"time_mix_gate", "attention.gate", Role::recurrent, true},
    {"time_mix_output", "attention.output", Role::recurrent, true},
    {"time_mix_ln", "", Role::norm},
    {"channel_mix_key", "mlp.up_proj", Role::mlp_up, true},
    {"channel_mix_value", "mlp.down_proj", Role::mlp_down, true},
    {"channel_mix_receptance", "feed_forward.receptance", Role::mlp_up, true},
    // Gemma
    {"inp_gate", "per_layer_input_gate", Role::other, true},
    {"proj", "per_layer_projection", Role::other, true},
    {"laurel_l", "laurel.linear_left", Role::other, true},
    {"laurel_r", "laurel.linear_right", Role::other, true},
    {"laurel_post_norm", "", Role::norm},
    {"altup_router_norm", "", Role::norm},
};

constexpr NameRow kModelRows[] = {
    {"token_embd", "model.embed_tokens", Role::embedding, true},
    {"per_layer_token_embd", "model.embed_tokens_per_layer", Role::embedding, true},
    {"position_embd", "model.embed_positions", Role::position_embedding, true},
    {"token_types", "", Role::embedding, true},
    {"token_embd_norm", "", Role::norm},
    {"output", "lm_head", Role::output, true},
    {"output_norm", "model.norm", Role::norm},
    {"rope_freqs", "", Role::other},
    {"rope_factors_long", "", Role::other},
    {"rope_factors_short", "", Role::other},
    {"per_layer_model_proj", "model.per_layer_model_projection", Role::other, true},
    {"per_layer_proj_norm", "", Role::norm},
    {"altup_proj", "model.altup_projections", Role::other, true},
    {"altup_unembd_proj", "model.altup_unembed_projections", Role::other, true},
};

/// Whole groups that share what they are for.
constexpr NameRow kLayerPrefixes[] = {
    {"nextn.", "", Role::mtp, true},
    {"time_mix_", "", Role::recurrent},
    {"channel_mix_", "", Role::recurrent},
    {"altup_", "", Role::other},
    {"rope_", "", Role::other},
};
constexpr NameRow kModelPrefixes[] = {
    {"v.", "", Role::vision, true},
    {"a.", "", Role::audio, true},
    {"mm.", "", Role::projector, true},
};

constexpr uint64_t kMaxLayers = 1'000'000;
constexpr std::string_view kWeight = ".weight";
constexpr std::string_view kParts[] = {".bias", ".scale"};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Without ".weight"; the part (".bias") is cut off and returned.
std::string_view cut_suffix(std::string_view& name) {
  if (ends_with(name, kWeight)) name.remove_suffix(kWeight.size());
  for (const std::string_view part : kParts) {
    if (!ends_with(name, part)) continue;
    name.remove_suffix(part.size());
    return part;
  }
  return {};
}

/// Old files list the experts one by one: "ffn_gate.3".
std::optional<std::string> stacked_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"ffn_gate.", "ffn_up.", "ffn_down."};
  for (const std::string_view prefix : kNames) {
    if (name.substr(0, prefix.size()) != prefix) continue;
    const std::string_view number = name.substr(prefix.size());
    const bool is_number =
        !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) return std::string(prefix.substr(0, prefix.size() - 1)) + "_exps";
  }
  return std::nullopt;
}

const NameRow* find_row(const NameRow* begin, const NameRow* end, std::string_view name) {
  const NameRow* found =
      std::find_if(begin, end, [name](const NameRow& row) { return row.file == name; });
  return found == end ? nullptr : found;
}

const NameRow* find_prefix(const NameRow* begin, const NameRow* end, std::string_view name) {
  const NameRow* found = std::find_if(begin, end, [name](const NameRow& row) {
    return name.substr(0, row.file.size()) == row.file;
  });
  return found == end ? nullptr : found;
}

/// A scale that has a name of its own.
const NameRow* scale_row(std::string_view name) {
  if (!ends_with(name, ".scale")) return nullptr;
  return find_row(std::begin(kLayerRows), std::end(kLayerRows), name);
}

const NameRow* row_of(std::string_view name, bool is_in_layer) {
  if (is_in_layer) {
    const NameRow* row = find_row(std::begin(kLayerRows), std::end(kLayerRows), name);
    if (row != nullptr) return row;
    return find_prefix(std::begin(kLayerPrefixes), std::end(kLayerPrefixes), name);
  }
  const NameRow* row = find_row(std::begin(kModelRows), std::end(kModelRows), name);
  if (row != nullptr) return row;
  return find_prefix(std::begin(kModelPrefixes), std::end(kModelPrefixes), name);
}

/// A gated delta layer has its input projections under the names of attention.
std::set<int64_t> delta_layers(const GgufHeader& header) {
  std::set<int64_t> layers;
  for (const GgufTensorInfo& info : header.tensors) {
    const auto name = split_gguf_layer(info.name);
    if (!name) continue;
    if (name->rest == "ssm_ba.weight" || name->rest == "ssm_alpha.weight")
      layers.insert(static_cast<int64_t>(name->layer));
  }
  return layers;
}

void rename_delta(GgufTensorName& name) {
  constexpr NameRow kRows[] = {
      {"self_attn.qkv_proj", "linear_attn.in_proj_qkv", Role::recurrent},
      {"self_attn.gate_proj", "linear_attn.in_proj_z", Role::recurrent},
      {"mamba.conv1d", "linear_attn.conv1d", Role::recurrent},
      {"mamba.A_log", "linear_attn.A_log", Role::recurrent},
      {"mamba.dt_proj.bias", "linear_attn.dt_bias", Role::recurrent},
      {"mamba.norm", "linear_attn.norm", Role::norm},
      {"mamba.out_proj", "linear_attn.out_proj", Role::recurrent},
      {"mamba.in_proj", "linear_attn.in_proj_qkvz", Role::recurrent},
  };
  const NameRow* row = find_row(std::begin(kRows), std::end(kRows), name.name);
  if (row == nullptr) return;
  name.name = row->name;
  name.role = row->role;
}

std::string full_name(const GgufTensorName& name) {
  if (name.layer < 0) return name.name;
  return "model.layers." + std::to_string(name.layer) + "." + name.name;
}

StoredTensor stored(const GgufTensorInfo& info, const GgufTensorName& name) {
  StoredTensor tensor;
  tensor.file_name = info.name;
  tensor.dtype = ggml_type_info(info.type).name;
  tensor.bytes = info.bytes;
  tensor.elements = info.elements();
  tensor.weight.name = full_name(name);
  tensor.weight.role = name.role;
  tensor.weight.layer = name.layer;
  tensor.weight.cols = info.dims[0];
  tensor.weight.rows = info.dims[1];
  tensor.weight.count = info.dims[2] * info.dims[3];
  tensor.weight.active_count = tensor.weight.count;
  tensor.weight.is_matrix = name.is_matrix && info.num_dims > 1;
  return tensor;
}

bool is_routed(Role role) {
  return role == Role::expert_gate || role == Role::expert_up || role == Role::expert_down;
}

/// Biases of stacked experts have one row per expert.
void set_experts(StoredTensor& tensor, std::string_view part, uint64_t active) {
  if (!is_routed(tensor.weight.role)) return;
  WeightTensor& weight = tensor.weight;
  if (!part.empty()) {
    weight.count = weight.rows;
    weight.rows = 1;
  }
  weight.active_count = std::min(weight.count, active);
}

}  // namespace

std::optional<GgufLayerName> split_gguf_layer(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size();
  uint64_t layer = 0;
  const auto [stop, error] = std::from_chars(begin, end, layer);
  if (error != std::errc() || stop == end || *stop != '.') return std::nullopt;
  if (layer > kMaxLayers) return std::nullopt;
  return GgufLayerName{layer, {stop + 1, static_cast<size_t>(end - stop - 1)}};
}

GgufTensorName read_gguf_tensor_name(std::string_view name) {
  GgufTensorName result;
  const auto in_layer = split_gguf_layer(name);
  std::string_view rest = in_layer ? in_layer->rest : name;
  if (in_layer) result.layer = static_cast<int64_t>(in_layer->layer);
  if (const NameRow* row = in_layer ? scale_row(rest) : nullptr) {
    result.name = row->name;
    result.role = row->role;
    return result;
  }
  const std::string_view part = cut_suffix(rest);
  const auto stacked = in_layer ? stacked_name(rest) : std::nullopt;
  const NameRow* row = row_of(stacked ? std::string_view(*stacked) : rest, in_layer.has_value());
  result.is_known = row != nullptr;
  result.name = row == nullptr || row->name.empty() ? rest : row->name;
  result.name += part;
  if (row == nullptr) return result;
  result.role = row->role;
  result.is_matrix = row->is_matrix && part.empty();
  return result;
}

GgufLayerCounts gguf_layer_counts(const GgufHeader& header) {
  const std::string arch(header.text("general.architecture").value_or(""));
  const uint64_t all = header.u64(arch + ".block_count").value_or(0);
  const uint64_t nextn = header.u64(arch + ".nextn_predict_layers").value_or(0);
  return {all - std::min(all, nextn), std::min(all, nextn)};
}

std::vector<StoredTensor> gguf_stored_tensors(const GgufHeader& header) {
  const GgufLayerCounts layers = gguf_layer_counts(header);
  const std::string arch(header.text("general.architecture").value_or(""));
  const uint64_t active = header.u64(arch + ".expert_used_count").value_or(UINT64_MAX);
  const std::set<int64_t> delta = delta_layers(header);
  std::vector<StoredTensor> tensors;
  tensors.reserve(header.tensors.size());
  for (const GgufTensorInfo& info : header.tensors) {
    GgufTensorName name = read_gguf_tensor_name(info.name);
    if (delta.count(name.layer) != 0) rename_delta(name);
    std::string_view rest = info.name;
    const std::string_view part = cut_suffix(rest);
    tensors.push_back(stored(info, name));
    set_experts(tensors.back(), part, active);
    const bool is_nextn = name.layer >= 0 && static_cast<uint64_t>(name.layer) >= layers.decoder;
    if (is_nextn) tensors.back().weight.role = Role::mtp;
  }
  return tensors;
}

}  // namespace vramgauge

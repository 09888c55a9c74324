#include "import/safetensors_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

namespace vramgauge {
namespace {

using Role = TensorRole;
using Parts = std::vector<std::string_view>;

struct RoleRow {
  std::string_view part;
  Role role;
};

/// What the last part of a module's name says, wherever it stands.
constexpr RoleRow kModules[] = {
    {"embed_tokens", Role::embedding},
    {"embed_tokens_per_layer", Role::embedding},
    {"wte", Role::embedding},
    {"word_embeddings", Role::embedding},
    {"tok_embeddings", Role::embedding},
    {"embeddings", Role::embedding},
    {"embedding", Role::embedding},
    {"embed_in", Role::embedding},
    {"embed", Role::embedding},
    {"wpe", Role::position_embedding},
    {"embed_positions", Role::position_embedding},
    {"position_embeddings", Role::position_embedding},
    {"lm_head", Role::output},
    {"embed_out", Role::output},
    {"output_layer", Role::output},
    {"q_proj", Role::attention_q},
    {"q_a_proj", Role::attention_q},
    {"q_b_proj", Role::attention_q},
    {"wq", Role::attention_q},
    {"wq_a", Role::attention_q},
    {"wq_b", Role::attention_q},
    {"k_proj", Role::attention_k},
    {"kv_a_proj_with_mqa", Role::attention_k},
    {"wk", Role::attention_k},
    {"wkv", Role::attention_k},
    {"wkv_a", Role::attention_k},
    {"v_proj", Role::attention_v},
    {"kv_b_proj", Role::attention_v},
    {"wv", Role::attention_v},
    {"wkv_b", Role::attention_v},
    {"qkv_proj", Role::attention_qkv},
    {"query_key_value", Role::attention_qkv},
    {"c_attn", Role::attention_qkv},
    {"Wqkv", Role::attention_qkv},
    {"W_pack", Role::attention_qkv},
    {"wqkv", Role::attention_qkv},
    {"qkv", Role::attention_qkv},
    {"o_proj", Role::attention_output},
    {"wo", Role::attention_output},
    {"wo_a", Role::attention_output},
    {"wo_b", Role::attention_output},
    {"sinks", Role::attention_other},
    {"attn_sink", Role::attention_other},
    {"gate_proj", Role::mlp_gate},
    {"w1", Role::mlp_gate},
    {"up_proj", Role::mlp_up},
    {"w3", Role::mlp_up},
    {"gate_up_proj", Role::mlp_up},
    {"fc1", Role::mlp_up},
    {"fc_in", Role::mlp_up},
    {"c_fc", Role::mlp_up},
    {"dense_h_to_4h", Role::mlp_up},
    {"down_proj", Role::mlp_down},
    {"w2", Role::mlp_down},
    {"fc2", Role::mlp_down},
    {"fc_out", Role::mlp_down},
    {"dense_4h_to_h", Role::mlp_down},
    {"router", Role::router},
    {"gate", Role::router},
    {"shared_expert_gate", Role::router},
    {"e_score_correction_bias", Role::router},
    {"expert_bias", Role::router},
};

/// Names that mean one thing in attention and another in a feed-forward block.
constexpr RoleRow kShared[] = {
    {"out_proj", Role::attention_output},
    {"dense", Role::attention_output},
    {"c_proj", Role::attention_output},
};

/// Any part of the name that says what the tensor belongs to, in order of weight.
constexpr RoleRow kTowers[] = {
    {"multi_modal_projector", Role::projector},
    {"mm_projector", Role::projector},
    {"embed_vision", Role::projector},
    {"embed_audio", Role::projector},
    {"connector", Role::projector},
    {"mlp1", Role::projector},
    {"visual", Role::vision},
    {"vision_tower", Role::vision},
    {"vision_model", Role::vision},
    {"vision_encoder", Role::vision},
    {"vit", Role::vision},
    {"image_newline", Role::vision},
    {"audio_tower", Role::audio},
    {"audio_model", Role::audio},
    {"audio_encoder", Role::audio},
    {"speech_encoder", Role::audio},
};

constexpr std::string_view kRecurrent[] = {
    "mamba",      "mixer",          "linear_attn",         "ssm",        "conv",
    "short_conv", "temporal_block", "attention_recurrent", "time_mixer", "rwkv",
};

/// Behind the name of a module: what a packed format stores beside, or in place of, the weight.
constexpr std::string_view kWeightParts[] = {"weight", "qweight", "weight_packed", "trellis"};

constexpr std::string_view kStackedEndings[] = {"_blocks", "_scales",    "_bias",
                                                "_weight", "_scale_inv", "_scale"};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Parts split(std::string_view name) {
  Parts parts;
  while (true) {
    const auto dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

std::optional<int64_t> number_of(std::string_view part) {
  constexpr int64_t kMax = 1'000'000;
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  const bool is_number = !part.empty() && error == std::errc() && stop == part.data() + part.size();
  if (!is_number || value < 0 || value > kMax) return std::nullopt;
  return value;
}

template <typename Rows>
std::optional<Role> find_in(const Rows& rows, std::string_view part) {
  const auto* found = std::find_if(std::begin(rows), std::end(rows),
                                   [part](const RoleRow& row) { return row.part == part; });
  if (found == std::end(rows)) return std::nullopt;
  return found->role;
}

bool has_part(const Parts& parts, std::string_view wanted) {
  return std::find(parts.begin(), parts.end(), wanted) != parts.end();
}

template <typename Names>
bool has_any(const Parts& parts, const Names& names) {
  return std::any_of(std::begin(names), std::end(names),
                     [&parts](std::string_view name) { return has_part(parts, name); });
}

/// The number behind "layers", "h" or "blocks".
int64_t layer_of(const Parts& parts) {
  constexpr std::string_view kLists[] = {"layers", "h", "blocks", "block"};
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (std::find(std::begin(kLists), std::end(kLists), parts[i]) == std::end(kLists)) continue;
    if (const auto number = number_of(parts[i + 1])) return *number;
  }
  return -1;
}

std::optional<Role> tower_of(const Parts& parts) {
  for (const std::string_view part : parts) {
    if (const auto role = find_in(kTowers, part)) return role;
  }
  return std::nullopt;
}

bool is_norm(std::string_view part) {
  return part.find("norm") != std::string_view::npos || part.substr(0, 3) == "ln_" ||
         part == "ln1" || part == "ln2";
}

/// Without what packed formats of stacked experts append: "gate_up_proj_blocks".
std::string_view without_ending(std::string_view part) {
  for (const std::string_view ending : kStackedEndings) {
    if (part.size() > ending.size() && ends_with(part, ending))
      return part.substr(0, part.size() - ending.size());
  }
  return part;
}

Role expert_role(Role role, bool is_shared) {
  switch (role) {
    case Role::mlp_gate: return is_shared ? Role::shared_expert_gate : Role::expert_gate;
    case Role::mlp_up: return is_shared ? Role::shared_expert_up : Role::expert_up;
    case Role::mlp_down: return is_shared ? Role::shared_expert_down : Role::expert_down;
    default: return role;
  }
}

Role in_block(Role role, const Parts& parts) {
  constexpr std::string_view kShared2[] = {"shared_expert", "shared_experts", "shared_mlp"};
  if (has_any(parts, kShared2)) return expert_role(role, true);
  return has_part(parts, "experts") ? expert_role(role, false) : role;
}

/// "out_proj" and its like: the output of attention, the lower half of a feed-forward block, or
/// part of a recurrent mixer.
Role shared_role(Role attention, const Parts& parts) {
  if (has_any(parts, kRecurrent)) return Role::recurrent;
  constexpr std::string_view kBlocks[] = {"mlp", "ffn", "feed_forward"};
  return has_any(parts, kBlocks) ? in_block(Role::mlp_down, parts) : attention;
}

Role role_of(const Parts& parts) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::string_view name = without_ending(*part);
    if (const auto role = find_in(kModules, name)) return in_block(*role, parts);
    if (const auto role = find_in(kShared, name)) return shared_role(*role, parts);
    if (is_norm(name)) return Role::norm;
  }
  if (has_any(parts, kRecurrent)) return Role::recurrent;
  if (has_part(parts, "self_attn") || has_part(parts, "attn") || has_part(parts, "attention"))
    return Role::attention_other;
  return parts.front() == "output" ? Role::output : Role::other;
}

bool is_adapter_part(std::string_view part) {
  return part.substr(0, 6) == "lora_A" || part.substr(0, 6) == "lora_B" ||
         part.substr(0, 14) == "lora_embedding" || part == "lora_magnitude_vector";
}

bool is_weight(const Parts& parts) {
  const std::string_view last = parts.back();
  const auto* end = std::end(kWeightParts);
  if (std::find(std::begin(kWeightParts), end, last) != end) return true;
  // Experts that are one parameter without a module of their own.
  return ends_with(last, "_proj") || ends_with(last, "_blocks");
}

bool is_mtp(const Parts& parts) {
  constexpr std::string_view kNames[] = {"mtp",         "eh_proj", "enorm",    "hnorm",
                                         "shared_head", "nextn",   "mtp_block"};
  return has_any(parts, kNames);
}

}  // namespace

SafetensorsName read_safetensors_name(std::string_view name) {
  const Parts parts = split(name);
  SafetensorsName result;
  result.is_adapter = std::any_of(parts.begin(), parts.end(), is_adapter_part);
  result.marks_mtp = is_mtp(parts);
  if (result.is_adapter) {
    result.layer = layer_of(parts);
    return result;
  }
  if (const auto tower = tower_of(parts)) {
    result.role = *tower;
    result.is_weight = is_weight(parts);
    return result;
  }
  result.layer = layer_of(parts);
  result.role = result.marks_mtp ? Role::mtp : role_of(parts);
  result.is_weight = is_weight(parts) && result.role != Role::norm;
  return result;
}

}  // namespace vramgauge

#include "model/parameters.h"

#include "model/weights.h"

namespace vramgauge {

RoleGroup role_group(TensorRole role) {
  switch (role) {
    case TensorRole::embedding:
    case TensorRole::position_embedding: return RoleGroup::embedding;
    case TensorRole::output: return RoleGroup::output;
    case TensorRole::norm: return RoleGroup::norm;
    case TensorRole::attention_q:
    case TensorRole::attention_k:
    case TensorRole::attention_v:
    case TensorRole::attention_qkv:
    case TensorRole::attention_output:
    case TensorRole::attention_other: return RoleGroup::attention;
    case TensorRole::recurrent: return RoleGroup::recurrent;
    case TensorRole::mlp_gate:
    case TensorRole::mlp_up:
    case TensorRole::mlp_down: return RoleGroup::mlp;
    case TensorRole::expert_gate:
    case TensorRole::expert_up:
    case TensorRole::expert_down:
    case TensorRole::shared_expert_gate:
    case TensorRole::shared_expert_up:
    case TensorRole::shared_expert_down: return RoleGroup::expert;
    case TensorRole::router: return RoleGroup::router;
    case TensorRole::vision:
    case TensorRole::projector: return RoleGroup::vision;
    case TensorRole::audio: return RoleGroup::audio;
    case TensorRole::mtp: return RoleGroup::mtp;
    case TensorRole::other: return RoleGroup::other;
  }
  return RoleGroup::other;
}

std::string_view role_group_name(RoleGroup group) {
  constexpr std::string_view kNames[kNumRoleGroups] = {
      "embedding", "attention", "recurrent", "mlp",   "expert", "router",
      "norm",      "output",    "vision",    "audio", "mtp",    "other"};
  return kNames[static_cast<size_t>(group)];
}

CheckedU64 num_elements(const WeightTensor& tensor) {
  return CheckedU64(tensor.rows) * CheckedU64(tensor.cols) * CheckedU64(tensor.count);
}

ParameterCount count_parameters(const std::vector<WeightTensor>& tensors) {
  ParameterCount count;
  for (const WeightTensor& tensor : tensors) {
    const RoleGroup group = role_group(tensor.role);
    const CheckedU64 elements = num_elements(tensor);
    const bool is_tower = group == RoleGroup::vision || group == RoleGroup::audio;
    count.total += elements;
    count.by_group[static_cast<size_t>(group)] += elements;
    if (group == RoleGroup::mtp) {
      count.mtp += elements;
    } else if (is_tower) {
      count.towers += elements;
    } else {
      count.text += elements;
      count.active +=
          CheckedU64(tensor.rows) * CheckedU64(tensor.cols) * CheckedU64(tensor.active_count);
    }
  }
  return count;
}

ParameterCount count_parameters(const ModelSpec& spec) {
  return count_parameters(weight_tensors(spec));
}

}  // namespace vramgauge

// How many parameters a model has, and how many of them one token passes through.
#pragma once

#include <array>

#include "specs/model_spec.h"
#include "units/checked.h"

namespace vramgauge {

/// Parameters of a model. total = text + towers + mtp.
struct ParameterCount {
  CheckedU64 total;
  /// Decoder layers, embeddings, final norm and output.
  CheckedU64 text;
  CheckedU64 towers;
  CheckedU64 mtp;
  /// The part of `text` that one token passes through: all of it but the idle experts.
  CheckedU64 active;
  /// In the order of RoleGroup.
  std::array<CheckedU64, kNumRoleGroups> by_group;

  CheckedU64 of(RoleGroup group) const { return by_group[static_cast<size_t>(group)]; }
};

/// The group that a tensor is counted under.
RoleGroup role_group(TensorRole role);
/// Key of a group: "embedding", "attention" and so on.
std::string_view role_group_name(RoleGroup group);
/// Elements of a tensor, all `count` of them.
CheckedU64 num_elements(const WeightTensor& tensor);
ParameterCount count_parameters(const ModelSpec& spec);
ParameterCount count_parameters(const std::vector<WeightTensor>& tensors);

}  // namespace vramgauge

// Weights on each GPU of a plan, in any format: what placement.h puts there, in the bytes that the
// format takes for that part. Engines that fuse, pad or repack what they load have rules of their
// own on top (engine/vllm_weights.h).
#pragma once

#include <array>
#include <variant>
#include <vector>

#include "model/parameters.h"
#include "model/placement.h"
#include "model/weight_formats.h"
#include "specs/stored_model.h"

namespace vramgauge {

/// How one tensor is stored: at a width, as codes with scales, or as a type of GGUF files.
using TensorLayout = std::variant<IdealLayout, GroupedLayout, GgmlType>;

/// Of each of `tensors` (weight_tensors(spec)). A format that is a mix of GGUF types is asked
/// tensor by tensor, with the whole model in view. Errors: those of format_weights().
Result<std::vector<TensorLayout>> tensor_layouts(const std::vector<WeightTensor>& tensors,
                                                 const ModelSpec& spec, const WeightFormat& format);
/// The same of a quantised checkpoint. Errors: those of format_resolved().
Result<std::vector<TensorLayout>> tensor_layouts(const std::vector<WeightTensor>& tensors,
                                                 const ModelSpec& spec,
                                                 const ResolvedQuantization& quantization);

/// What to place, and how it is stored.
struct StoredTensors {
  const ModelSpec* spec = nullptr;
  /// weight_tensors(*spec).
  const std::vector<WeightTensor>* tensors = nullptr;
  /// One per tensor.
  std::vector<TensorLayout> layouts;
  /// Weights of decoder layers that stay in host memory, per rank: layer by layer until this many
  /// bytes are reached, the weight that passes them included.
  Bytes host_offload;
};

/// Weights of one rank.
struct RankWeights {
  /// The first of the ranks that hold exactly this.
  PlanRank rank;
  uint64_t num_ranks = 1;
  /// On the GPU, and left in host memory.
  Bytes device;
  Bytes host;
  /// Of `device`, in the order of RoleGroup.
  std::array<Bytes, kNumRoleGroups> device_by_group{};
};

/// Weights of every rank of a plan.
struct PlanWeights {
  /// Stage by stage; ranks of a stage differ only where experts do not divide over them.
  std::vector<RankWeights> ranks;
  /// Index of the one with the most on its GPU, the first of equals.
  size_t worst = 0;
};

/// Weights of one rank. Errors: engine.not_divisible, also where a split would cut a group, tile or
/// block that shares a scale; value.overflow.
Result<RankWeights> rank_weights(const StoredTensors& stored, const ParallelPlan& plan,
                                 PlanRank rank);
Result<PlanWeights> plan_weights(const StoredTensors& stored, const ParallelPlan& plan);

}  // namespace vramgauge

#include "model/rank_weights.h"

#include <algorithm>
#include <set>

#include "model/checkpoint_format.h"
#include "model/gguf_mix_tensors.h"
#include "model/weight_tally.h"
#include "units/index.h"

namespace vramgauge {
namespace {

// Layouts

bool is_tower(const WeightTensor& tensor) {
  const FormatPart part = format_part_of(tensor.role);
  return part == FormatPart::vision || part == FormatPart::audio;
}

/// Types of the tensors that a file holds under one name for each of ours; towers are a second
/// file, drafts are left at the width of the original. A projection that the converter takes apart
/// gets the type of its first part.
Result<std::vector<TensorLayout>> gguf_layouts(const std::vector<WeightTensor>& tensors,
                                               const ModelSpec& spec, const WeightFormat& format) {
  const GgufFacts facts = gguf_facts(spec);
  const std::vector<GgufTensor> listed = gguf_tensors(tensors, spec);
  const auto* mix = std::get_if<GgufMixLayout>(&*format.layout);
  const auto choices = mix != nullptr
                           ? choose_gguf_types(mix->mix, facts, listed)
                           : choose_pure_gguf_types(std::get<GgufBlockLayout>(*format.layout).type,
                                                    facts.wide, listed);
  if (!choices) return fail(choices.error());
  // Without what the converter adds at the end of a file.
  ModelSpec parts_only = spec;
  parts_only.rope_factor_elements = 0;
  parts_only.tie_word_embeddings = false;
  std::vector<TensorLayout> layouts;
  size_t next = 0;
  for (const WeightTensor& tensor : tensors) {
    const size_t num_parts = gguf_tensors({tensor}, parts_only).size();
    if (num_parts > 0) {
      layouts.emplace_back((*choices)[next].type);
      next += num_parts;
    } else {
      const GgmlType wide = is_tower(tensor) ? GgmlType::f16 : facts.wide;
      layouts.emplace_back(tensor.is_matrix ? wide : GgmlType::f32);
    }
  }
  return layouts;
}

// Bytes

CheckedU64 part_elements(const PlacedTensor& part) {
  return CheckedU64(part.rows) * part.cols * part.count;
}

struct PartBytes {
  const PlacedTensor& part;

  CheckedU64 operator()(const IdealLayout& layout) const {
    return ceil_div(part_elements(part) * layout.bits, uint64_t{8});
  }
  CheckedU64 operator()(const GroupedLayout& layout) const {
    return grouped_bytes(layout, part.rows, part.cols) * part.count;
  }
  CheckedU64 operator()(GgmlType type) const {
    return row_bytes(type, part.cols) * part.rows * part.count;
  }
};

struct PartGroups {
  SharedScales operator()(const IdealLayout&) const { return {}; }
  SharedScales operator()(const GroupedLayout& layout) const {
    if (layout.block_cols > 0) return {layout.block_cols, layout.block_rows};
    return {layout.flat ? 0 : layout.group_size, 0};
  }
  SharedScales operator()(GgmlType type) const { return {ggml_type_info(type).block_elements, 0}; }
};

/// Where a whole row shares a scale, every rank has one for its part of the row.
SharedScales groups_of(const TensorLayout& layout, const WeightTensor& tensor) {
  SharedScales shared = std::visit(PartGroups{}, layout);
  const bool is_row = std::holds_alternative<GroupedLayout>(layout) && shared.outputs == 0 &&
                      shared.inputs >= tensor.cols;
  if (is_row) shared.inputs = 0;
  return shared;
}

/// Sums of one rank as they grow.
class RankTally {
 public:
  explicit RankTally(Bytes host_offload) : host_offload_(host_offload) {}

  void add(const WeightTensor& tensor, CheckedU64 bytes) {
    const bool stays =
        tensor.layer >= 0 && tensor.role != TensorRole::mtp && host_.value_or(0) < budget();
    if (stays) {
      host_ += bytes;
      return;
    }
    device_ += bytes;
    by_group_[static_cast<size_t>(role_group(tensor.role))] += bytes;
  }

  Result<RankWeights> finish(PlanRank rank) const {
    RankWeights weights;
    weights.rank = rank;
    const auto device = bytes_of(device_);
    const auto host = bytes_of(host_);
    if (!device || !host) {
      return fail(ErrorCode::value_overflow, {},
                  {{"what", std::string_view("the size of the weights of a rank")}});
    }
    weights.device = *device;
    weights.host = *host;
    for (size_t i = 0; i < kNumRoleGroups; ++i)
      weights.device_by_group[i] = Bytes(by_group_[i].value_or(0));
    return weights;
  }

 private:
  uint64_t budget() const { return host_offload_.count(); }

  Bytes host_offload_;
  CheckedU64 device_;
  CheckedU64 host_;
  std::array<CheckedU64, kNumRoleGroups> by_group_{};
};

/// Ranks of a stage in the order in which experts are dealt out, cut where a rank keeps one less.
std::vector<uint64_t> first_ranks(const StoredTensors& stored, const ParallelPlan& plan) {
  const uint64_t ranks = plan.tensor_ranks * plan.data_ranks;
  std::set<uint64_t> firsts{0};
  for (const WeightTensor& tensor : *stored.tensors) {
    const bool is_dealt = plan.is_expert_parallel && tensor.count > 1 && !is_tower(tensor);
    if (is_dealt && tensor.count % ranks != 0) firsts.insert(tensor.count % ranks);
  }
  return {firsts.begin(), firsts.end()};
}

}  // namespace

Result<std::vector<TensorLayout>> tensor_layouts(const std::vector<WeightTensor>& tensors,
                                                 const ModelSpec& spec,
                                                 const WeightFormat& format) {
  const auto refused = [&](std::string reason) {
    return fail(ErrorCode::format_refused, {}, {{"id", format.id}, {"reason", std::move(reason)}});
  };
  if (!format.layout) return refused(format.refused.value_or("no layout is given"));
  if (tensors.empty())
    return refused("a part of a model needs its tensors, and only a parameter count is given");
  if (const auto* ideal = std::get_if<IdealLayout>(&*format.layout))
    return std::vector<TensorLayout>(tensors.size(), *ideal);
  if (const auto* grouped = std::get_if<GroupedLayout>(&*format.layout)) {
    const auto layouts = grouped_layouts(tensors, spec, format, *grouped);
    if (!layouts) return fail(layouts.error());
    return std::vector<TensorLayout>(layouts->begin(), layouts->end());
  }
  return gguf_layouts(tensors, spec, format);
}

Result<std::vector<TensorLayout>> tensor_layouts(const std::vector<WeightTensor>& tensors,
                                                 const ModelSpec& spec,
                                                 const ResolvedQuantization& quantization) {
  // Prices it once, for its errors.
  const auto priced = format_resolved(tensors, spec, quantization, Drafts::counted);
  if (!priced) return fail(priced.error());
  std::vector<TensorLayout> layouts;
  layouts.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint32_t scheme = quantization.scheme_of_tensor[i];
    if (scheme == ResolvedQuantization::kNative) {
      layouts.emplace_back(native_layout(spec));
    } else {
      layouts.emplace_back(scheme_layout(quantization.schemes[scheme], tensors[i].cols));
    }
  }
  return layouts;
}

Result<RankWeights> rank_weights(const StoredTensors& stored, const ParallelPlan& plan,
                                 PlanRank rank) {
  const auto placed = place_tensors(*stored.tensors, *stored.spec, plan, rank);
  if (!placed) return fail(placed.error());
  RankTally tally(stored.host_offload);
  for (const PlacedTensor& part : *placed) {
    const size_t index = index_of(part.index);
    const WeightTensor& tensor = (*stored.tensors)[index];
    const TensorLayout& layout = stored.layouts[index];
    const auto whole = check_groups(tensor, part, groups_of(layout, tensor), plan);
    if (!whole) return fail(whole.error());
    tally.add(tensor, std::visit(PartBytes{part}, layout));
  }
  return tally.finish(rank);
}

Result<PlanWeights> plan_weights(const StoredTensors& stored, const ParallelPlan& plan) {
  // A plan of nothing is refused before anything is divided by it.
  const auto first = rank_weights(stored, plan, {});
  if (!first) return fail(first.error());
  PlanWeights weights;
  const std::vector<uint64_t> firsts = first_ranks(stored, plan);
  const uint64_t ranks = plan.tensor_ranks * plan.data_ranks;
  for (uint64_t stage = 0; stage < plan.pipeline_stages; ++stage) {
    for (size_t i = 0; i < firsts.size(); ++i) {
      const uint64_t tensor_rank = firsts[i] % plan.tensor_ranks;
      auto own = rank_weights(stored, plan, {stage, tensor_rank, firsts[i] / plan.tensor_ranks});
      if (!own) return fail(std::move(own.error()));
      own->num_ranks = (i + 1 < firsts.size() ? firsts[i + 1] : ranks) - firsts[i];
      weights.ranks.push_back(*own);
    }
  }
  const auto most = std::max_element(
      weights.ranks.begin(), weights.ranks.end(),
      [](const RankWeights& a, const RankWeights& b) { return a.device < b.device; });
  weights.worst = static_cast<size_t>(most - weights.ranks.begin());
  return weights;
}

}  // namespace vramgauge

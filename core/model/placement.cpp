#include "model/placement.h"

#include <numeric>
#include <optional>
#include <string_view>

#include "units/checked.h"
#include "units/index.h"

namespace vramgauge {
namespace {

using Role = TensorRole;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_bias(const WeightTensor& tensor) { return ends_with(tensor.name, ".bias"); }

/// Last part of a name, a bias's marker left out: "q_proj".
std::string_view leaf_of(const WeightTensor& tensor) {
  std::string_view name = tensor.name;
  if (is_bias(tensor)) name.remove_suffix(std::string_view(".bias").size());
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

tl::unexpected<Diagnostics> not_divisible(std::string_view what, uint64_t size, uint64_t ranks) {
  return fail(ErrorCode::engine_not_divisible, {},
              {{"what", what}, {"size", size}, {"ranks", ranks}});
}

/// The layer that a tensor belongs to, draft layers behind the model's own; or nothing.
const Layer* layer_of(const ModelSpec& spec, const WeightTensor& tensor) {
  if (tensor.layer < 0) return nullptr;
  const auto layer = static_cast<uint64_t>(tensor.layer);
  const uint64_t own = spec.layers.size();
  if (layer < own) return &spec.layers[index_of(layer)];
  return layer - own < spec.mtp_layers.size() ? &spec.mtp_layers[index_of(layer - own)] : nullptr;
}

/// The attention whose projections a tensor belongs to, or nothing.
template <typename Kind>
const Kind* mixer_of(const ModelSpec& spec, const WeightTensor& tensor) {
  const Layer* layer = layer_of(spec, tensor);
  if (layer == nullptr) return nullptr;
  for (const Mixer& mixer : layer->mixers) {
    if (const auto* found = std::get_if<Kind>(&mixer)) return found;
  }
  return nullptr;
}

/// Output features of a matrix and its bias are split alike; the bias of a matrix split by input
/// features is added once, so that it is whole on every rank.
TensorSplit rows_or_bias(const WeightTensor& tensor) {
  return is_bias(tensor) ? TensorSplit::cols : TensorSplit::rows;
}

TensorSplit cols_or_bias(const WeightTensor& tensor) {
  return is_bias(tensor) ? TensorSplit::replicated : TensorSplit::cols;
}

/// Compressed queries and latents are for all heads, so that their first factor is on every rank
/// (DeepseekV2MLAAttention).
TensorSplit split_of_latent(const WeightTensor& tensor) {
  const std::string_view leaf = leaf_of(tensor);
  const bool is_per_head = leaf == "q_proj" || leaf == "q_b_proj" || leaf == "kv_b_proj" ||
                           leaf == "wq_b" || leaf == "g_proj" || leaf == "attn_sink";
  const bool is_indexer = tensor.name.find(".indexer.") != std::string::npos;
  if (!is_per_head || is_indexer) return TensorSplit::replicated;
  return tensor.is_matrix ? TensorSplit::rows : TensorSplit::cols;
}

TensorSplit split_of_attention(const WeightTensor& tensor, Role role, const ModelSpec& spec) {
  if (leaf_of(tensor) == "wo_a") return TensorSplit::rows;
  if (role == Role::attention_output) return cols_or_bias(tensor);
  if (mixer_of<LatentAttention>(spec, tensor) != nullptr ||
      mixer_of<CompressedAttention>(spec, tensor) != nullptr)
    return split_of_latent(tensor);
  if (role == Role::attention_q) return rows_or_bias(tensor);
  if (role == Role::attention_qkv) return TensorSplit::fused_qkv;
  if (role == Role::attention_k || role == Role::attention_v) return TensorSplit::kv_heads;
  return leaf_of(tensor) == "sinks" ? TensorSplit::cols : TensorSplit::replicated;
}

/// Recurrent mixers are split by channels or heads: everything but what brings them back to the
/// width of the model.
TensorSplit split_of_recurrent(const WeightTensor& tensor) {
  const std::string_view leaf = leaf_of(tensor);
  if (leaf == "out_proj" || leaf == "o_proj" || leaf == "linear_out" || leaf == "output")
    return cols_or_bias(tensor);
  return tensor.rows == 1 ? TensorSplit::cols : TensorSplit::rows;
}

/// Matrices of encoder layers are split like those of a decoder; patches, positions, norms and
/// projectors are whole on each rank.
TensorSplit split_of_tower(const WeightTensor& tensor, bool replicates) {
  const bool is_layer = tensor.name.find(".layers.") != std::string::npos;
  if (replicates || !is_layer || tensor.role == Role::projector) return TensorSplit::replicated;
  const std::string_view leaf = leaf_of(tensor);
  if (leaf == "o_proj" || leaf == "down_proj") return cols_or_bias(tensor);
  for (std::string_view name : {"q_proj", "k_proj", "v_proj", "qkv", "gate_proj", "up_proj"}) {
    if (leaf == name) return rows_or_bias(tensor);
  }
  return TensorSplit::replicated;
}

/// Parts of draft layers share one role; names say which part of a decoder layer each is. What only
/// drafts have is whole on each rank.
Role role_in_layer(const WeightTensor& tensor) {
  struct Part {
    std::string_view leaf;
    Role dense;
    Role expert;
  };
  constexpr Part kParts[] = {
      {"q_proj", Role::attention_q, Role::other},
      {"k_proj", Role::attention_k, Role::other},
      {"v_proj", Role::attention_v, Role::other},
      {"qkv_proj", Role::attention_qkv, Role::other},
      {"q_b_proj", Role::attention_other, Role::other},
      {"kv_b_proj", Role::attention_other, Role::other},
      {"wq_b", Role::attention_other, Role::other},
      {"wo_a", Role::attention_other, Role::other},
      {"o_proj", Role::attention_output, Role::other},
      {"wo_b", Role::attention_output, Role::other},
      {"gate_proj", Role::mlp_gate, Role::expert_gate},
      {"up_proj", Role::mlp_up, Role::expert_up},
      {"down_proj", Role::mlp_down, Role::expert_down},
  };
  if (tensor.role != Role::mtp) return tensor.role;
  for (const Part& part : kParts) {
    if (part.leaf == leaf_of(tensor)) return tensor.count > 1 ? part.expert : part.dense;
  }
  return Role::mtp;
}

TensorSplit split_of(const WeightTensor& tensor, const ModelSpec& spec, const ParallelPlan& plan) {
  const Role role = role_in_layer(tensor);
  switch (role) {
    case Role::embedding:
    case Role::output: return TensorSplit::vocabulary;
    case Role::attention_q:
    case Role::attention_k:
    case Role::attention_v:
    case Role::attention_qkv:
    case Role::attention_output:
    case Role::attention_other: return split_of_attention(tensor, role, spec);
    case Role::recurrent: return split_of_recurrent(tensor);
    case Role::mlp_gate:
    case Role::mlp_up:
    case Role::shared_expert_gate:
    case Role::shared_expert_up: return rows_or_bias(tensor);
    case Role::mlp_down:
    case Role::shared_expert_down: return cols_or_bias(tensor);
    case Role::expert_gate:
    case Role::expert_up:
      return plan.is_expert_parallel ? TensorSplit::experts : rows_or_bias(tensor);
    case Role::expert_down:
      return plan.is_expert_parallel ? TensorSplit::experts : cols_or_bias(tensor);
    case Role::vision:
    case Role::audio:
    case Role::projector: return split_of_tower(tensor, plan.replicates_towers);
    case Role::norm:
    case Role::position_embedding:
    case Role::router:
    case Role::mtp:
    case Role::other: return TensorSplit::replicated;
  }
  return TensorSplit::replicated;
}

/// Shares `total` rows of `heads` heads; past the number of heads each rank has one.
std::optional<uint64_t> share_of_heads(uint64_t rows, uint64_t heads, uint64_t ranks) {
  if (heads == 0 || rows % heads != 0) return std::nullopt;
  if (heads % ranks == 0) return rows / ranks;
  if (ranks % heads == 0) return rows / heads;
  return std::nullopt;
}

/// Experts of one rank; the first ranks keep one more when they do not divide.
uint64_t share_of_experts(uint64_t count, const ParallelPlan& plan, PlanRank rank) {
  const uint64_t ranks = plan.tensor_ranks * plan.data_ranks;
  const uint64_t own = rank.data_rank * plan.tensor_ranks + rank.tensor_rank;
  return count / ranks + (own < count % ranks ? 1 : 0);
}

/// One placement under way.
class Placer {
 public:
  Placer(const ModelSpec& spec, const ParallelPlan& plan, PlanRank rank)
      : spec_(spec), plan_(plan), rank_(rank) {}

  Result<PlacedTensor> place(const WeightTensor& tensor) const {
    PlacedTensor placed;
    placed.split = split_of(tensor, spec_, plan_);
    placed.rows = tensor.rows;
    placed.cols = tensor.cols;
    placed.count = tensor.count;
    switch (placed.split) {
      case TensorSplit::replicated: return placed;
      case TensorSplit::rows: return share(tensor, placed.rows, placed);
      case TensorSplit::cols: return share(tensor, placed.cols, placed);
      case TensorSplit::kv_heads: return share_kv(tensor, placed);
      case TensorSplit::fused_qkv: return share_qkv(tensor, placed);
      case TensorSplit::vocabulary: return share_vocabulary(placed);
      case TensorSplit::experts: break;
    }
    placed.count = share_of_experts(tensor.count, plan_, rank_);
    return placed;
  }

 private:
  /// The dimension that output features run along: the columns of a bias.
  static uint64_t& outputs(const WeightTensor& tensor, PlacedTensor& placed) {
    return is_bias(tensor) ? placed.cols : placed.rows;
  }

  Result<PlacedTensor> share(const WeightTensor& tensor, uint64_t& size,
                             PlacedTensor& placed) const {
    if (size % plan_.tensor_ranks != 0) return not_divisible(tensor.name, size, plan_.tensor_ranks);
    size /= plan_.tensor_ranks;
    return placed;
  }

  Result<PlacedTensor> share_kv(const WeightTensor& tensor, PlacedTensor& placed) const {
    const auto* attention = mixer_of<Attention>(spec_, tensor);
    const uint64_t heads = attention != nullptr ? attention->num_kv_heads : 0;
    uint64_t& size = outputs(tensor, placed);
    const auto own = share_of_heads(size, heads, plan_.tensor_ranks);
    if (!own) return not_divisible("num_key_value_heads", heads, plan_.tensor_ranks);
    size = *own;
    return placed;
  }

  Result<PlacedTensor> share_qkv(const WeightTensor& tensor, PlacedTensor& placed) const {
    const auto* attention = mixer_of<Attention>(spec_, tensor);
    if (attention == nullptr) return placed;
    uint64_t& size = outputs(tensor, placed);
    const uint64_t kv_size =
        attention->num_kv_heads * (attention->head_dim + attention->v_head_dim);
    const auto own_kv = share_of_heads(kv_size, attention->num_kv_heads, plan_.tensor_ranks);
    if (!own_kv)
      return not_divisible("num_key_value_heads", attention->num_kv_heads, plan_.tensor_ranks);
    const uint64_t q_size = size > kv_size ? size - kv_size : 0;
    if (q_size % plan_.tensor_ranks != 0)
      return not_divisible(tensor.name, q_size, plan_.tensor_ranks);
    size = q_size / plan_.tensor_ranks + *own_kv;
    return placed;
  }

  Result<PlacedTensor> share_vocabulary(PlacedTensor& placed) const {
    uint64_t& size = placed.rows == 1 ? placed.cols : placed.rows;
    const uint64_t padded = round_up(size, kVocabularyMultiple).value_or(0);
    if (padded % plan_.tensor_ranks != 0)
      return not_divisible("vocab_size", padded, plan_.tensor_ranks);
    size = padded / plan_.tensor_ranks;
    return placed;
  }

  const ModelSpec& spec_;
  const ParallelPlan& plan_;
  PlanRank rank_;
};

/// A draft's own embedding and output give way to the model's (spec_decode/eagle.py, load_model).
bool is_shared_by_drafts(const WeightTensor& tensor) {
  const std::string_view leaf = leaf_of(tensor);
  return leaf == "embed_tokens" || leaf == "head";
}

/// Whether a stage of layers [first, last) holds a tensor.
bool is_on_stage(const WeightTensor& tensor, const ModelSpec& spec, const ParallelPlan& plan,
                 uint64_t stage, uint64_t first, uint64_t last) {
  const bool is_first = stage == 0;
  const bool is_last = stage + 1 == plan.pipeline_stages;
  if (tensor.role == Role::mtp) return plan.loads_drafts && is_last && !is_shared_by_drafts(tensor);
  if (tensor.layer >= 0) {
    const auto layer = static_cast<uint64_t>(tensor.layer);
    return layer >= first && layer < last;
  }
  switch (tensor.role) {
    case Role::embedding: return is_first || (is_last && spec.tie_word_embeddings);
    case Role::output:
    case Role::norm: return is_last;
    case Role::vision:
    case Role::audio:
    case Role::projector: return true;
    default: return is_first;
  }
}

bool is_sound(const ParallelPlan& plan, PlanRank rank) {
  constexpr uint64_t kMaxRanks = uint64_t{1} << 16;
  if (plan.tensor_ranks > kMaxRanks || plan.data_ranks > kMaxRanks) return false;
  return plan.tensor_ranks > 0 && plan.pipeline_stages > 0 && plan.data_ranks > 0 &&
         rank.stage < plan.pipeline_stages && rank.tensor_rank < plan.tensor_ranks &&
         rank.data_rank < plan.data_ranks;
}

}  // namespace

Result<std::vector<uint64_t>> stage_layer_counts(uint64_t num_layers, const ParallelPlan& plan) {
  const uint64_t stages = plan.pipeline_stages;
  if (!plan.stage_layers.empty()) {
    CheckedU64 sum;
    for (const uint64_t layers : plan.stage_layers)
      sum += layers;
    if (plan.stage_layers.size() != stages || !(sum == CheckedU64(num_layers)))
      return not_divisible("stage_layers", num_layers, stages);
    return plan.stage_layers;
  }
  if (stages == 0 || stages > num_layers)
    return not_divisible("num_hidden_layers", num_layers, stages);
  std::vector<uint64_t> counts(index_of(stages), num_layers / stages);
  for (uint64_t rest = 0; rest < num_layers % stages; ++rest)
    ++counts[index_of(stages - 2 - rest)];
  return counts;
}

Result<std::vector<PlacedTensor>> place_tensors(const std::vector<WeightTensor>& tensors,
                                                const ModelSpec& spec, const ParallelPlan& plan,
                                                PlanRank rank) {
  if (!is_sound(plan, rank)) return not_divisible("rank", rank.stage, plan.pipeline_stages);
  const auto counts = stage_layer_counts(spec.layers.size(), plan);
  if (!counts) return fail(counts.error());
  const auto own = counts->begin() + static_cast<std::ptrdiff_t>(rank.stage);
  const uint64_t first = std::accumulate(counts->begin(), own, uint64_t{0});
  const Placer placer(spec, plan, rank);
  std::vector<PlacedTensor> placed;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!is_on_stage(tensors[i], spec, plan, rank.stage, first, first + *own)) continue;
    Result<PlacedTensor> part = placer.place(tensors[i]);
    if (!part) return fail(std::move(part.error()));
    part->index = i;
    if (part->count > 0) placed.push_back(*part);
  }
  return placed;
}

Result<void> check_groups(const WeightTensor& tensor, const PlacedTensor& placed,
                          SharedScales shared, const ParallelPlan& plan) {
  const auto check = [&](std::string_view what, uint64_t size, uint64_t whole,
                         uint64_t group) -> Result<void> {
    if (group == 0 || size == whole || size % group == 0) return {};
    return not_divisible(std::string(what) + tensor.name + " in groups of " + std::to_string(group),
                         whole, plan.tensor_ranks);
  };
  if (auto inputs = check("input features of ", placed.cols, tensor.cols, shared.inputs); !inputs)
    return inputs;
  return check("output features of ", placed.rows, tensor.rows, shared.outputs);
}

}  // namespace vramgauge

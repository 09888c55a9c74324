// Which part of every weight lands on which GPU: what tensor parallelism splits, replicates or
// pads, which layers a pipeline stage holds, which experts a rank keeps. Engines agree on these
// rules where they share the Megatron scheme; a name in brackets says where a rule was read (vLLM
// 0.19).
#pragma once

#include <cstdint>
#include <vector>

#include "specs/model_spec.h"
#include "units/error.h"

namespace vramgauge {

/// How a model is spread over GPUs: tensor x pipeline x data ranks.
struct ParallelPlan {
  uint64_t tensor_ranks = 1;
  uint64_t pipeline_stages = 1;
  /// Replicas of everything but, with expert parallelism, the experts.
  uint64_t data_ranks = 1;
  /// Whole experts are dealt out over tensor x data ranks, instead of a slice of every expert.
  bool is_expert_parallel = false;
  /// Each rank keeps whole vision and audio towers instead of a slice of their matrices.
  bool replicates_towers = false;
  /// Layers of each stage; empty = the rule of stage_layer_counts.
  std::vector<uint64_t> stage_layers;
  /// Draft (MTP) layers are loaded as well, on the last stage; they use the model's own embedding
  /// and output.
  bool loads_drafts = false;
};

/// One rank of a plan.
struct PlanRank {
  uint64_t stage = 0;
  uint64_t tensor_rank = 0;
  uint64_t data_rank = 0;
};

/// What tensor parallelism does to a tensor.
enum class TensorSplit {
  replicated,
  rows,        ///< output features, evenly
  cols,        ///< input features, evenly
  kv_heads,    ///< output features by KV heads, which are replicated past their number
  fused_qkv,   ///< query rows evenly, key and value rows by KV heads
  vocabulary,  ///< rows, after padding the vocabulary
  experts,     ///< whole experts
};

/// The part of a tensor that one rank holds.
struct PlacedTensor {
  /// Index into the list that was placed.
  uint64_t index = 0;
  TensorSplit split = TensorSplit::replicated;
  uint64_t rows = 0;
  uint64_t cols = 0;
  uint64_t count = 0;
};

/// Rows that a vocabulary is padded to a multiple of (VocabParallelEmbedding).
inline constexpr uint64_t kVocabularyMultiple = 64;

/// Layers of each pipeline stage. Without an own list the rest of an uneven division goes one layer
/// each to the stages before the last, from the back: the last one also holds the output
/// (vllm/distributed/utils.py, get_pp_indices). Errors: engine.not_divisible.
Result<std::vector<uint64_t>> stage_layer_counts(uint64_t num_layers, const ParallelPlan& plan);

/// The parts of `tensors` (weight_tensors(spec)) that a rank holds, in their order. The embedding
/// is on the first stage, the final norm and the output on the last, which also keeps a copy of a
/// tied embedding; towers are built on every stage, draft (MTP) layers on the last where the plan
/// loads them. Errors: engine.not_divisible, as engines refuse it.
Result<std::vector<PlacedTensor>> place_tensors(const std::vector<WeightTensor>& tensors,
                                                const ModelSpec& spec, const ParallelPlan& plan,
                                                PlanRank rank);

/// Features of a matrix that share a scale; 0 = none.
struct SharedScales {
  uint64_t inputs = 0;
  uint64_t outputs = 0;
};

/// Whether the part that a rank holds is made of whole groups. Error: engine.not_divisible, which
/// names the groups.
Result<void> check_groups(const WeightTensor& tensor, const PlacedTensor& placed,
                          SharedScales shared, const ParallelPlan& plan);

}  // namespace vramgauge

// What vLLM holds after loading a model, on one rank: the figure of its log line "Model loading
// took". That is PyTorch's allocated memory, so besides the parameters it counts the allocator's
// rounding, the rotary tables and whatever workspaces exist by then. Rules as of vLLM 0.19 on CUDA.
#pragma once

#include <vector>

#include "model/placement.h"
#include "specs/model_spec.h"
#include "units/bytes.h"
#include "units/error.h"

namespace vramgauge {

/// How vLLM keeps the matrices of one linear layer after loading. The default is a plain 16-bit
/// dtype. What a checkpoint's own format becomes: vllm_weights_formats.h.
struct VllmStorage {
  /// Of one code.
  uint64_t bits = 16;
  /// Input features that share a scale; 0 = none, kWholeRow = all.
  uint64_t group_size = 0;
  uint64_t group_scale_bits = 16;
  /// Packed zeros, as wide as a code, one per group and output feature. Symmetric checkpoints of
  /// GPTQ hold them although nothing reads them.
  bool has_zeros = false;
  bool is_symmetric = true;
  /// A sorted group index and its permutation, 32 bits each per input feature.
  bool has_act_order = false;
  /// fp32 beside each output feature (compressed-tensors, whatever the checkpoint's dtype).
  bool has_row_scales = false;
  /// Tiles that share an fp32 scale; 0 = none.
  uint64_t block_rows = 0;
  uint64_t block_cols = 0;
  /// One fp32 scale per matrix.
  bool has_matrix_scale = false;
  /// Packed integers, which loading brings into the order of a kernel.
  bool is_packed = false;
  /// Of kernels for packed integers only Marlin takes them (AWQ).
  bool only_marlin = false;
  /// A kernel that pads its matrices: output and input features are multiples of these.
  uint64_t row_multiple = 1;
  uint64_t col_multiple = 1;
  /// The same of the grid of group scales.
  uint64_t scale_row_multiple = 1;
  uint64_t scale_col_multiple = 1;
  /// Group scales stay as loaded beside those in the order of the kernel.
  bool keeps_loaded_scales = false;

  static constexpr uint64_t kWholeRow = UINT64_MAX;

  friend bool operator==(const VllmStorage&, const VllmStorage&) = default;
};

/// Room for LoRA adapters (--enable-lora): every linear layer of the decoder gets two thin matrices
/// per slot, those of a fused layer one pair per member (vllm/lora/layers). Experts, embeddings and
/// outputs are left out: few families have adapters for them.
struct VllmAdapters {
  /// --max-loras; 0 = none.
  uint64_t slots = 0;
  /// --max-lora-rank.
  uint64_t rank = 0;
};

/// What is loaded, and how.
struct VllmModel {
  const ModelSpec* spec = nullptr;
  /// weight_tensors(*spec).
  const std::vector<WeightTensor>* tensors = nullptr;
  /// One per tensor. Of a vector only the width counts.
  std::vector<VllmStorage> storage;
  /// Ten times CUDA's compute capability: 90 has a kernel of its own for packed integers.
  uint64_t compute_capability = 80;
  /// Of plain tensors and rotary tables: 2, or 4 with --dtype float32.
  uint64_t dtype_bytes = 2;
  /// False with --language-model-only: vision and audio towers are not built.
  bool loads_towers = true;
  /// Rotary tables stay in fp32 (SGLang).
  bool has_wide_tables = false;
  /// --cpu-offload-gb: weights of decoder layers that stay in host memory, up to this many bytes
  /// and the weight that passes it.
  Bytes host_offload;
  VllmAdapters adapters;
  /// --max-num-batched-tokens, by which vision models size their inputs; 0 = not counted.
  uint64_t max_batched_tokens = 0;
};

/// Memory of one rank after loading.
struct VllmLoadedWeights {
  /// What the log says: blocks in use.
  Bytes allocated;
  /// Segments that the allocator holds for them, and for what loading needed in between.
  Bytes reserved;
  /// The parameters alone, without rounding, tables and workspaces.
  Bytes parameters;
  /// Rotary tables.
  Bytes tables;
  /// Slots for adapters.
  Bytes adapters;
  /// Buffers that exist before the model runs.
  Bytes workspaces;
  /// Weights left in host memory.
  Bytes offloaded;
};

/// Loads one rank. Errors: engine.not_divisible (vLLM refuses the plan as well, also where a split
/// would cut a group or tile that shares a scale), value.overflow.
Result<VllmLoadedWeights> load_vllm_weights(const VllmModel& model, const ParallelPlan& plan,
                                            PlanRank rank);

/// The pipeline stage whose first rank holds the most, and what it holds.
struct VllmWorstStage {
  uint64_t stage = 0;
  VllmLoadedWeights weights;
};
Result<VllmWorstStage> worst_vllm_stage(const VllmModel& model, const ParallelPlan& plan);

}  // namespace vramgauge

// The parameters that one vLLM linear layer is made of; private to vllm_weights.cpp and its tests.
#pragma once

#include <vector>

#include "engine/torch_allocator.h"
#include "engine/vllm_weights.h"

namespace vramgauge {

/// Whose order packed integers are brought into.
enum class VllmKernel { none, machete, marlin };

/// Matrices that vLLM keeps as one: q, k and v, or gate and up.
struct VllmFusedTensor {
  std::string name;
  VllmStorage storage;
  bool is_matrix = false;
  /// Rows of each member; columns are common.
  std::vector<uint64_t> member_rows;
  uint64_t cols = 0;
  /// Experts of a layer are one parameter; equal layers of a tower are many.
  uint64_t stacked = 1;
  uint64_t repeated = 1;
  int64_t layer = -1;
  VllmKernel kernel = VllmKernel::none;
  /// A linear layer that adapters change.
  bool takes_adapters = false;
};

/// Sizes of the parameters of one such tensor, in bytes.
struct VllmParameters {
  CheckedU64 codes;
  CheckedU64 scales;
  /// Group scales as loaded, where they stay beside the others.
  CheckedU64 loaded_scales;
  CheckedU64 zeros;
  /// One of the two that activation order needs.
  CheckedU64 group_index;
  CheckedU64 row_scales;
  CheckedU64 tile_scales;
  CheckedU64 matrix_scales;
  /// All codes as 32-bit integers, for a moment.
  CheckedU64 unpacked;
  /// Zeros as 16-bit numbers with their scales applied.
  CheckedU64 scaled_zeros;

  /// What stays of a tensor after loading.
  CheckedU64 kept(const VllmFusedTensor& tensor) const;
};

VllmParameters vllm_parameters(const VllmFusedTensor& tensor, uint64_t dtype_bytes);

/// What a layer holds in the allocator, so that loading can replace it.
struct VllmLinearBlocks {
  const VllmFusedTensor* tensor = nullptr;
  VllmParameters sizes;
  TorchAllocator::Handle codes{};
  TorchAllocator::Handle scales{};
  TorchAllocator::Handle zeros{};
  TorchAllocator::Handle group_index{};
};

/// Creates the parameters in the order in which vLLM does.
VllmLinearBlocks create_linear(TorchAllocator& allocator, const VllmFusedTensor& tensor,
                               uint64_t dtype_bytes);
/// Brings a layer into its kernel's order (mixed_precision/machete.py and marlin.py): copies are
/// made before the originals are freed.
void repack_linear(TorchAllocator& allocator, const VllmLinearBlocks& linear);

/// Fuses the placed parts of a model's tensors, in the order in which modules are built.
std::vector<VllmFusedTensor> fuse_tensors(const VllmModel& model,
                                          const std::vector<PlacedTensor>& placed);

}  // namespace vramgauge

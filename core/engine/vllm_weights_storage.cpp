#include "engine/vllm_weights_storage.h"

#include <array>
#include <numeric>
#include <string_view>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kScaleBytes = 4;
constexpr uint64_t kWordBits = 32;
constexpr uint64_t kPlainBits = 16;

/// Last parts of names, and of the one tensor that vLLM keeps in their place.
struct Fusion {
  std::string_view member;
  std::string_view fused;
};
constexpr std::array<Fusion, 8> kFusions = {{
    {"q_proj", "qkv_proj"},
    {"k_proj", "qkv_proj"},
    {"v_proj", "qkv_proj"},
    {"gate_proj", "gate_up_proj"},
    {"up_proj", "gate_up_proj"},
    {"q_a_proj", "fused_qkv_a_proj"},
    {"kv_a_proj_with_mqa", "fused_qkv_a_proj"},
    {"qkv", "qkv_proj"},
}};

constexpr std::string_view kBias = ".bias";

bool has_bias_ending(std::string_view name) {
  return name.size() > kBias.size() && name.substr(name.size() - kBias.size()) == kBias;
}

/// "model.layers.0.self_attn.k_proj.bias" -> "model.layers.0.self_attn.qkv_proj.bias".
std::string fused_name(const std::string& name) {
  const bool is_bias = has_bias_ending(name);
  std::string_view stem = name;
  if (is_bias) stem.remove_suffix(kBias.size());
  const auto dot = stem.rfind('.');
  const std::string_view leaf = dot == std::string_view::npos ? stem : stem.substr(dot + 1);
  for (const Fusion& fusion : kFusions) {
    if (fusion.member != leaf) continue;
    return std::string(stem.substr(0, stem.size() - leaf.size())) + std::string(fusion.fused) +
           std::string(is_bias ? kBias : std::string_view());
  }
  return name;
}

bool is_expert(TensorRole role) {
  return role == TensorRole::expert_gate || role == TensorRole::expert_up ||
         role == TensorRole::expert_down;
}

bool is_tower(TensorRole role) {
  return role == TensorRole::vision || role == TensorRole::audio || role == TensorRole::projector;
}

bool takes_adapters(TensorRole role) {
  switch (role) {
    case TensorRole::attention_q:
    case TensorRole::attention_k:
    case TensorRole::attention_v:
    case TensorRole::attention_qkv:
    case TensorRole::attention_output:
    case TensorRole::attention_other:
    case TensorRole::recurrent:
    case TensorRole::mlp_gate:
    case TensorRole::mlp_up:
    case TensorRole::mlp_down:
    case TensorRole::shared_expert_gate:
    case TensorRole::shared_expert_up:
    case TensorRole::shared_expert_down: return true;
    default: return false;
  }
}

/// Bias vectors grow by columns, matrices by rows: both are features of the output.
VllmFusedTensor as_tensor(const WeightTensor& tensor, const PlacedTensor& placed,
                          const VllmStorage& storage) {
  VllmFusedTensor fused;
  fused.name = fused_name(tensor.name);
  fused.is_matrix = tensor.is_matrix && tensor.rows > 1;
  // A vector has no groups; it can be wider than the rest.
  if (fused.is_matrix || storage.bits >= kPlainBits) fused.storage = storage;
  const bool is_bias = has_bias_ending(tensor.name);
  fused.member_rows = {is_bias ? placed.cols : placed.rows};
  fused.cols = is_bias ? placed.rows : placed.cols;
  (is_expert(tensor.role) ? fused.stacked : fused.repeated) = placed.count;
  fused.layer = tensor.layer;
  fused.takes_adapters = fused.is_matrix && takes_adapters(tensor.role);
  return fused;
}

bool can_join(const VllmFusedTensor& last, const VllmFusedTensor& next) {
  return last.name == next.name && last.cols == next.cols && last.storage == next.storage &&
         last.is_matrix == next.is_matrix && last.stacked == next.stacked &&
         last.repeated == next.repeated;
}

/// The tensor of the same module among the last few that were added.
VllmFusedTensor* find_member(std::vector<VllmFusedTensor>& list, const VllmFusedTensor& next) {
  constexpr size_t kReach = 6;
  const size_t first = list.size() > kReach ? list.size() - kReach : 0;
  for (size_t i = list.size(); i > first; --i) {
    if (can_join(list[i - 1], next)) return &list[i - 1];
  }
  return nullptr;
}

/// Codes in the order of activations: unpacked, permuted, packed again. Returns the new codes.
TorchAllocator::Handle permute_codes(TorchAllocator& allocator, const VllmLinearBlocks& linear) {
  allocator.allocate(linear.sizes.group_index);
  const auto unpacked = allocator.allocate(linear.sizes.unpacked);
  const auto permuted = allocator.allocate(linear.sizes.unpacked);
  const auto packed = allocator.allocate(linear.sizes.codes);
  allocator.release(linear.codes);
  allocator.release(unpacked);
  allocator.release(permuted);
  return packed;
}

/// Machete keeps what it does not use: the zeros of symmetric checkpoints and the group index.
void repack_for_machete(TorchAllocator& allocator, const VllmLinearBlocks& linear) {
  const VllmStorage& storage = linear.tensor->storage;
  const auto codes = storage.has_act_order ? permute_codes(allocator, linear) : linear.codes;
  const auto transposed = allocator.allocate(linear.sizes.codes);
  allocator.allocate(linear.sizes.codes);
  allocator.release(codes);
  allocator.release(transposed);
  if (storage.is_symmetric) return;
  allocator.allocate(linear.sizes.scaled_zeros);
  allocator.release(linear.zeros);
}

/// Marlin replaces zeros that are not used by an empty tensor.
void repack_for_marlin(TorchAllocator& allocator, const VllmLinearBlocks& linear) {
  const VllmStorage& storage = linear.tensor->storage;
  // The kernel's workspace: a lock per multiprocessor.
  allocator.allocate(uint64_t{512});
  if (storage.has_act_order) {
    allocator.allocate(linear.sizes.group_index);
    allocator.allocate(linear.sizes.group_index);
  }
  allocator.release(linear.group_index);
  if (storage.has_zeros && !storage.is_symmetric) allocator.allocate(linear.sizes.zeros);
  allocator.release(linear.zeros);
  allocator.allocate(linear.sizes.codes);
  allocator.release(linear.codes);
  allocator.allocate(linear.sizes.scales);
  allocator.release(linear.scales);
}

/// The first kernel that can take a layer. Machete takes no experts and wants whole tiles, and no
/// activation order over inputs that are split (machete.py, can_implement).
VllmKernel kernel_for(const VllmModel& model, const VllmFusedTensor& tensor,
                      const WeightTensor& whole) {
  constexpr uint64_t kTileInputs = 64;
  constexpr uint64_t kTileOutputs = 128;
  constexpr uint64_t kHopper = 90;
  if (!tensor.storage.is_packed) return VllmKernel::none;
  uint64_t outputs = 0;
  for (const uint64_t member : tensor.member_rows)
    outputs += member;
  const bool is_split = tensor.cols != whole.cols;
  const bool fits = tensor.cols % kTileInputs == 0 && outputs % kTileOutputs == 0 &&
                    !(tensor.storage.has_act_order && is_split);
  const bool may_be_machete =
      model.compute_capability == kHopper && !tensor.storage.only_marlin && whole.count == 1;
  return may_be_machete && fits ? VllmKernel::machete : VllmKernel::marlin;
}

/// What vLLM does not build: the pooling head of SigLIP towers (models/siglip.py, use_head).
bool is_left_out(const WeightTensor& tensor) {
  return tensor.role == TensorRole::vision && tensor.name.find(".head.") != std::string::npos;
}

/// Output features of all members, each padded by itself.
CheckedU64 padded_rows(const VllmFusedTensor& tensor) {
  CheckedU64 total;
  for (const uint64_t rows : tensor.member_rows)
    total += round_up(rows, tensor.storage.row_multiple);
  return total;
}

CheckedU64 bits_to_bytes(CheckedU64 bits) { return ceil_div(bits, uint64_t{8}); }

}  // namespace

CheckedU64 VllmParameters::kept(const VllmFusedTensor& tensor) const {
  const VllmStorage& storage = tensor.storage;
  const CheckedU64 order = storage.has_act_order ? group_index + group_index : CheckedU64();
  const CheckedU64 all =
      codes + scales + loaded_scales + order + row_scales + tile_scales + matrix_scales;
  if (!storage.is_symmetric)
    return all + (tensor.kernel == VllmKernel::machete ? scaled_zeros : zeros);
  return tensor.kernel == VllmKernel::marlin ? all : all + zeros;
}

VllmParameters vllm_parameters(const VllmFusedTensor& tensor, uint64_t dtype_bytes) {
  VllmParameters sizes;
  const VllmStorage& storage = tensor.storage;
  const CheckedU64 outputs = padded_rows(tensor);
  const CheckedU64 rows = outputs * tensor.stacked;
  const CheckedU64 cols = round_up(tensor.cols, storage.col_multiple);
  const bool is_plain = storage == VllmStorage{};
  sizes.codes = is_plain ? rows * cols * dtype_bytes : bits_to_bytes(rows * cols * storage.bits);
  if (storage.group_size > 0) {
    const CheckedU64 groups = ceil_div(cols, storage.group_size);
    const CheckedU64 grid = round_up(outputs, storage.scale_row_multiple) *
                            round_up(groups, storage.scale_col_multiple) * tensor.stacked;
    sizes.scales = bits_to_bytes(grid * storage.group_scale_bits);
    if (storage.keeps_loaded_scales)
      sizes.loaded_scales = bits_to_bytes(rows * groups * storage.group_scale_bits);
    if (storage.has_zeros) {
      sizes.zeros = ceil_div(rows * storage.bits, kWordBits) * groups * (kWordBits / 8);
      sizes.scaled_zeros = rows * groups * uint64_t{2};
    }
  }
  if (storage.has_act_order) sizes.group_index = cols * tensor.stacked * kScaleBytes;
  sizes.unpacked = rows * cols * (kWordBits / 8);
  if (storage.has_row_scales) sizes.row_scales = rows * kScaleBytes;
  if (storage.block_rows > 0 && storage.block_cols > 0) {
    CheckedU64 tiles;
    for (const uint64_t member : tensor.member_rows)
      tiles += ceil_div(member, storage.block_rows);
    sizes.tile_scales = tiles * ceil_div(cols, storage.block_cols) * tensor.stacked * kScaleBytes;
  }
  if (storage.has_matrix_scale)
    sizes.matrix_scales =
        CheckedU64(uint64_t{tensor.member_rows.size()}) * tensor.stacked * kScaleBytes;
  return sizes;
}

VllmLinearBlocks create_linear(TorchAllocator& allocator, const VllmFusedTensor& tensor,
                               uint64_t dtype_bytes) {
  VllmLinearBlocks linear;
  linear.tensor = &tensor;
  linear.sizes = vllm_parameters(tensor, dtype_bytes);
  linear.codes = allocator.allocate(linear.sizes.codes);
  linear.group_index = allocator.allocate(linear.sizes.group_index);
  linear.scales = allocator.allocate(linear.sizes.scales);
  allocator.allocate(linear.sizes.loaded_scales);
  linear.zeros = allocator.allocate(linear.sizes.zeros);
  allocator.allocate(linear.sizes.row_scales);
  allocator.allocate(linear.sizes.tile_scales);
  allocator.allocate(linear.sizes.matrix_scales);
  return linear;
}

void repack_linear(TorchAllocator& allocator, const VllmLinearBlocks& linear) {
  if (linear.tensor->kernel == VllmKernel::machete) repack_for_machete(allocator, linear);
  if (linear.tensor->kernel == VllmKernel::marlin) repack_for_marlin(allocator, linear);
}

std::vector<VllmFusedTensor> fuse_tensors(const VllmModel& model,
                                          const std::vector<PlacedTensor>& placed) {
  std::vector<VllmFusedTensor> list;
  // Multimodal models build their towers first.
  for (const bool towers : {true, false}) {
    if (towers && !model.loads_towers) continue;
    for (const PlacedTensor& part : placed) {
      const WeightTensor& tensor = (*model.tensors)[index_of(part.index)];
      if (is_tower(tensor.role) != towers || is_left_out(tensor)) continue;
      VllmFusedTensor next = as_tensor(tensor, part, model.storage[index_of(part.index)]);
      if (VllmFusedTensor* member = find_member(list, next)) {
        member->member_rows.push_back(next.member_rows.front());
        member->kernel = kernel_for(model, *member, tensor);
      } else {
        next.kernel = kernel_for(model, next, tensor);
        list.push_back(std::move(next));
      }
    }
  }
  return list;
}

}  // namespace vramgauge

#include "engine/vllm_weights_formats.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "units/index.h"

namespace vramgauge {
namespace {

using Kind = QuantScheme::Kind;
using Span = QuantScheme::Span;

constexpr uint64_t kHopper = 90;
constexpr uint64_t kBlackwell = 100;

/// Scales of groups, of whole rows, of tiles or of the matrix; groups keep the width of the file.
void set_scales(VllmStorage& storage, const QuantScheme& scheme) {
  switch (scheme.span) {
    case Span::tensor: storage.has_matrix_scale = true; break;
    case Span::channel: storage.has_row_scales = true; break;
    case Span::group:
      storage.group_size = scheme.group_size != 0 ? scheme.group_size : VllmStorage::kWholeRow;
      storage.group_scale_bits = scheme.scale_bits;
      break;
    case Span::block:
      storage.block_rows = scheme.block_rows;
      storage.block_cols = scheme.block_cols;
      break;
  }
}

/// gptq_marlin.py and compressed_tensors_wNa16.py: a group index is dropped unless activations are
/// reordered, and channels are groups of a whole row.
void set_packed(VllmStorage& storage, const QuantScheme& scheme) {
  storage.is_packed = true;
  storage.group_size = scheme.group_size != 0 ? scheme.group_size : VllmStorage::kWholeRow;
  storage.has_zeros = scheme.has_zeros;
  storage.is_symmetric = !scheme.has_zeros || scheme.is_symmetric;
  storage.has_act_order = scheme.is_act_ordered;
  storage.only_marlin = scheme.kind == Kind::awq;
}

/// modelopt.py and compressed_tensors_w4a4_nvfp4.py. From Blackwell on the grid of scales is padded
/// to the tiles of the tensor cores; before, Marlin takes it as it is.
void set_nvfp4(VllmStorage& storage, const QuantScheme& scheme, uint64_t compute_capability) {
  set_scales(storage, scheme);
  storage.has_matrix_scale = true;
  if (compute_capability < kBlackwell) return;
  storage.scale_row_multiple = 128;
  storage.scale_col_multiple = 4;
}

/// Nothing for what vLLM does not load.
std::optional<VllmStorage> storage_of(const QuantScheme& scheme, uint64_t compute_capability) {
  VllmStorage storage;
  storage.bits = scheme.bits;
  switch (scheme.kind) {
    case Kind::gptq:
    case Kind::awq:
    case Kind::packed_int: set_packed(storage, scheme); break;
    case Kind::bytes:
    case Kind::microscaled: set_scales(storage, scheme); break;
    case Kind::nvfp4: set_nvfp4(storage, scheme, compute_capability); break;
    case Kind::bnb_4bit:
      // Scales that are quantised themselves are widened while loading (bitsandbytes_loader.py).
      storage.group_size = 64;
      storage.group_scale_bits = 32;
      break;
    case Kind::affine:
      set_scales(storage, scheme);
      storage.group_scale_bits = scheme.has_zeros ? 2 * scheme.scale_bits : scheme.scale_bits;
      break;
    case Kind::exl3:
    case Kind::modelopt_awq:
    case Kind::bitnet: return std::nullopt;
  }
  return storage;
}

/// Multiples that a kernel for experts needs of their inner width and of the width they share.
struct ExpertPadding {
  uint64_t inner = 1;
  uint64_t outer = 1;
};

/// mxfp4.py, create_weights: Triton on Hopper, FlashInfer on data-centre Blackwell, Marlin else.
ExpertPadding mxfp4_padding(uint64_t compute_capability) {
  constexpr uint64_t kBlackwellEnd = 110;
  if (compute_capability == kHopper) return {64, 1};
  const bool is_data_centre =
      compute_capability >= kBlackwell && compute_capability < kBlackwellEnd;
  return is_data_centre ? ExpertPadding{256, 256} : ExpertPadding{128, 256};
}

bool is_inner_output(const WeightTensor& tensor) {
  return tensor.role == TensorRole::expert_gate || tensor.role == TensorRole::expert_up;
}

bool is_expert(const WeightTensor& tensor) {
  return is_inner_output(tensor) || tensor.role == TensorRole::expert_down;
}

void pad(VllmStorage& storage, const WeightTensor& tensor, ExpertPadding padding) {
  storage.row_multiple = is_inner_output(tensor) ? padding.inner : padding.outer;
  storage.col_multiple = is_inner_output(tensor) ? padding.outer : padding.inner;
}

/// Triton keeps the scales of the file beside those in the order of its kernel, whose grid it pads
/// (mxfp4.py, process_weights_after_loading; triton_kernels, HopperMXScaleLayout with 8 warps).
void keep_for_triton(VllmStorage& storage) {
  storage.scale_row_multiple = 256;
  storage.scale_col_multiple = 2;
  storage.keeps_loaded_scales = true;
}

class StorageChooser {
 public:
  StorageChooser(const std::vector<WeightTensor>& tensors, uint64_t compute_capability)
      : compute_capability_(compute_capability),
        has_gates_(std::any_of(tensors.begin(), tensors.end(), [](const WeightTensor& tensor) {
          return tensor.role == TensorRole::expert_gate;
        })) {}

  std::optional<VllmStorage> choose(const WeightTensor& tensor, const QuantScheme& scheme) {
    std::optional<VllmStorage> storage = storage_of(scheme, compute_capability_);
    if (storage && is_expert(tensor)) pad_experts(*storage, tensor, scheme);
    return storage;
  }

  /// Biases of experts follow their matrices.
  VllmStorage choose_bias(const WeightTensor& tensor) const {
    VllmStorage storage;
    if (!is_expert(tensor) || !has_mxfp4_experts_) return storage;
    storage.row_multiple = is_inner_output(tensor) ? mxfp4_padding(compute_capability_).inner
                                                   : mxfp4_padding(compute_capability_).outer;
    if (compute_capability_ == kHopper) storage.bits = 32;
    return storage;
  }

 private:
  void pad_experts(VllmStorage& storage, const WeightTensor& tensor, const QuantScheme& scheme) {
    if (scheme.kind == Kind::microscaled && scheme.bits == 4) {
      has_mxfp4_experts_ = true;
      pad(storage, tensor, mxfp4_padding(compute_capability_));
      if (compute_capability_ == kHopper) keep_for_triton(storage);
    }
    // Without gates the inner width has to fill the tiles of the scales (modelopt.py).
    const bool has_tiles = scheme.kind == Kind::nvfp4 && compute_capability_ >= kBlackwell;
    if (has_tiles && !has_gates_) pad(storage, tensor, {128, 1});
  }

  uint64_t compute_capability_;
  bool has_gates_;
  bool has_mxfp4_experts_ = false;
};

tl::unexpected<Diagnostics> refused(const ResolvedQuantization& quantization, std::string reason) {
  return fail(ErrorCode::format_refused, {},
              {{"id", quantization.method}, {"reason", std::move(reason)}});
}

}  // namespace

Result<std::vector<VllmStorage>> vllm_storage(const std::vector<WeightTensor>& tensors,
                                              const ResolvedQuantization& quantization,
                                              uint64_t compute_capability) {
  if (!quantization.refused.empty()) return fail(quantization.refused);
  if (tensors.size() != quantization.scheme_of_tensor.size())
    return refused(quantization, "it was worked out for another list of tensors");
  // Its codes and scales are laid out for kernels of Apple's GPUs.
  if (quantization.method == "mlx") return refused(quantization, "vLLM has no kernel for it");
  StorageChooser chooser(tensors, compute_capability);
  std::vector<VllmStorage> storage;
  storage.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint32_t index = quantization.scheme_of_tensor[i];
    if (index == ResolvedQuantization::kMixed)
      return refused(quantization,
                     "the experts of " + tensors[i].name + " are stored in different ways");
    if (index == ResolvedQuantization::kNative) {
      storage.push_back(chooser.choose_bias(tensors[i]));
      continue;
    }
    const auto chosen = chooser.choose(tensors[i], quantization.schemes[index]);
    if (!chosen) return refused(quantization, "vLLM has no kernel for it");
    storage.push_back(*chosen);
  }
  return storage;
}

}  // namespace vramgauge

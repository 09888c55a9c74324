#include "engine/vllm_weights.h"

#include <algorithm>
#include <array>

#include "engine/torch_allocator.h"
#include "engine/vllm_weights_storage.h"
#include "specs/model_traits.h"
#include "units/index.h"

namespace vramgauge {
namespace {

/// The module of FlashInfer's latent attention allocates its workspace when it is imported, and
/// choosing a backend imports every candidate, whichever is then taken
/// (vllm/v1/attention/backends/mla/flashinfer_mla.py; platforms/cuda.py, get_valid_backends).
constexpr Bytes kLatentWorkspace = MiB(128);
/// No model has as many.
constexpr uint64_t kMaxLevels = 64;

/// One load under way.
class Loader {
 public:
  Loader(const VllmModel& model, std::vector<VllmFusedTensor> tensors)
      : model_(model), tensors_(std::move(tensors)) {}

  Result<VllmLoadedWeights> load() {
    for (size_t first = 0; first < tensors_.size();) {
      const size_t last = end_of_run(first);
      for (uint64_t copy = 0; copy < tensors_[first].repeated; ++copy) {
        for (size_t i = first; i < last; ++i)
          create(tensors_[i]);
      }
      first = last;
    }
    add_vision_inputs();
    for (const VllmLinearBlocks& linear : to_repack_)
      repack_linear(allocator_, linear);
    add_latent_copies();
    return finish();
  }

 private:
  /// Tensors that are repeated equally often are layers of a tower, built one after the other.
  size_t end_of_run(size_t first) const {
    size_t last = first + 1;
    while (last < tensors_.size() && tensors_[last].repeated == tensors_[first].repeated)
      ++last;
    return last;
  }

  /// Vision features that enter at several layers are laid out for a full batch
  /// (models/qwen3_vl.py, deepstack_input_embeds).
  void add_vision_inputs() {
    uint64_t levels = 0;
    for (const WeightTensor& tensor : *model_.tensors) {
      if (tensor.name.find("deepstack_merger_list") != std::string::npos)
        levels = std::max(levels, tensor.count);
    }
    const CheckedU64 bytes =
        CheckedU64(model_.max_batched_tokens) * model_.spec->hidden_size * model_.dtype_bytes;
    for (uint64_t level = 0; level < std::min(levels, kMaxLevels); ++level) {
      workspaces_ += bytes;
      allocator_.allocate(bytes);
    }
  }

  /// The first attention layer of a rank computes the tables, in fp32; what that needed is free
  /// again for what follows.
  void add_tables() {
    has_tables_ = true;
    if (has_mixer<LatentAttention>(*model_.spec)) {
      workspaces_ += checked(kLatentWorkspace);
      allocator_.allocate(checked(kLatentWorkspace));
    }
    for (const RotaryTable& table : model_.spec->rotary_tables)
      add_table(table);
  }

  /// Angles, cosines and sines are computed in fp32, joined, and brought to the model's dtype.
  void add_table(const RotaryTable& table) {
    constexpr uint64_t kFloatBytes = 4;
    const CheckedU64 elements = CheckedU64(table.rows) * table.dim;
    const uint64_t kept_bytes = model_.has_wide_tables ? kFloatBytes : model_.dtype_bytes;
    tables_ += elements * kept_bytes;
    std::array<TorchAllocator::Handle, 3> halves{};
    for (TorchAllocator::Handle& half : halves)
      half = allocator_.allocate(elements / uint64_t{2} * kFloatBytes);
    const TorchAllocator::Handle joined = allocator_.allocate(elements * kFloatBytes);
    for (const TorchAllocator::Handle half : halves)
      allocator_.release(half);
    if (kept_bytes == kFloatBytes) return;
    allocator_.allocate(elements * kept_bytes);
    allocator_.release(joined);
  }

  bool stays_on_host(const VllmFusedTensor& tensor, CheckedU64 bytes) {
    if (tensor.layer < 0 || offloaded_.value_or(0) >= model_.host_offload.count()) return false;
    offloaded_ += bytes;
    return true;
  }

  void create(const VllmFusedTensor& tensor) {
    if (tensor.layer >= 0 && !has_tables_) add_tables();
    const CheckedU64 bytes = vllm_parameters(tensor, model_.dtype_bytes).kept(tensor);
    if (stays_on_host(tensor, bytes)) return;
    parameters_ += bytes;
    const VllmLinearBlocks linear = create_linear(allocator_, tensor, model_.dtype_bytes);
    if (tensor.storage.is_packed) to_repack_.push_back(linear);
    if (tensor.takes_adapters && model_.adapters.slots > 0) add_adapters(tensor);
  }

  /// Towards the rank with the inputs of this GPU, back with the outputs of each member.
  void add_adapters(const VllmFusedTensor& tensor) {
    constexpr uint64_t kAdapterBytes = 2;
    const CheckedU64 width =
        CheckedU64(model_.adapters.slots) * model_.adapters.rank * kAdapterBytes;
    for (const uint64_t rows : tensor.member_rows) {
      for (const uint64_t features : {tensor.cols, rows}) {
        adapters_ += width * features;
        allocator_.allocate(width * features);
      }
    }
  }

  /// The up-projections of latents are also needed in 16 bits, one head at a time: of a plain
  /// matrix that is a view, of a quantised one a copy (mla_attention.py,
  /// process_weights_after_loading).
  void add_latent_copies() {
    constexpr std::string_view kUpProjection = "kv_b_proj";
    for (const VllmFusedTensor& tensor : tensors_) {
      if (tensor.storage == VllmStorage{} || tensor.name.size() < kUpProjection.size()) continue;
      if (tensor.name.substr(tensor.name.size() - kUpProjection.size()) != kUpProjection) continue;
      const CheckedU64 bytes =
          CheckedU64(tensor.member_rows.front()) * tensor.cols * model_.dtype_bytes;
      parameters_ += bytes;
      allocator_.allocate(bytes);
    }
  }

  Result<VllmLoadedWeights> finish() const {
    const auto allocated = bytes_of(allocator_.allocated_bytes());
    const auto reserved = bytes_of(allocator_.reserved_bytes());
    const auto parameters = bytes_of(parameters_);
    const auto tables = bytes_of(tables_);
    const auto adapters = bytes_of(adapters_);
    const auto workspaces = bytes_of(workspaces_);
    const auto offloaded = bytes_of(offloaded_);
    if (!allocated || !reserved || !parameters || !tables || !adapters || !workspaces ||
        !offloaded) {
      return fail(ErrorCode::value_overflow, {},
                  {{"what", std::string_view("the size of the loaded weights")}});
    }
    return VllmLoadedWeights{*allocated, *reserved,   *parameters, *tables,
                             *adapters,  *workspaces, *offloaded};
  }

  const VllmModel& model_;
  std::vector<VllmFusedTensor> tensors_;
  TorchAllocator allocator_;
  std::vector<VllmLinearBlocks> to_repack_;
  bool has_tables_ = false;
  CheckedU64 parameters_;
  CheckedU64 tables_;
  CheckedU64 adapters_;
  CheckedU64 workspaces_;
  CheckedU64 offloaded_;
};

/// What a split must not cut. Kernels that pad take the rest of a group as well.
SharedScales groups_of(const VllmStorage& storage) {
  const bool has_groups = storage.group_size != VllmStorage::kWholeRow && storage.col_multiple == 1;
  if (storage.block_cols > 0) return {storage.block_cols, storage.block_rows};
  return {has_groups ? storage.group_size : 0, 0};
}

}  // namespace

Result<VllmLoadedWeights> load_vllm_weights(const VllmModel& model, const ParallelPlan& plan,
                                            PlanRank rank) {
  const auto placed = place_tensors(*model.tensors, *model.spec, plan, rank);
  if (!placed) return fail(placed.error());
  for (const PlacedTensor& part : *placed) {
    const size_t index = index_of(part.index);
    const auto whole =
        check_groups((*model.tensors)[index], part, groups_of(model.storage[index]), plan);
    if (!whole) return fail(whole.error());
  }
  return Loader(model, fuse_tensors(model, *placed)).load();
}

Result<VllmWorstStage> worst_vllm_stage(const VllmModel& model, const ParallelPlan& plan) {
  VllmWorstStage worst;
  for (uint64_t stage = 0; stage < plan.pipeline_stages; ++stage) {
    auto weights = load_vllm_weights(model, plan, PlanRank{stage, 0, 0});
    if (!weights) return fail(std::move(weights.error()));
    if (stage > 0 && weights->allocated <= worst.weights.allocated) continue;
    worst = {stage, *weights};
  }
  return worst;
}

}  // namespace vramgauge

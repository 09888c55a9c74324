// vLLM: what each device holds once the engine is up, and what the engine makes of what is left.
#pragma once

#include "engine/vllm_activation.h"
#include "engine/vllm_kv_planner.h"
#include "engine/vllm_profile.h"
#include "engine/vllm_weights.h"
#include "specs/breakdown.h"
#include "specs/calibration.h"
#include "specs/hardware.h"

namespace vramgauge {

/// The card, as far as the engine looks at it.
struct VllmDevice {
  std::string name;
  /// What the runtime reports: CUDA's total, not the driver tool's.
  Bytes total;
  /// Held by other processes, the display or the system before the engine starts.
  Bytes held_by_others;
  /// CUDA compute capability x 10: 90 is Hopper.
  uint64_t capability = 90;
  uint64_t multiprocessors = 132;
  bool is_a100 = false;
  bool is_rocm = false;
};

/// Who filters logits in the first model runner: VLLM_USE_FLASHINFER_SAMPLER and what is installed.
enum class VllmSampler : uint8_t { by_version, native, flashinfer };

/// Flags of the server; 0 or nothing = the version's default for the card.
struct VllmFlags {
  std::optional<Decimal> gpu_memory_utilization;
  /// --kv-cache-memory-bytes: the pool itself, in place of a share of the card.
  std::optional<Bytes> kv_cache_memory;
  uint64_t max_num_batched_tokens = 0;
  uint64_t max_num_seqs = 0;
  /// --enforce-eager: no CUDA graphs.
  bool is_eager = false;
  VllmSampler sampler = VllmSampler::by_version;
};

/// What is served. Requests are live at once, each of `context_tokens`.
struct VllmWorkload {
  uint64_t context_tokens = 0;
  uint64_t num_requests = 1;
};

/// Everything an estimate needs.
struct VllmInputs {
  const ModelSpec* spec = nullptr;
  /// What the first rank of each stage holds after loading (load_vllm_weights).
  std::vector<VllmLoadedWeights> stage_weights;
  /// How well those bytes are known.
  Basis weights_basis = Basis::modelled;
  /// The checkpoint has a quantization_config.
  bool is_quantized = false;
  /// Drafts come from n-grams or from a model of their own.
  bool has_drafts_apart = false;
  ParallelPlan plan;
  /// Of activations and logits.
  uint64_t dtype_bytes = 2;
  VllmDevice device;
  VllmFlags flags;
  /// max_num_batched_tokens is filled in from the flags.
  VllmKvSettings cache;
  VllmEncoderItem encoder;
  uint64_t items_per_request = kVllmManyItems;
  VllmWorkload workload;
  /// What a log corrects on every device.
  Calibration calibration;
};

/// Shares of one stage's device.
struct VllmStage {
  VllmActivation activation;
  Basis activation_basis = Basis::modelled;
  Total weights;
  /// Non-torch memory and, where the version takes it off the cache, the graphs' estimate.
  Total runtime;
  /// The graphs' part of it.
  Bytes graphs;
  /// What is left for the cache; the low end of everything else leaves `most`.
  BytesDelta pool;
  BytesDelta pool_least;
  BytesDelta pool_most;
};

struct VllmEstimate {
  /// A device entry per pipeline stage; the cache term is what the workload needs.
  Breakdown breakdown;
  std::vector<VllmStage> stages;
  VllmKvPlan plan;
  /// The pool as the engine sizes it, at the estimate and at both ends of the band.
  VllmKvPool pool;
  VllmKvPool pool_least;
  VllmKvPool pool_most;
  /// Requests of context_tokens that the pool holds once they generate, where windows are no longer
  /// ahead of their tokens; answers.max_requests says how many are admitted at once.
  uint64_t steady_requests = 0;
  /// utilisation x total, or the total with kv_cache_memory.
  Bytes requested;
  /// What a device holds beside that: the context, libraries, graphs that are not in the budget.
  Total outside;
  uint64_t max_num_batched_tokens = 0;
  uint64_t max_num_seqs = 0;
  /// The runner takes its estimate of the graphs off the cache.
  bool deducts_graphs = false;
  /// The engine refuses because less is free than requested.
  bool lacks_free_memory = false;
  /// The card may not hold the most of what is outside the budget beside it.
  bool may_exceed_card = false;
};

/// What a version's constants give for non-torch memory of such a plan on such a card.
const BandedDecimal& vllm_non_torch_gib(const VllmInputs& inputs, const VllmProfile& profile);

/// Flags that were left out, by card and version (engine/arg_utils.py, API server).
VllmFlags vllm_default_flags(VllmFlags flags, const VllmDevice& device, const VllmProfile& profile,
                             uint64_t max_model_len);

/// What one more token costs on a stage while no window is full, with the layers that fill groups.
Bytes vllm_bytes_per_token(const VllmKvPlan& plan, uint64_t stage);

/// The engine as it comes up, whatever it is asked to serve: everything of an estimate but the
/// breakdown and steady_requests, which alone depend on inputs.workload. Errors: those of the
/// parts.
Result<VllmEstimate> start_vllm(const VllmInputs& inputs, const VllmProfile& profile);

/// The breakdown of inputs.workload on an engine that start_vllm made of the same inputs, without
/// its answers. Error: value.overflow.
Result<Breakdown> serve_vllm(const VllmEstimate& engine, const VllmInputs& inputs);

/// Weights, peak and pool of every stage. The verdict compares with the workload and with one
/// request of max_model_len: it fits when the least pool holds both and the card the most of what
/// is outside the budget, and is tight when only the estimate does. Errors: those of the parts.
Result<VllmEstimate> estimate_vllm(const VllmInputs& inputs, const VllmProfile& profile);

}  // namespace vramgauge

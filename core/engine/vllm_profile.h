// What holds for one version of vLLM: constants of presets/engines/vllm.json.
#pragma once

#include "engine/versioned_constants.h"
#include "engine/vllm_kv_planner.h"

namespace vramgauge {

/// Memory that CUDA, NCCL and kernels take beside PyTorch's while profiling, in GiB, by how a model
/// is spread.
struct VllmNonTorch {
  BandedDecimal one_gib;
  BandedDecimal two_gib;
  BandedDecimal four_gib;
  /// More than one pipeline stage, without tensor parallelism.
  BandedDecimal pipeline_gib;
  BandedDecimal rocm_gib;
  /// Several cards other than Hopper and Blackwell of data centres.
  BandedDecimal unlinked_gib;
};

/// Defaults of flags by memory: below 70 GiB (and A100), from 70 GiB, from 160 GiB.
struct VllmCardDefaults {
  uint64_t small = 0;
  uint64_t large = 0;
  uint64_t huge = 0;
};

/// Bytes per logit beside the logits themselves, at the first runner's sampler's peak.
struct VllmSamplerBytes {
  BandedDecimal native;
  /// FlashInfer's, which does not sort.
  BandedDecimal flashinfer;
  /// FlashInfer's runs where the package is installed: in the maker's images, but not with pip.
  bool may_be_flashinfer = false;
};

/// What the second model runner serves by default and how it profiles.
struct VllmSecondRunner {
  bool runs_qwen3 = false;
  /// Llama and Mistral.
  bool runs_llama = false;
  /// DeepSeek-V2, Qwen2-MoE and Granite-MoE.
  bool runs_small_experts = false;
  bool runs_deepseek_v4 = false;
  bool runs_quantized = false;
  /// Whatever has neither experts nor states.
  bool runs_dense = false;
  bool runs_all = false;
  bool deducts_graphs = false;
  BandedDecimal sampler_logit_bytes;
};

/// The constants of one version.
struct VllmProfile {
  uint64_t version = 0;
  /// The first engine, before V1: 0.7 and older, and cards below compute capability 8.0 up to 0.10.
  bool is_first_engine = false;
  VllmKvRules kv;
  BandedDecimal gpu_memory_utilization_frac;
  VllmCardDefaults batched_tokens;
  VllmCardDefaults requests;
  /// Per logit and beside the logits themselves, at the sampler's peak; set for a model by
  /// vllm_profile_for.
  BandedDecimal sampler_logit_bytes;
  VllmSamplerBytes sampler_bytes;
  VllmSecondRunner second_runner;
  /// The sampler keeps an fp32 row of logits per multiprocessor.
  bool has_sampler_rows = false;
  BandedDecimal profile_extra_gib;
  /// Experts keep their workspace after the forward pass.
  bool keeps_expert_workspace = false;
  VllmNonTorch non_torch;
  /// The estimate of the CUDA graphs' pool is taken off the cache.
  bool deducts_graphs = false;
  /// The graphs' pool, per layer and captured size.
  BandedDecimal graph_layer_mib;
  /// Taken before the engine begins to count, so beside its share of the card: one card, several,
  /// several without links as of a data centre.
  BandedDecimal outside_one_gib;
  BandedDecimal outside_parallel_gib;
  BandedDecimal outside_unlinked_gib;
};

/// Reads the constants that hold for `version` (release_number). Errors: json.missing_key for a
/// constant that the entry lacks.
Result<VllmProfile> vllm_profile(const json::Value& entry, uint64_t version,
                                 bool is_first_engine = false);

}  // namespace vramgauge

#include "engine/vllm_profile.h"

#include <algorithm>

namespace vramgauge {
namespace {

/// The first version whose engine is V1 by default.
constexpr uint64_t kFirstV1 = 8000;

}  // namespace

Result<VllmProfile> vllm_profile(const json::Value& entry, uint64_t version, bool is_first_engine) {
  Diagnostics errors;
  const VersionedConstants constants(entry, version, errors);
  VllmProfile profile;
  profile.version = version;
  profile.is_first_engine = is_first_engine || version < kFirstV1;
  profile.kv.has_hybrid_manager = constants.is_on("hybrid_manager") && !profile.is_first_engine;
  profile.kv.splits_blocks_over_stages = profile.is_first_engine;
  profile.kv.token_line_is_concurrency = constants.is_on("token_line_is_concurrency");
  profile.kv.checks_whole_model = constants.is_on("checks_whole_model");
  profile.kv.batches_in_flight = constants.whole("batches_in_flight");
  profile.kv.expands_latents = constants.is_on("latents_expanded");
  profile.kv.latent_multiple = constants.whole("latent_multiple");
  profile.gpu_memory_utilization_frac = constants.banded("gpu_memory_utilization_frac");
  profile.batched_tokens = {constants.whole("small_card_batched_tokens"),
                            constants.whole("large_card_batched_tokens"),
                            constants.whole("huge_card_batched_tokens")};
  const uint64_t large_requests = constants.whole("large_card_requests");
  profile.requests = {constants.whole("small_card_requests"), large_requests, large_requests};
  // The first engine kept its own sampler beside V1.
  const VersionedConstants sampler(
      entry, profile.is_first_engine ? std::min(version, kFirstV1 - 1) : version, errors);
  profile.sampler_bytes = {sampler.banded("sampler_logit_bytes"),
                           sampler.banded("flashinfer_logit_bytes"),
                           sampler.is_on("flashinfer_if_installed")};
  profile.second_runner = {constants.is_on("second_runner_qwen3"),
                           constants.is_on("second_runner_llama"),
                           constants.is_on("second_runner_small_experts"),
                           constants.is_on("second_runner_deepseek_v4"),
                           constants.is_on("second_runner_quantized"),
                           constants.is_on("second_runner_dense"),
                           constants.is_on("second_runner_all"),
                           constants.is_on("second_runner_deducts_graphs"),
                           constants.banded("second_runner_logit_bytes")};
  profile.has_sampler_rows = constants.is_on("sampler_row_buffer");
  profile.profile_extra_gib = constants.banded("profile_extra_gib");
  profile.keeps_expert_workspace = constants.is_on("expert_workspace_kept");
  profile.non_torch = {
      constants.banded("non_torch_one_gib"),  constants.banded("non_torch_two_gib"),
      constants.banded("non_torch_four_gib"), constants.banded("non_torch_pipeline_gib"),
      constants.banded("non_torch_rocm_gib"), constants.banded("non_torch_unlinked_gib")};
  profile.deducts_graphs = constants.is_on("graphs_deducted");
  profile.graph_layer_mib = constants.banded("graph_layer_mib");
  profile.outside_one_gib = constants.banded("outside_one_gib");
  profile.outside_parallel_gib = constants.banded("outside_parallel_gib");
  profile.outside_unlinked_gib = constants.banded("outside_unlinked_gib");
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

}  // namespace vramgauge

// Peak of what vLLM's profiling run allocates beside the weights: the log's "torch peak memory
// increase". It runs the model over max_num_batched_tokens and then the sampler over max_num_seqs
// rows of logits (v1/worker/gpu_model_runner.py, profile_run, of 0.19), so the peak is the larger
// of two, and of an encoder's own run; what the runs leave behind counts in both.
#pragma once

#include "engine/vllm_profile.h"
#include "model/placement.h"
#include "specs/model_spec.h"
#include "units/bytes.h"
#include "units/error.h"

namespace vramgauge {

/// One item of the largest size that an encoder takes.
struct VllmEncoderItem {
  /// In the decoder; 0 = the model has no encoder.
  uint64_t tokens = 0;
  /// In the encoder, before they are merged.
  uint64_t patches = 0;
  /// Numbers of the input.
  uint64_t input_elements = 0;
  uint64_t hidden_size = 0;
  uint64_t intermediate_size = 0;
  bool is_gated = false;
  /// Widest attention of a block, in hidden sizes.
  uint64_t streams = 0;
};

/// The model's largest image; of no tokens without a tower, or where that image is not known.
VllmEncoderItem vllm_encoder_item(const ModelSpec& spec);

/// The limit of items of one request unless it is given (config/multimodal.py,
/// get_limit_per_prompt).
inline constexpr uint64_t kVllmManyItems = 999;

/// What the profiling run depends on.
struct VllmLoad {
  const ModelSpec* spec = nullptr;
  ParallelPlan plan;
  uint64_t max_num_batched_tokens = 0;
  uint64_t max_num_seqs = 0;
  uint64_t max_model_len = 0;
  uint64_t dtype_bytes = 2;
  /// Of the card.
  uint64_t multiprocessors = 0;
  /// cuBLAS keeps 32 MiB from compute capability 9.0 on, 8 MiB before.
  bool is_hopper_or_newer = false;
  VllmEncoderItem encoder;
  /// --limit-mm-per-prompt: items of one request.
  uint64_t items_per_request = kVllmManyItems;
};

/// Bytes of the parts, each at its own peak, with the least and the most that the constants allow.
struct VllmActivation {
  Bytes forward;
  Bytes sampler;
  Bytes encoder;
  Bytes peak;
  Bytes low;
  Bytes high;
};

/// The peak on one pipeline stage; the last one samples. Errors: value.overflow.
Result<VllmActivation> vllm_activation(const VllmLoad& load, const VllmProfile& profile,
                                       uint64_t stage);

}  // namespace vramgauge

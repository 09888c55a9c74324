// How the checkpoints that rows name are stored, where no preset has their configuration.
#pragma once

#include <string>
#include <vector>

#include "accuracy_models.h"
#include "engine/vllm.h"
#include "engine/vllm_weights.h"

namespace vramgauge::tools {

/// What the name of a checkpoint says by the habit of those who publish such ones ("...-AWQ",
/// "...-FP8-dynamic", "bitsandbytes").
struct NamedQuantization {
  /// quantization_config as JSON; empty = 16 bits.
  std::string_view config;
  /// The method leaves less than half a percent open; else groups or exceptions may differ.
  bool fixes_sizes = true;
};
NamedQuantization quantization_by_name(const std::string& name);

/// What a published source of a row says and the row itself does not; tests/truth/README.md names
/// the sources.
struct LogFacts {
  const char* id;
  /// quantization_config of the checkpoint, as its maker publishes it; null = by preset or name.
  const char* quantization = nullptr;
  uint64_t adapter_rank = 0;
  /// A draft whose configuration is not given, by the size of its file.
  double draft_gib = 0;
  bool is_text_only = false;
  bool has_whole_towers = false;
  /// Tensor ranks and stages where the row does not state them.
  uint64_t tensor_ranks = 0;
  uint64_t stages = 0;
  /// Of the checkpoint's own configuration, where the preset of the 16-bit model has another.
  uint64_t intermediate_size = 0;
  /// --max-num-batched-tokens and --max-num-seqs where the program that was run, or the device,
  /// had other defaults than a server on such a card.
  uint64_t batched_tokens = 0;
  uint64_t sequences = 0;
  /// vLLM's release where the row has only a year.
  const char* release = nullptr;
  /// Who sampled, by how vLLM was installed.
  VllmSampler sampler = VllmSampler::by_version;
  bool is_rocm = false;
  /// GGUF format of the file, and type of the cache that the source's note names.
  const char* gguf_format = nullptr;
  const char* cache_type = nullptr;
};

/// Facts of a row; nothing is set for one that needs none.
const LogFacts& log_facts(const std::string& id);
/// Ids of all rows that have facts.
std::vector<std::string> ids_with_facts();

/// How vLLM keeps each tensor: by `quantization` when it is not empty, else by the model's own
/// configuration, else by `fallback`; both are quantization_config as JSON, and an empty one means
/// 16 bits.
Predictable<std::vector<VllmStorage>> checkpoint_storage(const TruthModel& model,
                                                         std::string_view quantization,
                                                         std::string_view fallback,
                                                         uint64_t compute_capability);

}  // namespace vramgauge::tools

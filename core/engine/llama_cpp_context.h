// The sizes that llama.cpp really uses, from those it is asked for. Rules of its
// src/llama-context.cpp and src/llama-kv-cache*.cpp at commit 34af94cd (2026-08-17).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/llama_cpp_model.h"
#include "units/bytes.h"
#include "units/error.h"
#include "units/ggml_types.h"

namespace vramgauge {

/// Which of its programs runs: they pass different limits to the library.
enum class LlamaCppProgram {
  api,     ///< the library's own default: as many output rows as a batch has tokens
  server,  ///< llama-server (and llama-cli, which embeds it): one output row per slot
  bench,   ///< llama-bench, llama-perplexity: output rows for the whole batch
};

enum class LlamaCppFlashAttention { automatic, on, off };

/// A GPU, in the order the engine lists them.
struct LlamaCppDevice {
  std::string name;
  /// Free memory at start; by default layers are divided in proportion to it.
  Bytes free;
};

/// One -ot PATTERN=BUFFER: where the tensors that the pattern finds go.
struct LlamaCppOverride {
  std::string pattern;
  /// Index into devices; kHost for host memory.
  static constexpr uint64_t kHost = ~uint64_t{0};
  uint64_t device = kHost;
};

/// What moved between builds (presets/engines/llama_cpp.json); the defaults are the newest rules.
struct LlamaCppRules {
  /// Layers with a window have a smaller cache of their own.
  bool windowed_caches = true;
  /// It has room for the physical batch; before, for the logical one.
  bool window_room_by_ubatch = true;
  /// Sequences may have cells of their own; before, they always shared them.
  bool split_streams = true;
  /// Cells are as many as asked for; before, rounded up to 256 with flash attention, 32 without.
  bool cells_as_asked = true;
  /// Cells are always rounded up to 256.
  bool cells_in_256 = true;
  /// A latent is a key alone; before, it was cached once more as a value.
  bool latent_alone = true;
  /// Sparse attention caches index keys.
  bool sparse_caches = true;
  /// Programs may limit the rows of logits; before, there was one per token of a batch.
  bool output_limit = true;
};

/// What the user asks for. The defaults are those of the command-line tools.
struct LlamaCppOptions {
  LlamaCppProgram program = LlamaCppProgram::server;
  /// -c; 0 = the context the model was trained with.
  uint64_t ctx_tokens = 0;
  /// -np: sequences at once.
  uint64_t n_seq_max = 1;
  /// -kvu: sequences share one stream of cells.
  bool kv_unified = false;
  uint64_t n_batch = 2048;
  uint64_t n_ubatch = 512;
  GgmlType type_k = GgmlType::f16;
  GgmlType type_v = GgmlType::f16;
  LlamaCppFlashAttention flash_attn = LlamaCppFlashAttention::automatic;
  bool swa_full = false;
  /// -ngl: below 0 = all.
  int64_t n_gpu_layers = -1;
  /// Output rows to reserve; 0 = as the program does.
  uint64_t n_outputs_max = 0;
  /// Tokens that a draft proposes at once; the server reserves output rows for them.
  uint64_t n_draft_tokens = 0;
  /// Earlier states kept per sequence, so that tokens of a draft can be taken back: as many as the
  /// model's own further-token layers propose. Architectures that cannot do so keep none.
  uint64_t n_rs_seq = 0;
  /// Empty = a build without GPU support.
  std::vector<LlamaCppDevice> devices;
  /// -ts, one share per device; empty = by free memory. The engine computes with floats.
  std::vector<float> tensor_split;
  /// --n-cpu-moe: routed experts of so many first layers stay in host memory.
  uint64_t n_cpu_moe = 0;
  bool offload_kv = true;
  bool offload_ops = true;
  std::vector<LlamaCppOverride> overrides;
  LlamaCppRules rules;
};

/// Which of the engine's memory classes serves the model.
enum class LlamaCppMemoryClass { kv, iswa, hybrid, hybrid_iswa, recurrent, dsa };

std::string_view llama_cpp_memory_class_name(LlamaCppMemoryClass memory_class);

/// The sizes in force.
struct LlamaCppContext {
  LlamaCppMemoryClass memory_class = LlamaCppMemoryClass::kv;
  uint64_t n_ctx = 0;
  /// Cells of one sequence (n_ctx when unified).
  uint64_t n_ctx_seq = 0;
  uint64_t n_seq_max = 1;
  bool kv_unified = false;
  /// Streams of cells: 1 when unified, else n_seq_max.
  uint64_t n_streams = 1;
  uint64_t n_batch = 0;
  uint64_t n_ubatch = 0;
  /// Output rows that are reserved at once, at most.
  uint64_t n_outputs_max = 0;
  /// Cells of one stream, in layers that keep the whole context and in windowed ones (0 = none).
  uint64_t cells = 0;
  uint64_t cells_swa = 0;
  GgmlType type_k = GgmlType::f16;
  GgmlType type_v = GgmlType::f16;
  bool flash_attn = true;
  bool offload_kv = true;
  bool offload_ops = true;
  /// Earlier states kept per sequence.
  uint64_t n_rs_seq = 0;
  /// A latent is cached once more as a value.
  bool latent_values = false;
};

/// Whether CUDA's flash attention has code for this layer's heads and cache types (supported heads
/// in ggml/src/ggml-cuda/fattn.cu; default build).
bool cuda_runs_flash_attention(const LlamaCppLayer& layer, GgmlType type_k, GgmlType type_v);

/// The sizes in force, or why the engine refuses to start: llama_cpp.refused with the engine's own
/// reason.
Result<LlamaCppContext> llama_cpp_context(const LlamaCppModel& model,
                                          const LlamaCppOptions& options);

}  // namespace vramgauge

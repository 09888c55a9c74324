// What llama.cpp takes of each GPU and of host memory: weights, caches, compute and output buffers,
// and what its server keeps beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/llama_cpp_compute.h"
#include "engine/llama_cpp_context.h"
#include "engine/llama_cpp_placement.h"
#include "engine/llama_cpp_profile.h"
#include "specs/breakdown.h"
#include "specs/calibration.h"
#include "specs/hardware.h"

namespace vramgauge {

/// The devices of one machine.
struct LlamaCppMachine {
  std::vector<HardwareSpec> gpus;
  /// Host memory; 0 = not known, and then no verdict is given about it.
  Bytes host_ram;
};

/// What is loaded beside the model.
struct LlamaCppExtras {
  /// File of the vision or audio projector (--mmproj); it lies on the first GPU.
  Bytes projector;
  /// Adapter files (--lora), divided like the weights they belong to.
  Bytes lora;
  /// Draft model of speculative decoding (-md); null = none. The server opens it with the settings
  /// of the model itself but for those below (load_model in tools/server/server-context.cpp as of
  /// 2026-06-07), so its context is as long, and as wide in sequences.
  const LlamaCppModel* draft = nullptr;
  /// Its own: n_gpu_layers, type_k, type_v, n_cpu_moe and overrides. The rest is not read.
  LlamaCppOptions draft_options;
  /// What a log corrects on every GPU.
  Calibration calibration;
};

/// An estimate with the parts it was made of.
struct LlamaCppEstimate {
  /// One device per GPU, and host memory behind them.
  Breakdown breakdown;
  LlamaCppContext context;
  LlamaCppPlacement placement;
  LlamaCppStored stored;
  LlamaCppCompute compute;
  /// How the compute buffers are known: modelled, or assumed for an architecture whose graph is not
  /// known.
  Basis compute_basis = Basis::modelled;
  /// Warnings, such as model.not_exact for assumed compute buffers.
  Diagnostics notes;
  /// The parts of the draft model, which are in the breakdown as well; one at most.
  std::vector<LlamaCppEstimate> draft;
};

/// The parts of one model in one context on options.devices; the breakdown stays empty. An
/// architecture whose graph is not known is taken to compute as Llama does: assumed, with a wide
/// band. Errors: llama_cpp.*, value.*; model.unsupported where not even that can be computed.
Result<LlamaCppEstimate> llama_cpp_parts(const LlamaCppModel& model,
                                         const LlamaCppOptions& options);

/// Memory per device and the verdict. options.devices is taken from the machine. Terms: weights;
/// kv_cache with index keys and recurrent states; activations = compute and output buffers;
/// runtime = CUDA's context on a GPU, and in host memory what the server's prompt cache and context
/// checkpoints may grow to (nothing at start, so they only raise the upper bound).
/// Errors: those of llama_cpp_parts.
Result<LlamaCppEstimate> estimate_llama_cpp(const LlamaCppModel& model, LlamaCppOptions options,
                                            const LlamaCppMachine& machine,
                                            const LlamaCppExtras& extras,
                                            const LlamaCppConstants& constants);

/// The inverse questions: the longest context of each sequence, up to what the model was trained
/// with or was asked for, and the most sequences, for which the estimate is not refused and still
/// fits. Some dozen estimates.
Answers llama_cpp_answers(const LlamaCppModel& model, const LlamaCppOptions& options,
                          const LlamaCppMachine& machine, const LlamaCppExtras& extras,
                          const LlamaCppConstants& constants);

}  // namespace vramgauge

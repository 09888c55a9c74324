// What the headers of a model's own files add to its ModelSpec, and how a checkpoint's own
// configuration says that it is quantised, resolved against its tensors: plain data, so that what
// sizes weights needs to know neither file formats nor the dialects of configurations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "specs/model_spec.h"
#include "specs/quantization.h"
#include "units/error.h"

namespace vramgauge {

/// One stored tensor, or `count` equal ones of a layer whose names differ in a number only (the
/// experts of a safetensors checkpoint).
struct StoredWeight {
  /// The file's own name: "blk.3.attn_q.weight". With `count` above 1 a star stands for the number
  /// that differs: "model.layers.3.mlp.experts.*.up_proj.weight".
  std::string name;
  /// GGUF: as the file lists them, innermost first. safetensors: outermost first, what is behind
  /// the outputs of a convolution multiplied.
  std::vector<uint64_t> dims;
  /// Storage type as the file names it: "Q4_K", "BF16", "F8_E4M3".
  std::string type;
  /// Bytes of one of them.
  uint64_t bytes = 0;
  TensorRole role = TensorRole::other;
  /// Decoder layer, or -1.
  int64_t layer = -1;
  uint64_t count = 1;

  friend bool operator==(const StoredWeight&, const StoredWeight&) = default;
};

/// The tensors that the files of a model hold. Their order means nothing. Engines load the layers
/// of ModelSpec::layers; those behind them only predict further tokens (role mtp).
struct StoredModel {
  enum class Container { gguf, safetensors };

  Container container = Container::gguf;
  /// general.architecture of a GGUF file ("qwen2"); empty for safetensors.
  std::string architecture;
  std::vector<StoredWeight> tensors;
};

/// A QuantizationConfig whose patterns and lists have been resolved against the model's tensors.
struct ResolvedQuantization {
  /// Stored in the model's own dtype.
  static constexpr uint32_t kNative = UINT32_MAX;
  /// The experts that one tensor stands for are stored in different ways: no size.
  static constexpr uint32_t kMixed = UINT32_MAX - 1;

  /// As the configuration names it: "fp8", "compressed-tensors".
  std::string method;
  std::vector<QuantScheme> schemes;
  /// One per tensor of weight_tensors(spec), drafts and towers included: an index into `schemes`,
  /// kNative or kMixed. Empty when `refused` is not.
  std::vector<uint32_t> scheme_of_tensor;
  Diagnostics warnings;
  /// Why the configuration gives no size; pricing then fails with these. The rest of the model is
  /// sound all the same.
  Diagnostics refused;
  /// Id of the cache type that the checkpoint has scales for, which engines then use unless they
  /// are told otherwise; empty = none.
  std::string cache_type;
};

}  // namespace vramgauge

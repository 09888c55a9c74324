// What of a model's layers and weights is alike. Put together once per model, so that an estimate,
// of which searches make thousands, looks at each kind of layer instead of at every layer and name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/llama_cpp_weights.h"
#include "units/checked.h"
#include "units/fingerprint.h"

namespace vramgauge {

struct LlamaCppModel;

/// Layers that keep the same caches.
struct LlamaCppLayerKind {
  /// Index of the first of them, which stands for all.
  uint64_t first = 0;
  uint64_t count = 0;
};

/// Bytes of weights that go the same way, by the buffer that they end in.
struct LlamaCppWeightBytes {
  CheckedU64 cpu;
  CheckedU64 cpu_repack;
  CheckedU64 pinned;
  CheckedU64 gpu;

  void add(const LlamaCppWeight& weight);
};

/// A weight of one layer.
struct LlamaCppLayerWeight {
  /// Name inside the layer, such as "attn_q.weight".
  std::string name;
  /// Index into LlamaCppModel::weights.
  uint32_t weight = 0;
};

/// The weights of one layer, in the order of the file.
struct LlamaCppLayerWeights {
  std::vector<LlamaCppLayerWeight> list;
  /// Of all that follow the layer; layer 0 has those as well that only come in front of it.
  LlamaCppWeightBytes bytes;
};

struct LlamaCppGroups {
  /// In the order of their first layers, over every layer of the file.
  std::vector<LlamaCppLayerKind> kinds;
  /// Per layer of the file, its kind.
  std::vector<uint32_t> kind_of_layer;
  /// Per layer of the decoder: equal where two compute tensors of the same sizes, the scores of
  /// attention without flash attention apart: a window does not count.
  std::vector<uint64_t> size_prints;
  /// Equal where two compute the same tensors.
  std::vector<uint64_t> graph_prints;
  /// The same for the sizes of their weights.
  std::vector<uint64_t> weight_prints;
  /// Per layer of the decoder.
  std::vector<LlamaCppLayerWeights> layers;
  /// Weights outside the layers, as indices into LlamaCppModel::weights.
  std::vector<uint32_t> outside;
  /// Those that stay in host memory, and those that follow the output layer.
  LlamaCppWeightBytes host;
  LlamaCppWeightBytes output;
};

/// From the model's layers and weights.
LlamaCppGroups llama_cpp_groups(const LlamaCppModel& model);

}  // namespace vramgauge

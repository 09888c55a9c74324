// What llama.cpp knows of a model once its file is open: layers with their caches, and weights with
// their places. Made once per model; every estimate reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/llama_cpp_groups.h"
#include "import/gguf_header.h"
#include "model/llama_cpp_weights.h"
#include "specs/model_spec.h"
#include "units/error.h"

namespace vramgauge {

/// How the keys and values of a layer are kept.
enum class LlamaCppCacheKind {
  none,      ///< nothing, or the cache of an earlier layer
  full,      ///< keys and values of every token
  windowed,  ///< keys and values of a sliding window or chunk
  latent,    ///< one latent with its rotary key; no values
};

/// One layer as the engine sizes its memory.
struct LlamaCppLayer {
  LlamaCppCacheKind cache = LlamaCppCacheKind::none;
  /// Attends to a sliding window or chunk, whether its cache is its own or not.
  bool is_windowed = false;
  /// Elements of one token's keys and values over all KV heads (n_embd_k_gqa, n_embd_v_gqa). They
  /// are set for a layer that shares an earlier cache as well.
  uint64_t k_elements = 0;
  uint64_t v_elements = 0;
  /// Elements of one head (n_embd_head_k, n_embd_head_v).
  uint64_t head_dim_k = 0;
  uint64_t head_dim_v = 0;
  uint64_t num_heads = 0;
  uint64_t num_kv_heads = 0;
  /// Elements of one token's index key; 0 = no indexer.
  uint64_t indexer_elements = 0;
  bool is_recurrent = false;
  /// Elements of one sequence's state (n_embd_r: the convolution's tail or shifted tokens;
  /// n_embd_s: the state proper), always F32.
  uint64_t conv_elements = 0;
  uint64_t state_elements = 0;

  friend bool operator==(const LlamaCppLayer&, const LlamaCppLayer&) = default;
};

/// A model file as llama.cpp sees it.
struct LlamaCppModel {
  /// general.architecture, such as "llama".
  std::string architecture;
  ModelSpec spec;
  /// The file's tensors, those of layers that are not loaded included.
  std::vector<LlamaCppTensor> tensors;
  /// Weights after loading, with their places.
  std::vector<LlamaCppWeight> weights;
  /// Every layer of the file (n_layer_all), those that only predict further tokens at the end.
  std::vector<LlamaCppLayer> layers;
  /// Layers of the decoder (n_layer), which are loaded.
  uint64_t num_layers = 0;
  /// Sliding window or chunk in tokens; 0 = the engine gives no layer one.
  uint64_t window_tokens = 0;
  /// Widest v_elements of any layer: without flash attention every layer's values are padded to it.
  uint64_t widest_v_elements = 0;
  /// Caches a latent instead of keys and values.
  bool is_latent = false;
  /// Has an indexer with a cache of its own (DeepSeek sparse attention).
  bool is_sparse = false;
  /// What of the above is alike.
  LlamaCppGroups groups;
};

/// Reads the model of a header. Errors: those of import_gguf, and as below.
Result<LlamaCppModel> llama_cpp_model(const GgufHeader& header);

/// The same from a model description (its mtp_layers behind the decoder) and tensors that stand for
/// its file. Error: model.unsupported for a mixer whose cache in llama.cpp is not known.
Result<LlamaCppModel> llama_cpp_model(std::string architecture, ModelSpec spec,
                                      std::vector<LlamaCppTensor> tensors);

}  // namespace vramgauge

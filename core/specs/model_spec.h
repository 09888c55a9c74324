// A model as a list of layers. Every architecture is data: what is cached and what is stored is a
// sum over the layers, never a switch over architecture names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace vramgauge {

/// How queries and keys are normalised before attention.
enum class QkNorm {
  none,
  per_head_dim,  ///< one weight vector of head_dim elements, shared by the heads
  per_head,      ///< head_dim elements for each head
};

/// A small attention that scores which cached tokens a sparse layer reads; it keeps keys of its
/// own.
struct Indexer {
  uint64_t num_heads = 0;
  uint64_t head_dim = 0;
  uint64_t top_k_tokens = 0;
  /// Tokens that one cached index key stands for (1 = a key per token).
  uint64_t tokens_per_key = 1;
  /// False for a layer that reuses the scores of an earlier one and stores no keys.
  bool stores_keys = true;
};

/// Softmax attention over keys and values that are stored per token.
struct Attention {
  uint64_t num_heads = 0;
  uint64_t num_kv_heads = 0;
  /// Elements of one key.
  uint64_t head_dim = 0;
  /// Elements of one value.
  uint64_t v_head_dim = 0;
  /// Sliding window; 0 = the whole context is kept.
  uint64_t window_tokens = 0;
  /// Chunked attention: only the current chunk is kept; 0 = not chunked.
  uint64_t chunk_tokens = 0;
  /// Reads the cache of that layer and stores nothing itself.
  std::optional<uint64_t> cache_shared_with;
  /// Keys and values come from an encoder or vision tower: one entry per source token, not per
  /// generated token.
  bool is_cross = false;
  bool q_bias = false;
  bool k_bias = false;
  bool v_bias = false;
  bool o_bias = false;
  QkNorm qk_norm = QkNorm::none;
  /// The query projection is twice as wide: its second half gates the output.
  bool output_gate = false;
  /// One learned sink logit per head.
  bool has_sinks = false;
  /// The norms of queries and keys carry a bias as well.
  bool qk_norm_bias = false;
  /// Queries, keys and values are one stored matrix.
  bool fused_qkv = false;
  /// Values are the keys before rotation: no value projection; both are still cached.
  bool v_equals_k = false;
  /// False when the layer's extras list its weights, which are not those of plain attention (files
  /// whose latents are expanded before they are cached).
  bool has_projections = true;
  std::optional<Indexer> indexer;
};

/// Multi-head latent attention: one compressed latent and one rotary key per token, for all heads.
struct LatentAttention {
  uint64_t num_heads = 0;
  /// 0 = queries are not compressed.
  uint64_t q_lora_rank = 0;
  uint64_t kv_lora_rank = 0;
  uint64_t qk_nope_head_dim = 0;
  uint64_t qk_rope_head_dim = 0;
  uint64_t v_head_dim = 0;
  bool bias = false;
  bool output_gate = false;
  std::optional<Indexer> indexer;
};

/// The compressed cache of the DeepSeek-V4 kind: a sliding window of single-head latents beside
/// latents that each stand for `compress_ratio` tokens.
struct CompressedAttention {
  uint64_t num_heads = 0;
  uint64_t head_dim = 0;
  uint64_t rope_head_dim = 0;
  uint64_t q_lora_rank = 0;
  uint64_t o_lora_rank = 0;
  uint64_t o_groups = 0;
  uint64_t window_tokens = 0;
  /// Tokens per compressed entry; 0 = only the window is kept.
  uint64_t compress_ratio = 0;
  std::optional<Indexer> indexer;
};

/// Selective state space of the first Mamba: a state per channel.
struct Mamba1 {
  uint64_t d_inner = 0;
  uint64_t d_state = 0;
  uint64_t d_conv = 0;
  uint64_t dt_rank = 0;
  bool conv_bias = true;
  bool proj_bias = false;
  /// Norms on dt, B and C (Jamba, Falcon-Mamba without weights).
  bool has_inner_norms = false;
};

/// State space of Mamba-2: a state per head.
struct Mamba2 {
  uint64_t num_heads = 0;
  uint64_t head_dim = 0;
  uint64_t num_groups = 0;
  uint64_t d_state = 0;
  uint64_t d_conv = 0;
  bool conv_bias = true;
  bool proj_bias = false;
  bool has_gated_norm = true;
};

/// Gated delta rule (Qwen3-Next) and its channel-wise variant (Kimi KDA).
struct GatedDelta {
  uint64_t num_k_heads = 0;
  uint64_t num_v_heads = 0;
  uint64_t k_head_dim = 0;
  uint64_t v_head_dim = 0;
  uint64_t d_conv = 0;
  bool is_channel_wise = false;
  /// Channel-wise only: the output gate is one full matrix, not a product of two thin ones.
  bool has_full_rank_gate = false;
  /// Queries, keys, values and gate are one stored matrix, and so are the two per-head gates.
  bool fused_projections = false;
};

/// Linear attention with one matrix state per head (MiniMax lightning attention).
struct LinearAttention {
  uint64_t num_heads = 0;
  uint64_t head_dim = 0;
};

/// Gated short convolution (LFM2).
struct ShortConv {
  uint64_t dim = 0;
  uint64_t d_conv = 0;
  bool bias = false;
  /// The convolution with its input and output projections; false = the convolution alone,
  /// smoothing what another part of the layer made (Inkling).
  bool has_projections = true;
};

/// RWKV time mixing: a matrix state per head and two shifted tokens.
struct Rwkv {
  uint64_t version = 0;
  uint64_t hidden_size = 0;
  uint64_t num_heads = 0;
  uint64_t head_dim = 0;
  /// Ranks of the low-rank adapters that make the mixing depend on the data; 0 = none.
  uint64_t mix_rank = 0;
  uint64_t decay_rank = 0;
  uint64_t gate_rank = 0;
  uint64_t learning_rate_rank = 0;
  uint64_t value_rank = 0;
};

/// Real-gated linear recurrent unit behind a short convolution (Griffin, RecurrentGemma): one state
/// element per channel.
struct GatedLru {
  uint64_t width = 0;
  /// The gates are block-diagonal, one block per head.
  uint64_t num_heads = 0;
  uint64_t d_conv = 0;
};

using Mixer = std::variant<Attention, LatentAttention, CompressedAttention, Mamba1, Mamba2,
                           GatedDelta, LinearAttention, ShortConv, Rwkv, GatedLru>;

/// An ordinary feed-forward block.
struct DenseFfn {
  uint64_t intermediate_size = 0;
  /// Gate and up projections (SwiGLU) instead of one.
  bool is_gated = true;
  bool bias = false;
  /// Gate and up are one stored matrix.
  bool fused_gate_up = false;
};

/// A mixture of experts, with the experts every token passes through beside the routed ones.
struct MoeFfn {
  uint64_t num_experts = 0;
  uint64_t num_experts_per_tok = 0;
  uint64_t moe_intermediate_size = 0;
  /// Total width of the shared experts; 0 = none.
  uint64_t shared_intermediate_size = 0;
  /// Width that routed experts read and write when it is not hidden_size (latent experts); 0 =
  /// hidden_size.
  uint64_t expert_hidden_size = 0;
  bool is_gated = true;
  bool bias = false;
  bool router_bias = false;
  /// One score-correction value per expert.
  bool has_correction_bias = false;
  /// A gate vector in front of the shared expert.
  bool has_shared_gate = false;
};

using Ffn = std::variant<std::monostate, DenseFfn, MoeFfn>;

/// What a weight tensor is for; decides how formats and engines treat it.
enum class TensorRole {
  embedding,
  position_embedding,
  output,
  norm,
  attention_q,
  attention_k,
  attention_v,
  attention_qkv,
  attention_output,
  attention_other,
  recurrent,
  mlp_gate,
  mlp_up,
  mlp_down,
  expert_gate,
  expert_up,
  expert_down,
  shared_expert_gate,
  shared_expert_up,
  shared_expert_down,
  router,
  vision,
  audio,
  projector,
  mtp,
  other,
};

/// The groups that parameter counts are shown by.
enum class RoleGroup {
  embedding,
  attention,
  recurrent,
  mlp,
  expert,
  router,
  norm,
  output,
  vision,
  audio,
  mtp,
  other
};
inline constexpr uint64_t kNumRoleGroups = 12;

/// One weight tensor, or `count` equal ones (the experts of a layer).
struct WeightTensor {
  /// Name in the checkpoint's manner, without a suffix such as ".weight":
  /// "model.layers.0.mlp.up_proj".
  std::string name;
  TensorRole role = TensorRole::other;
  /// Decoder layer, or -1.
  int64_t layer = -1;
  /// Output and input features of a matrix; a vector has rows 1.
  uint64_t rows = 1;
  uint64_t cols = 0;
  uint64_t count = 1;
  /// How many of `count` one token passes through.
  uint64_t active_count = 1;
  /// A matrix of a linear layer or an embedding; vectors and convolutions are never quantised.
  bool is_matrix = true;
};

/// A few learned vectors or matrices that only one family has.
struct ExtraTensor {
  std::string name;
  TensorRole role = TensorRole::other;
  uint64_t rows = 1;
  uint64_t cols = 0;
  bool is_matrix = false;
};

/// One decoder layer.
struct Layer {
  /// Usually one; two where mixers run in parallel (Falcon-H1); none for a pure feed-forward layer.
  std::vector<Mixer> mixers;
  Ffn ffn;
  /// Width of each norm vector of the layer, in order.
  std::vector<uint64_t> norms;
  /// Norms carry a bias as well.
  bool norm_bias = false;
  std::vector<ExtraTensor> extras;
};

/// An encoder beside the decoder: its weights, and the tokens it hands over.
struct Tower {
  enum class Kind { vision, audio, encoder };
  Kind kind = Kind::vision;
  /// Every tensor of the tower and its projector.
  std::vector<WeightTensor> tensors;
  /// False when the tower could not be derived; its weights are then missing and a warning says so.
  bool is_counted = true;
};

/// A table of cosines and sines that engines compute for one rotary setting, in the dtype the model
/// runs in.
struct RotaryTable {
  uint64_t rows = 0;
  uint64_t dim = 0;
  /// Of layers that see only a window, where these have a setting of their own.
  bool is_local = false;
};

/// The largest image that a vision tower takes, of which engines profile one before they serve.
struct LargestImage {
  /// model_type that says how the tower computes: "siglip_vision_model".
  std::string tower;
  /// In the decoder, and in the tower before they are merged.
  uint64_t tokens = 0;
  uint64_t patches = 0;
  /// Numbers of the input.
  uint64_t input_elements = 0;
  uint64_t hidden_size = 0;
  uint64_t intermediate_size = 0;
  bool is_gated = false;
};

/// Everything about a model that memory depends on.
struct ModelSpec {
  std::string name;
  /// model_type of the configuration the decoder came from.
  std::string model_type;
  uint64_t hidden_size = 0;
  uint64_t vocab_size = 0;
  uint64_t max_context_tokens = 0;
  bool tie_word_embeddings = false;
  /// The decoder's own layers; multi-token-prediction layers are apart.
  std::vector<Layer> layers;
  std::vector<Layer> mtp_layers;
  std::vector<Tower> towers;
  /// Nothing without a vision tower, or where its largest image is not known.
  std::optional<LargestImage> largest_image;
  /// One per distinct rotary setting; empty where positions are learned, biased or none.
  std::vector<RotaryTable> rotary_tables;
  /// Embeddings, final norms, heads and whatever else is not in a layer is derived from these:
  uint64_t embedding_dim = 0;        ///< 0 = hidden_size
  uint64_t position_embeddings = 0;  ///< learned positions; 0 = none
  bool has_final_norm = true;
  bool norm_bias = false;
  bool output_bias = false;
  std::vector<ExtraTensor> extras;
  /// A custom model may give only its parameter count; weights are then parameters x bits.
  std::optional<uint64_t> num_parameters;
  /// Tokens of the encoder that cross-attention layers cache per request (mllama, encoder-decoder).
  uint64_t cross_tokens = 0;
  /// Bytes of an element of recurrent states, where the configuration names their dtype; 0 = it
  /// does not.
  uint64_t state_element_bytes = 0;
  /// Elements of the table of rotary factors that llama.cpp's converter adds to a file: a frequency
  /// each for the scaled rotary embeddings of Llama 3 and the proportional ones of Gemma 4; 0 =
  /// none.
  uint64_t rope_factor_elements = 0;
  /// dtype that the checkpoint stores: "bfloat16", "float16", "float32"; empty when unknown.
  std::string dtype;
  /// Defaults that were used because the configuration leaves a key out: key and value.
  std::vector<std::pair<std::string, std::string>> assumptions;
};

}  // namespace vramgauge

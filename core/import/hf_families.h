// The families of decoder architectures: traits as data, and a builder for what traits cannot say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/hf_config_view.h"
#include "specs/model_spec.h"

namespace vramgauge::hf {

/// One import under way: the views of the configuration and the model being built. Builders read
/// from text() and report to its error(); what goes on after an error never reaches the caller.
struct Import {
  /// `text_value` is the decoder's configuration, at `text_path`; the same object as `config` when
  /// flat.
  Import(const json::Value& config, const json::Value& text_value, std::string text_path,
         const json::Value* class_defaults);
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  const json::Value& config;
  /// model_type -> {key: value}, or null.
  const json::Value* class_defaults;
  Diagnostics errors;
  ImportNotes notes;
  ConfigView root;
  std::optional<ConfigView> nested;
  ModelSpec spec;
  /// model_type of the whole configuration (spec.model_type is the decoder's).
  std::string root_model_type;

  ConfigView& text() { return nested ? *nested : root; }
  bool failed() const { return !errors.empty(); }
  /// Class defaults of a model type, or null.
  const json::Value* defaults_of(std::string_view model_type) const;
};

/// A yes-or-no that a key may decide; without a key, `fallback` is a fact of the family.
struct Flag {
  std::string_view key;
  bool fallback = false;
};
bool read_flag(ConfigView& view, Flag flag);

/// Which layers keep only a window when there is no layer_types list.
enum class WindowRule {
  none,       ///< sliding_window is not used by this family
  all,        ///< every layer, when sliding_window is given (Mistral)
  upper,      ///< layers from max_window_layers on, when use_sliding_window (Qwen2)
  every_nth,  ///< all but each period-th layer (Gemma 3, Cohere 2); period 2 = the even layers
  first_of_period,  ///< all but the first layer of each period
};

enum class Positions {
  rotary,          ///< nothing stored
  learned,         ///< max_position_embeddings vectors
  learned_plus_2,  ///< two more (OPT)
};

/// What a multi-token-prediction layer stores beside a decoder layer.
enum class MtpKind {
  none,               ///< no such weights in the checkpoints, or the family adds them itself
  shared_embeddings,  ///< a projection and norms
  dense_block,        ///< a dense feed-forward block even after layers of experts (ERNIE 4.5)
  own_embeddings,     ///< copies of the embedding and of the output as well (DeepSeek-V3, GLM-4.5)
};

struct MoeTraits {
  Flag router_bias{};
  Flag correction_bias{};
  bool shared_gate = false;
  bool expert_bias = false;
  bool is_gated = true;
};

struct Traits;
/// Reads the mixer that the layers of a family have; windows are filled in afterwards.
using MixerFn = Mixer (*)(Import&, const Traits&);
/// Corrects what the generic builder made.
using AdjustFn = void (*)(Import&);

/// What distinguishes a family from LLaMA.
struct Traits {
  /// Norm vectors of hidden_size per layer.
  unsigned norms = 2;
  bool norm_bias = false;
  /// False when norms have no weights at all (OLMo).
  bool has_norm_weights = true;
  Flag qkv_bias{"attention_bias"};
  Flag o_bias{"attention_bias"};
  Flag mlp_bias{"mlp_bias"};
  QkNorm qk_norm = QkNorm::none;
  Flag qk_norm_if{"", true};
  bool is_gated = true;
  bool tied = false;
  bool fused_qkv = false;
  bool fused_gate_up = false;
  bool output_bias = false;
  bool output_gate = false;
  bool has_sinks = false;
  /// intermediate_size / hidden_size when the key is missing; 0 = the key is needed.
  uint64_t ffn_ratio = 0;
  Positions positions = Positions::rotary;
  WindowRule window = WindowRule::none;
  uint64_t window_period = 0;
  /// A mixture of experts is expected (num_experts is required).
  bool is_moe = false;
  /// Off = dense although num_experts is there.
  Flag moe_if{"", true};
  /// Leading dense layers when first_k_dense_replace is missing.
  uint64_t first_dense = 0;
  MoeTraits moe{};
  MtpKind mtp = MtpKind::shared_embeddings;
  MixerFn mixer = nullptr;
  AdjustFn adjust = nullptr;
};

using BuildFn = void (*)(Import&, const Traits&);

struct Family {
  std::string_view model_type;
  Traits traits{};
  /// Null = build_decoder.
  BuildFn build = nullptr;
};

/// A table of families.
struct FamilyTable {
  const Family* rows;
  size_t size;
};
FamilyTable dense_families();      // hf_families_dense.cpp
FamilyTable moe_families();        // hf_families_moe.cpp
FamilyTable special_families();    // hf_families_special.cpp
FamilyTable recurrent_families();  // hf_recurrent.cpp
/// The family of a model type, or null.
const Family* find_family(std::string_view model_type);
/// True for encoders that generate nothing (BERT and its kin).
bool is_encoder_only(std::string_view model_type);

// ---- Building blocks, for every builder ----

/// hidden_size, vocab_size, context, ties, learned positions, final norm.
void read_width_dims(Import& import, const Traits& traits);
/// read_width_dims, and the number of layers as the result.
uint64_t read_model_dims(Import& import, const Traits& traits);
/// The generic decoder: read_model_dims, mixer, feed-forward, windows, MTP, adjust.
void build_decoder(Import& import, const Traits& traits);
/// Layers of equal norms and no mixer or feed-forward yet.
std::vector<Layer> make_layers(const Import& import, const Traits& traits, uint64_t num_layers);
/// Softmax attention with heads, head_dim, biases and norms of the traits; no window.
Attention read_attention(Import& import, const Traits& traits);
/// Latent attention of the DeepSeek kind, with an indexer where index_* keys are given.
/// A missing v_head_dim is an error unless `default_v_head_dim` stands in.
LatentAttention read_latent_attention(ConfigView& view, uint64_t default_v_head_dim = 0);
DenseFfn read_dense_ffn(Import& import, const Traits& traits);
MoeFfn read_moe_ffn(ConfigView& view, const Traits& traits);
/// True for each layer whose feed-forward is a mixture of experts.
std::vector<bool> read_moe_mask(ConfigView& view, uint64_t num_layers, uint64_t first_dense = 0);
/// Dense or experts for every layer.
std::vector<Ffn> read_ffns(Import& import, const Traits& traits, uint64_t num_layers);
/// What each layer keeps: window_tokens and chunk_tokens per layer (0 = everything).
struct LayerSpan {
  uint64_t window_tokens = 0;
  uint64_t chunk_tokens = 0;
};
std::vector<LayerSpan> read_spans(Import& import, const Traits& traits, uint64_t num_layers);
/// layer_types of exactly num_layers names, or nothing.
std::optional<std::vector<std::string>> read_layer_types(ConfigView& view, uint64_t num_layers);
/// Multi-token-prediction layers after the last decoder layer, when the configuration has any.
void add_mtp_layers(Import& import, const Traits& traits);

/// Vision and audio towers, encoders and projectors (hf_towers.cpp); called after the decoder.
void add_towers(Import& import);
/// Tables of rotary settings (hf_rotary.cpp); called after the decoder.
void add_rotary_tables(Import& import);

}  // namespace vramgauge::hf

// The graph that llama.cpp reserves its compute buffers for, reduced to what decides their size:
// the tensors that take memory, in the order they are computed. Rules of src/llama-graph.cpp and
// src/models/*.cpp at commit 34af94cd (2026-08-17).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph_allocator.h"
#include "engine/llama_cpp_compute.h"
#include "engine/llama_cpp_context.h"
#include "engine/llama_cpp_placement.h"

namespace vramgauge {

/// How an architecture arranges what its layers have.
struct LlamaCppGraphRules {
  std::string_view architecture;
  uint32_t flags = 0;
  LlamaCppComputeBasis basis = LlamaCppComputeBasis::measured;

  /// Mean-centred norms, which need a place of their own.
  static constexpr uint32_t kLayerNorm = 1U << 0;
  /// Attention and feed-forward part read the same norm and are added together.
  static constexpr uint32_t kParallel = 1U << 1;
  /// Norms behind attention and feed-forward part.
  static constexpr uint32_t kPostNorms = 1U << 2;
  /// Rows that give output are selected behind the last layer, not inside it; the layer's result
  /// is kept.
  static constexpr uint32_t kSelectsLast = 1U << 3;
  /// The same behind the last norm, whose result is kept.
  static constexpr uint32_t kSelectsNormed = 1U << 14;
  /// No rotary embedding anywhere.
  static constexpr uint32_t kNoRope = 1U << 4;
  /// No rotary embedding in layers that keep the whole context.
  static constexpr uint32_t kRopeInWindowOnly = 1U << 5;
  /// Weights of experts are not normalised to one, unless a bias corrects the choice.
  static constexpr uint32_t kRawExpertWeights = 1U << 6;
  /// Router scores by a sigmoid.
  static constexpr uint32_t kSigmoidRouter = 1U << 7;
  /// Softmax over the chosen experts only.
  static constexpr uint32_t kSoftmaxOfChosen = 1U << 8;
  /// Experts' inputs are weighted, not their outputs.
  static constexpr uint32_t kWeightsInputs = 1U << 9;
  /// Experts' weights are scaled where a bias corrects the choice.
  static constexpr uint32_t kScalesWeights = 1U << 10;
  /// Queries and keys are normalised over all heads at once.
  static constexpr uint32_t kNormsAllHeads = 1U << 11;
  /// Four positions per token (sections of the rotary embedding).
  static constexpr uint32_t kFourPositions = 1U << 12;
  /// The mixer's (the feed-forward part's) result is added to the residual, not the other way
  /// round.
  static constexpr uint32_t kMixResidualFirst = 1U << 13;
  static constexpr uint32_t kFfnResidualFirst = 1U << 15;
  /// In kParallel: the attention's result is added before the residual.
  static constexpr uint32_t kAttentionFirst = 1U << 16;
  /// Results of mixers and feed-forward parts are scaled.
  static constexpr uint32_t kScalesResidual = 1U << 19;
  /// Keys and queries of the delta rule are repeated for every head.
  static constexpr uint32_t kRepeatsKeys = 1U << 20;
  /// The embedding is scaled before anything else happens.
  static constexpr uint32_t kScalesEmbedding = 1U << 21;
  /// Values are normalised.
  static constexpr uint32_t kNormsValues = 1U << 22;
  /// Gemma 3n's parallel streams, and Gemma 4's experts beside a dense part.
  static constexpr uint32_t kGemma3n = 1U << 23;
  static constexpr uint32_t kGemma4 = 1U << 24;
  /// A norm behind the embedding.
  static constexpr uint32_t kNormsEmbedding = 1U << 18;
  /// No norms in front of attention and feed-forward part.
  static constexpr uint32_t kNoPreNorms = 1U << 25;
  /// Embeddings have further parts, which the first layers add to their results; every such model
  /// has three.
  static constexpr uint32_t kDeepstack = 1U << 26;
  static constexpr uint32_t kDeepstackLayers = 3;
  /// No rotary embedding in every fourth layer.
  static constexpr uint32_t kSkipsFourthRope = 1U << 27;
  /// Queries and keys are normalised behind the rotary embedding.
  static constexpr uint32_t kNormsAfterRope = 1U << 28;
  /// Attention without a feed-forward part: keys and values are stored, nothing reads the queries.
  static constexpr uint32_t kDropsLoneAttention = 1U << 29;
  /// Queries of layers without rotary embedding are scaled by position.
  static constexpr uint32_t kScalesQueries = 1U << 17;
};

/// Null for an architecture whose graph is not known here.
const LlamaCppGraphRules* llama_cpp_graph_rules(std::string_view architecture);

/// Builds the graph of one batch.
class LlamaCppGraph {
 public:
  LlamaCppGraph(const LlamaCppModel& model, const LlamaCppContext& context,
                const LlamaCppPlacement& placement, uint32_t num_gpus,
                const LlamaCppGraphRules& rules);

  /// The graph of the given layers, which stand for all.
  void build(const std::vector<uint32_t>& layers);
  /// Per layer that was built, its first node.
  const std::vector<uint32_t>& starts() const { return starts_; }

  std::vector<GraphNode> take_nodes() { return std::move(nodes_); }
  /// A size was beyond what can be computed with.
  bool has_overflowed() const { return has_overflowed_; }
  /// Some weights are in host memory although there are GPUs.
  bool has_host_weights() const { return has_host_weights_; }
  /// Copies of something of every layer are held at once.
  bool keeps_layer_copies() const;

 private:
  /// A tensor: index of its node x 2, + 1 for a view of it.
  using Tensor = uint32_t;
  static constexpr Tensor kNone = UINT32_MAX;
  static constexpr Tensor view(Tensor tensor) { return tensor | 1U; }

  /// Where a weight lies, and its bytes where it has to be copied to a GPU.
  struct Weight {
    uint8_t home = GraphNode::kAnywhere;
    uint64_t bytes = 0;
  };

  // The many places that call these two would grow by them.
  [[gnu::noinline]] Tensor add(uint64_t elements, uint16_t flags,
                               std::initializer_list<Tensor> sources) {
    return add(elements, flags, sources, Weight{}, 0);
  }
  Tensor add(uint64_t elements, uint16_t flags, std::initializer_list<Tensor> sources,
             Weight weight, uint64_t rows);
  Tensor input(uint64_t bytes);
  /// A view whose size matters when another device reads it.
  Tensor part(Tensor whole, uint64_t bytes);
  Tensor external(uint64_t bytes, uint8_t home);
  void store(std::initializer_list<Tensor> sources, uint8_t home);
  /// Sizes beyond this are refused; sums over a graph then stay within 64 bits.
  static constexpr uint64_t kMaxNodeBytes = uint64_t{1} << 50;
  [[gnu::noinline]] uint64_t product(uint64_t a, uint64_t b) {
    uint64_t result = 0;
    if (!__builtin_mul_overflow(a, b, &result) && result <= kMaxNodeBytes) return result;
    has_overflowed_ = true;
    return 0;
  }

  Weight weight(std::string_view name, std::string_view end = ".weight");
  uint8_t cache_home() const;
  /// The weight of this layer whose name is `name` and `end` together; null = none.
  const LlamaCppLayerWeight* find_weight(std::string_view name, std::string_view end) const;

  /// Adds a bias in place; its only trace is the copy of a bias that lies in host memory.
  Tensor add_bias(std::string_view name, Tensor x, uint64_t elements, uint64_t rows,
                  Tensor chosen = kNone);
  /// The GPUs have no code for the attention of some layer.
  bool attends_on_host() const;
  Tensor rope_factors();
  Tensor multiply(std::string_view name, Tensor x, uint64_t features, uint64_t rows);
  Tensor norm(std::string_view name, Tensor x, uint64_t features, uint64_t rows);
  Tensor select(Tensor x, uint64_t features);

  Tensor lazy_input(Tensor& slot, uint64_t bytes);
  Tensor positions();
  Tensor output_rows();

  Tensor embed();
  Tensor layer(bool is_last, Tensor x);
  Tensor lone_ffn(const Ffn& ffn, bool is_last, Tensor x);
  Tensor double_layer(const Layer& spec, bool is_last, Tensor x);
  void head(Tensor x);

  /// Inputs of a cache of one kind.
  struct CacheInputs {
    Tensor k_rotation = kNone;
    Tensor v_rotation = kNone;
    Tensor k_rows = kNone;
    Tensor v_rows = kNone;
    Tensor mask = kNone;
  };
  Tensor mask(CacheInputs& inputs, bool is_windowed);
  bool rotates_k(const LlamaCppLayer& shape) const;
  bool rotates_v(const LlamaCppLayer& shape) const;
  Tensor rotate(Tensor& matrix, uint64_t side, Tensor x, uint64_t features);
  Tensor rotate_k(const LlamaCppLayer& shape, CacheInputs& inputs, Tensor x, uint64_t features);
  Tensor rotate_v(const LlamaCppLayer& shape, CacheInputs& inputs, Tensor x, uint64_t features);
  Tensor project_heads(std::string_view name, std::string_view norm_name, Tensor x, uint64_t heads,
                       uint64_t head_dim, bool has_norm, bool has_rope, bool is_fused);
  /// The mixer up to, but without, the output projection.
  Tensor attention(const Attention& mixer, Tensor x);
  Tensor project_output(Tensor mixed);
  /// What the attention proper reads.
  struct Attended {
    Tensor q = kNone;
    Tensor k_cache = kNone;
    Tensor v_cache = kNone;
    Tensor mask = kNone;
    /// With an indexer, what the mask is made from; it is made when it is read.
    const LatentAttention* sparse = nullptr;
    Tensor x = kNone;
    Tensor compressed = kNone;
    uint64_t cells = 0;
    Weight sinks;
    /// Values are the first part of the keys.
    bool v_is_k = false;
  };
  void store_cached(const LlamaCppLayer& shape, CacheInputs& inputs, Tensor k, Tensor v,
                    bool is_part);
  Tensor attend_cached(const LlamaCppLayer& shape, CacheInputs& inputs, Tensor q, Weight sinks);
  Tensor latent_attention(const LatentAttention& mixer, Tensor x);
  Tensor expanded_attention(const Attention& mixer, Tensor x);
  void store_index_keys(const Indexer& indexer, uint64_t rope_dim, Tensor x);
  Tensor pick_tokens(const Indexer& indexer, uint64_t rope_dim, Tensor x, Tensor compressed);
  Tensor mask_chosen(const LatentAttention& mixer, Tensor x, Tensor compressed);
  /// A dimension of a weight of this layer; 0 when there is none of that name.
  uint64_t layer_size(std::string_view name, size_t dimension) const;
  /// The same of a weight that belongs to no layer, by its full name.
  uint64_t lone_size(std::string_view name, size_t dimension) const;
  std::optional<uint32_t> find_lone_weight(std::string_view name) const;
  /// A weight that belongs to no layer, by its full name.
  Weight lone_weight(std::string_view name) const;

  void embed_per_layer(Tensor x);
  Tensor per_layer_inputs();
  Tensor gate_slice(Tensor x);
  Tensor gemma4_ffn(const Ffn& ffn, Tensor x);
  Tensor magnitude(Tensor x, uint64_t streams);
  Tensor match_magnitude(Tensor made, Tensor like, uint64_t streams);
  Tensor split_streams(Tensor x);
  Tensor join_streams(Tensor x);
  Tensor modalities(Tensor x);
  struct SharedWeight {
    uint32_t layer = 0;
    Tensor tensor = kNone;
  };
  Tensor share(SharedWeight& slot, Weight& place);
  Tensor gemma3n_layer(const Layer& spec, Tensor x);
  Tensor gemma3n_ffn(const Ffn& ffn, Tensor x);

  /// Mixers with a state: what is computed at once, and what only when its result is read.
  Tensor recall(uint64_t elements);
  /// The first state that a layer's mixer reads; layers in front may have read it already.
  Tensor recall_first(uint64_t elements);
  void recall_ahead();
  void keep_others(Tensor which, Tensor states, uint8_t home);
  Tensor scan(uint64_t d_inner, uint64_t d_state, Tensor x, Tensor dt, Tensor b, Tensor c);
  Tensor lengthen(Tensor tail, Tensor x, uint64_t kept_tokens, uint64_t channels);
  void begin(const Mamba1& mixer, Tensor x);
  void begin(const Mamba2& mixer, Tensor x);
  void begin(const GatedDelta& mixer, Tensor x);
  void begin(const ShortConv& mixer, Tensor x);
  Tensor finish(const Mamba1& mixer);
  Tensor finish(const Mamba2& mixer);
  Tensor finish(const GatedDelta& mixer);
  Tensor finish(const ShortConv& mixer);
  Tensor adapt(std::string_view first, std::string_view second, Tensor x, uint64_t rank,
               uint64_t rows);
  Tensor rwkv_layer(const Rwkv& mixer, const Ffn& ffn, bool is_last, Tensor x);
  /// The norm in front of a mixer, computed when it is first read.
  Tensor norm_input(Tensor x);
  bool drops_attention() const;
  void begin_mixer(const Mixer& mixer, Tensor x);
  Tensor finish_mixer(const Mixer& mixer);
  Tensor cache_tensor(uint64_t cells, GgmlType type, uint64_t elements);
  Tensor attend(const LlamaCppLayer& shape, const Attended& in);
  Tensor attend_fused(const LlamaCppLayer& shape, const Attended& in);
  Tensor mask_of(const Attended& in);

  Tensor feed_forward(const Ffn& ffn, Tensor x);
  Tensor dense(std::string_view suffix, Tensor x, uint64_t width, bool is_gated, bool is_fused);
  Tensor experts(const MoeFfn& ffn, Tensor x);
  Tensor route(const MoeFfn& ffn, Tensor x, Tensor& chosen);
  Tensor mix_experts(const MoeFfn& ffn, Tensor x, Tensor weights, Tensor chosen);

  bool is(uint32_t flag) const { return (rules_.flags & flag) != 0; }
  /// Output rows are selected in the last layer.
  bool selects_inside() const {
    return !is(LlamaCppGraphRules::kSelectsLast | LlamaCppGraphRules::kSelectsNormed);
  }
  bool has_gpus() const { return num_gpus_ > 0; }

  const LlamaCppModel& model_;
  const LlamaCppContext& context_;
  const LlamaCppPlacement& placement_;
  const LlamaCppGraphRules& rules_;
  uint32_t num_gpus_;
  /// Some weights are in host memory although there are GPUs.
  bool has_host_weights_ = false;
  bool has_overflowed_ = false;

  uint64_t hidden_ = 0;
  uint64_t tokens_ = 0;
  uint64_t outputs_ = 0;
  /// Rows of what flows through the layers: tokens, or the output rows at the end.
  uint64_t rows_ = 0;

  std::vector<GraphNode> nodes_;
  uint32_t layer_index_ = 0;
  Tensor positions_ = kNone;
  Tensor output_rows_ = kNone;
  Tensor attention_scale_ = kNone;
  /// The embedding's further parts (kDeepstack).
  Tensor deepstack_ = kNone;
  Tensor rope_factors_ = kNone;
  uint64_t rope_factor_bytes_ = 0;
  /// Windowed layers read them as well.
  bool has_factors_in_windows_ = true;
  /// Of the attention whose output is not projected yet.
  Tensor attention_gate_ = kNone;
  /// Attention's result before its projection.
  Tensor attended_ = kNone;
  Tensor normed_ = kNone;
  bool shares_norm_ = false;
  SharedWeight shared_norm_;
  SharedWeight router_norm_;
  SharedWeight router_;
  /// What finish() goes on with.
  struct Pending {
    Tensor gate = kNone;
    Tensor x = kNone;
    Tensor result = kNone;
  };
  Pending pending_;
  Tensor state_rows_ = kNone;
  /// The part of it that names sequences that are not in the batch: none.
  Tensor no_rows_ = kNone;
  /// States that were read ahead for the layer `ahead_position_`.
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t ahead_position_ = kNowhere;
  Tensor ahead_first_ = kNone;
  Tensor ahead_second_ = kNone;
  const std::vector<uint32_t>* layers_ = nullptr;
  uint32_t position_ = 0;
  std::vector<uint32_t> starts_;
  Tensor chosen_ = kNone;
  Tensor first_value_ = kNone;
  Tensor per_layer_rows_ = kNone;
  Tensor per_layer_source_ = kNone;
  Tensor per_layer_ = kNone;
  uint64_t per_layer_width_ = 0;
  uint64_t streams_ = 1;
  CacheInputs indexed_;
  CacheInputs full_;
  CacheInputs windowed_;
};

}  // namespace vramgauge

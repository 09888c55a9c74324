#include "engine/llama_cpp_compute_graph.h"

#include <algorithm>
#include <variant>

#include "units/checked.h"

namespace vramgauge {
namespace {

/// Batches smaller than this stay where their weight is.
constexpr uint64_t kOffloadRows = 32;
/// Nodes of one layer of most models, as far as memory is set aside for them beforehand.
constexpr size_t kUsualNodes = 32;

}  // namespace

LlamaCppGraph::LlamaCppGraph(const LlamaCppModel& model, const LlamaCppContext& context,
                             const LlamaCppPlacement& placement, uint32_t num_gpus,
                             const LlamaCppGraphRules& rules)
    : model_(model), context_(context), placement_(placement), rules_(rules), num_gpus_(num_gpus) {
  hidden_ = model.spec.hidden_size;
  const uint64_t asked = std::min(context.n_ctx, context.n_ubatch);
  const uint64_t sequences = std::max<uint64_t>(context.n_seq_max, 1);
  tokens_ = (asked + sequences - 1) / sequences * sequences;
  outputs_ = std::min(asked, context.n_outputs_max);
  rows_ = tokens_;
  if (num_gpus == 0) return;
  has_host_weights_ = placement.has_host_weights(model);
  for (const uint32_t i : model.groups.outside) {
    const LlamaCppWeight& weight = model.weights[i];
    if (weight.place == LlamaCppPlace::every_layer ||
        weight.place == LlamaCppPlace::every_full_layer) {
      rope_factor_bytes_ = weight.gpu_bytes;
      has_factors_in_windows_ = weight.place == LlamaCppPlace::every_layer;
    }
  }
}

LlamaCppGraph::Tensor LlamaCppGraph::add(uint64_t elements, uint16_t flags,
                                         std::initializer_list<Tensor> sources, Weight weight,
                                         uint64_t rows) {
  const uint64_t bytes = product(elements, 4);
  // Written where it stays: reading a node back as a whole just after writing its members stalls.
  GraphNode& node = nodes_.emplace_back();
  node.bytes = bytes;
  node.flags = flags;
  node.home = weight.home;
  node.weight_bytes = weight.bytes;
  if (rows >= kOffloadRows) node.flags |= GraphNode::kOffloads;
  for (const Tensor source : sources) {
    if (source != kNone) node.sources[node.num_sources++] = source;
  }
  return static_cast<Tensor>(nodes_.size() - 1) * 2;
}

LlamaCppGraph::Tensor LlamaCppGraph::input(uint64_t bytes) {
  const Tensor tensor = add(0, GraphNode::kInput, {});
  nodes_.back().bytes = product(bytes, 1);
  return tensor;
}

LlamaCppGraph::Tensor LlamaCppGraph::part(Tensor whole, uint64_t bytes) {
  if (!has_gpus()) return view(whole);
  const Tensor made = add(0, GraphNode::kPart, {whole});
  nodes_.back().bytes = bytes;
  return view(made);
}

/// A cache matters only where another device may read it.
LlamaCppGraph::Tensor LlamaCppGraph::external(uint64_t bytes, uint8_t home) {
  if (!has_gpus()) return kNone;
  const Tensor tensor = add(0, GraphNode::kExternal, {}, {home, 0}, 0);
  nodes_.back().bytes = product(bytes, 1);
  return tensor;
}

void LlamaCppGraph::store(std::initializer_list<Tensor> sources, uint8_t home) {
  add(0, GraphNode::kStored, sources, {home, 0}, 0);
}

/// The cache lies beside its layer; a layer without one reads that of an earlier layer.
uint8_t LlamaCppGraph::cache_home() const {
  uint64_t owner = layer_index_;
  for (const Mixer& mixer : model_.spec.layers[layer_index_].mixers) {
    const auto* attention = std::get_if<Attention>(&mixer);
    if (attention != nullptr && attention->cache_shared_with) owner = *attention->cache_shared_with;
  }
  const uint64_t device = placement_.cache_device(owner);
  return static_cast<uint8_t>(std::min<uint64_t>(device, num_gpus_));
}

const LlamaCppLayerWeight* LlamaCppGraph::find_weight(std::string_view name,
                                                      std::string_view end) const {
  const auto& weights = model_.groups.layers[layer_index_].list;
  const auto found = std::find_if(weights.begin(), weights.end(), [&](const auto& weight) {
    const std::string_view full = weight.name;
    return full.size() == name.size() + end.size() && full.substr(0, name.size()) == name &&
           full.substr(name.size()) == end;
  });
  return found == weights.end() ? nullptr : &*found;
}

LlamaCppGraph::Weight LlamaCppGraph::weight(std::string_view name, std::string_view end) {
  if (!has_gpus()) return {0, 0};
  const uint64_t device = std::min<uint64_t>(placement_.layer_device[layer_index_], num_gpus_);
  Weight found{static_cast<uint8_t>(device), 0};
  // Where nothing lies elsewhere, nothing is copied.
  if (!has_host_weights_) return found;
  if (const LlamaCppLayerWeight* listed = find_weight(name, end)) {
    const uint64_t home = placement_.device_of(model_, listed->weight);
    found.home = static_cast<uint8_t>(std::min<uint64_t>(home, num_gpus_));
    found.bytes = model_.weights[listed->weight].gpu_bytes;
  }
  return found;
}

LlamaCppGraph::Tensor LlamaCppGraph::add_bias(std::string_view name, Tensor x, uint64_t elements,
                                              uint64_t rows, Tensor chosen) {
  if (!has_host_weights_) return x;
  const Weight bias = weight(name, ".bias");
  return bias.bytes == 0 ? x : add(elements, GraphNode::kInPlace, {x, chosen}, bias, rows);
}

/// A layer in host memory reads the copy of the rotary factors that lies there.
LlamaCppGraph::Tensor LlamaCppGraph::rope_factors() {
  if (!has_host_weights_ || rope_factor_bytes_ == 0) return kNone;
  if (placement_.layer_device[layer_index_] != LlamaCppPlacement::kHost) return kNone;
  if (model_.layers[layer_index_].is_windowed && !has_factors_in_windows_) return kNone;
  if (rope_factors_ == kNone) {
    rope_factors_ = external(rope_factor_bytes_, static_cast<uint8_t>(num_gpus_));
    nodes_[rope_factors_ / 2].flags |= GraphNode::kSharedWeight;
  }
  return rope_factors_;
}

LlamaCppGraph::Tensor LlamaCppGraph::multiply(std::string_view name, Tensor x, uint64_t features,
                                              uint64_t rows) {
  const uint64_t elements = product(features, rows);
  return add_bias(name, add(elements, 0, {x}, weight(name), rows), elements, rows);
}

LlamaCppGraph::Tensor LlamaCppGraph::norm(std::string_view name, Tensor x, uint64_t features,
                                          uint64_t rows) {
  const uint64_t elements = product(features, rows);
  const Tensor normed =
      add(elements, is(LlamaCppGraphRules::kLayerNorm) ? 0 : GraphNode::kInPlace, {x});
  if (!has_gpus() || name.empty()) return normed;
  Weight place = weight(name);
  const Tensor shared = shares_norm_ ? share(shared_norm_, place) : kNone;
  const Tensor scaled = add(elements, GraphNode::kInPlace, {normed, shared}, place, rows);
  return add_bias(name, scaled, elements, rows);
}

LlamaCppGraph::Tensor LlamaCppGraph::select(Tensor x, uint64_t features) {
  return add(product(features, outputs_), 0, {x, output_rows()});
}

LlamaCppGraph::Tensor LlamaCppGraph::lazy_input(Tensor& slot, uint64_t bytes) {
  if (slot == kNone) slot = input(bytes);
  return slot;
}

LlamaCppGraph::Tensor LlamaCppGraph::positions() {
  return lazy_input(positions_, product(tokens_, is(LlamaCppGraphRules::kFourPositions) ? 16 : 4));
}

LlamaCppGraph::Tensor LlamaCppGraph::output_rows() {
  return lazy_input(output_rows_, product(outputs_, 4));
}

LlamaCppGraph::Tensor LlamaCppGraph::embed() {
  const Tensor ids = input(product(tokens_, 4));
  const uint64_t elements = product(tokens_, hidden_);
  const uint64_t parts =
      is(LlamaCppGraphRules::kDeepstack) ? LlamaCppGraphRules::kDeepstackLayers + 1 : 1;
  // Room for embeddings that come from outside, although tokens come.
  input(product(product(elements, parts), 4));
  const auto host = static_cast<uint8_t>(num_gpus_);
  Tensor x = add(elements, 0, {ids}, {host, 0}, 0);
  if (model_.spec.position_embeddings != 0) {
    const Tensor rows = add(elements, 0, {positions()}, {host, 0}, 0);
    x = add(elements, GraphNode::kInPlace, {x, rows});
  }
  if (is(LlamaCppGraphRules::kScalesEmbedding)) x = add(elements, GraphNode::kInPlace, {x});
  if (parts > 1) {
    x = view(add(product(elements, parts), 0, {x}));
    deepstack_ = x;
  }
  return x;
}

void LlamaCppGraph::head(Tensor x) {
  layer_index_ = static_cast<uint32_t>(placement_.layer_device.size());
  const auto keep_and_select = [&] {
    nodes_[x / 2].flags |= GraphNode::kKept;
    rows_ = outputs_;
    x = select(x, hidden_);
  };
  if (is(LlamaCppGraphRules::kSelectsLast)) keep_and_select();
  const Weight place{static_cast<uint8_t>(std::min<uint64_t>(placement_.output_device, num_gpus_)),
                     0};
  Weight norm_place = place;
  norm_place.bytes = hidden_ * 4;
  Weight head_place = place;
  for (const uint32_t i : model_.groups.outside) {
    if (!has_host_weights_ || model_.weights[i].place != LlamaCppPlace::output) continue;
    head_place.bytes = std::max(head_place.bytes, model_.weights[i].gpu_bytes);
  }
  const uint64_t elements = product(rows_, hidden_);
  x = add(elements, is(LlamaCppGraphRules::kLayerNorm) ? 0 : GraphNode::kInPlace, {x});
  if (has_gpus()) x = add(elements, GraphNode::kInPlace, {x}, norm_place, outputs_);
  if (is(LlamaCppGraphRules::kSelectsNormed)) keep_and_select();
  add(product(outputs_, model_.spec.vocab_size), 0, {x}, head_place, outputs_);
}

void LlamaCppGraph::build(const std::vector<uint32_t>& layers) {
  layers_ = &layers;
  nodes_.reserve((layers.size() + 2) * kUsualNodes);
  starts_.reserve(layers.size());
  Tensor x = embed();
  if (is(LlamaCppGraphRules::kGemma3n | LlamaCppGraphRules::kGemma4)) embed_per_layer(x);
  if (is(LlamaCppGraphRules::kGemma3n)) x = split_streams(x);
  for (position_ = 0; position_ < layers.size(); ++position_) {
    layer_index_ = layers[position_];
    starts_.push_back(static_cast<uint32_t>(nodes_.size()));
    x = layer(position_ + 1 == layers.size(), x);
  }
  if (is(LlamaCppGraphRules::kGemma3n)) x = join_streams(x);
  head(x);
}

LlamaCppGraph::Tensor LlamaCppGraph::layer(bool is_last, Tensor x) {
  using Rules = LlamaCppGraphRules;
  const Layer& spec = model_.spec.layers[layer_index_];
  const bool selects = is_last && selects_inside();
  Tensor residual = x;
  if (spec.mixers.size() == 1) {
    if (const auto* rwkv = std::get_if<Rwkv>(&spec.mixers.front()))
      return rwkv_layer(*rwkv, spec.ffn, is_last, x);
  }
  if (is(Rules::kGemma3n) && !spec.mixers.empty()) return gemma3n_layer(spec, x);
  if (spec.mixers.size() == 2) return double_layer(spec, is_last, x);
  if (spec.mixers.empty() && std::holds_alternative<std::monostate>(spec.ffn)) return x;
  if (spec.mixers.empty()) return lone_ffn(spec.ffn, is_last, x);
  const Mixer& mixer = spec.mixers.front();
  begin_mixer(mixer, x);
  if (drops_attention()) return x;
  if (!std::holds_alternative<MoeFfn>(spec.ffn)) recall_ahead();
  if (selects) rows_ = outputs_;
  const uint64_t elements = product(rows_, hidden_);
  const auto pick = [&](Tensor tensor) { return selects ? select(tensor, hidden_) : tensor; };
  if (is(Rules::kParallel)) {
    const Tensor fed = feed_forward(spec.ffn, pick(normed_));
    if (is(Rules::kAttentionFirst)) {
      const Tensor sum = add(elements, GraphNode::kInPlace, {fed, pick(finish_mixer(mixer))});
      return add(elements, GraphNode::kInPlace, {sum, pick(residual)});
    }
    const Tensor sum = add(elements, GraphNode::kInPlace, {fed, pick(residual)});
    return add(elements, GraphNode::kInPlace, {sum, pick(finish_mixer(mixer))});
  }
  if (is(Rules::kMixResidualFirst)) residual = pick(residual);
  Tensor mixed = pick(finish_mixer(mixer));
  if (is(Rules::kScalesResidual)) mixed = add(elements, GraphNode::kInPlace, {mixed});
  if (is(Rules::kPostNorms)) mixed = norm("post_attention_norm", mixed, hidden_, rows_);
  Tensor middle = kNone;
  if (is(Rules::kMixResidualFirst))
    middle = add(elements, GraphNode::kInPlace, {residual, mixed});
  else
    middle = add(elements, GraphNode::kInPlace, {mixed, pick(residual)});
  if (std::holds_alternative<std::monostate>(spec.ffn)) return middle;
  Tensor fed = is(Rules::kGemma4)
                   ? gemma4_ffn(spec.ffn, middle)
                   : feed_forward(spec.ffn, is(Rules::kNoPreNorms)
                                                ? middle
                                                : norm("ffn_norm", middle, hidden_, rows_));
  if (is(Rules::kPostNorms)) fed = norm("post_ffw_norm", fed, hidden_, rows_);
  Tensor out = is(Rules::kFfnResidualFirst) ? add(elements, GraphNode::kInPlace, {middle, fed})
                                            : add(elements, GraphNode::kInPlace, {fed, middle});
  if (deepstack_ != kNone && layer_index_ < Rules::kDeepstackLayers)
    out = add(elements, GraphNode::kInPlace, {out, deepstack_});
  if (per_layer_width_ != 0) out = add(elements, GraphNode::kInPlace, {out, gate_slice(out)});
  if (is(Rules::kGemma4) && has_gpus())
    out = add(elements, GraphNode::kInPlace, {out}, weight("layer_output_scale"), rows_);
  return out;
}

/// A layer that is only a feed-forward part (Nemotron-H).
LlamaCppGraph::Tensor LlamaCppGraph::lone_ffn(const Ffn& ffn, bool is_last, Tensor x) {
  if (!std::holds_alternative<MoeFfn>(ffn)) recall_ahead();
  Tensor fed = feed_forward(ffn, norm("attn_norm", x, hidden_, tokens_));
  if (is_last && selects_inside()) {
    rows_ = outputs_;
    fed = select(fed, hidden_);
    x = select(x, hidden_);
  }
  return add(product(rows_, hidden_), GraphNode::kInPlace, {fed, x});
}

/// Two mixers side by side (Falcon-H1), each behind a norm of its own.
LlamaCppGraph::Tensor LlamaCppGraph::double_layer(const Layer& spec, bool is_last, Tensor x) {
  const Mixer& attention = spec.mixers[std::holds_alternative<Attention>(spec.mixers[0]) ? 0 : 1];
  const Mixer& other = spec.mixers[std::holds_alternative<Attention>(spec.mixers[0]) ? 1 : 0];
  // Both norms read the same copy of their weight.
  shares_norm_ = true;
  begin_mixer(attention, x);
  begin_mixer(other, x);
  shares_norm_ = false;
  recall_ahead();
  uint64_t elements = product(tokens_, hidden_);
  const Tensor attended = finish_mixer(attention);
  const Tensor both = add(elements, GraphNode::kInPlace, {attended, finish_mixer(other)});
  Tensor middle = add(elements, GraphNode::kInPlace, {both, x});
  if (is_last) {
    rows_ = outputs_;
    elements = product(rows_, hidden_);
    middle = select(middle, hidden_);
  }
  const Tensor fed = feed_forward(spec.ffn, norm("ffn_norm", middle, hidden_, rows_));
  return add(elements, GraphNode::kInPlace, {fed, middle});
}

bool LlamaCppGraph::drops_attention() const {
  return is(LlamaCppGraphRules::kDropsLoneAttention) &&
         std::holds_alternative<std::monostate>(model_.spec.layers[layer_index_].ffn);
}

LlamaCppGraph::Tensor LlamaCppGraph::norm_input(Tensor x) {
  normed_ = is(LlamaCppGraphRules::kNoPreNorms) ? x : norm("attn_norm", x, hidden_, tokens_);
  return normed_;
}

void LlamaCppGraph::begin_mixer(const Mixer& mixer, Tensor x) {
  if (const auto* plain = std::get_if<Attention>(&mixer)) {
    const Tensor normed = norm_input(x);
    attended_ =
        plain->has_projections ? attention(*plain, normed) : expanded_attention(*plain, normed);
  }
  if (const auto* latent = std::get_if<LatentAttention>(&mixer))
    attended_ = latent_attention(*latent, norm_input(x));
  if (const auto* mamba = std::get_if<Mamba1>(&mixer)) begin(*mamba, x);
  if (const auto* mamba = std::get_if<Mamba2>(&mixer)) begin(*mamba, x);
  if (const auto* delta = std::get_if<GatedDelta>(&mixer)) begin(*delta, norm_input(x));
  if (const auto* conv = std::get_if<ShortConv>(&mixer)) begin(*conv, x);
}

LlamaCppGraph::Tensor LlamaCppGraph::finish_mixer(const Mixer& mixer) {
  if (std::holds_alternative<Attention>(mixer)) return project_output(attended_);
  if (std::holds_alternative<LatentAttention>(mixer))
    return multiply("attn_output", attended_, hidden_, tokens_);
  if (const auto* mamba = std::get_if<Mamba1>(&mixer)) return finish(*mamba);
  if (const auto* mamba = std::get_if<Mamba2>(&mixer)) return finish(*mamba);
  if (const auto* delta = std::get_if<GatedDelta>(&mixer)) return finish(*delta);
  if (const auto* conv = std::get_if<ShortConv>(&mixer)) return finish(*conv);
  return attended_;
}

uint64_t LlamaCppGraph::layer_size(std::string_view name, size_t dimension) const {
  const LlamaCppLayerWeight* found = find_weight(name, ".weight");
  if (found == nullptr) return 0;
  return model_.tensors[model_.weights[found->weight].tensor].dims[dimension];
}

std::optional<uint32_t> LlamaCppGraph::find_lone_weight(std::string_view name) const {
  for (const uint32_t i : model_.groups.outside) {
    if (model_.tensors[model_.weights[i].tensor].name == name) return i;
  }
  return std::nullopt;
}

uint64_t LlamaCppGraph::lone_size(std::string_view name, size_t dimension) const {
  const std::optional<uint32_t> found = find_lone_weight(name);
  return found ? model_.tensors[model_.weights[*found].tensor].dims[dimension] : 0;
}

LlamaCppGraph::Weight LlamaCppGraph::lone_weight(std::string_view name) const {
  if (!has_gpus()) return {0, 0};
  const std::optional<uint32_t> found = find_lone_weight(name);
  if (!found) return {};
  const uint64_t device = std::min<uint64_t>(placement_.device_of(model_, *found), num_gpus_);
  return {static_cast<uint8_t>(device), model_.weights[*found].gpu_bytes};
}

}  // namespace vramgauge

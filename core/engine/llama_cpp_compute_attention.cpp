// Attention in the graph of llama_cpp_compute_graph.h.
#include <algorithm>

#include "engine/llama_cpp_compute_graph.h"
#include "units/index.h"

namespace vramgauge {
namespace {

bool is_quantized(GgmlType type) { return ggml_type_info(type).is_quantized(); }

/// Side of the Hadamard matrix for heads of that size: the largest power of two from 64 on that
/// divides it.
uint64_t rotation_side(uint64_t head_dim) {
  uint64_t side = 64;
  while (head_dim % (side * 2) == 0)
    side *= 2;
  return side;
}

constexpr uint64_t kRotationOfValues = 64;

/// CUDA's flash attention has code for these heads (ggml/src/ggml-cuda/fattn.cu).
bool cuda_attends(uint64_t k_dim, uint64_t v_dim, uint64_t heads, uint64_t kv_heads, GgmlType k,
                  GgmlType v) {
  if (kv_heads == 0 || heads % kv_heads != 0) return false;
  const uint64_t group = heads / kv_heads;
  if (k != v && (k != GgmlType::q8_0 || v != GgmlType::q4_0)) return false;
  switch (k_dim) {
    case 40:
    case 64:
    case 72:
    case 80:
    case 96:
    case 112:
    case 128:
    case 256: return v_dim == k_dim;
    case 192: return v_dim == 128 && group % 8 == 0;
    case 320: return v_dim == 256 && group % 32 == 0;
    case 512: return v_dim == 512 && group >= 2;
    case 576: return v_dim == 512 && group >= 2;
    default: return false;
  }
}

}  // namespace

LlamaCppGraph::Tensor LlamaCppGraph::mask(CacheInputs& inputs, bool is_windowed) {
  const uint64_t cells = is_windowed ? context_.cells_swa : context_.cells;
  return lazy_input(inputs.mask, product(product(cells, tokens_), context_.flash_attn ? 2 : 4));
}

LlamaCppGraph::Tensor LlamaCppGraph::cache_tensor(uint64_t cells, GgmlType type,
                                                  uint64_t elements) {
  if (!has_gpus()) return kNone;
  const uint64_t rows = product(cells, context_.n_streams);
  return external(product(rows, row_bytes(type, elements).value_or(0)), cache_home());
}

/// Heads of a quantised cache are multiplied by a Hadamard matrix, when 64 divides their size.
LlamaCppGraph::Tensor LlamaCppGraph::rotate(Tensor& matrix, uint64_t side, Tensor x,
                                            uint64_t features) {
  const Tensor by = lazy_input(matrix, product(side * side, 4));
  return view(add(product(features, tokens_), 0, {by, x}));
}

bool LlamaCppGraph::rotates_k(const LlamaCppLayer& shape) const {
  return is_quantized(context_.type_k) && shape.head_dim_k % 64 == 0;
}

bool LlamaCppGraph::rotates_v(const LlamaCppLayer& shape) const {
  return is_quantized(context_.type_v) && shape.head_dim_v % 64 == 0;
}

LlamaCppGraph::Tensor LlamaCppGraph::rotate_k(const LlamaCppLayer& shape, CacheInputs& inputs,
                                              Tensor x, uint64_t features) {
  if (!rotates_k(shape)) return x;
  return rotate(inputs.k_rotation, rotation_side(shape.head_dim_k), x, features);
}

LlamaCppGraph::Tensor LlamaCppGraph::rotate_v(const LlamaCppLayer& shape, CacheInputs& inputs,
                                              Tensor x, uint64_t features) {
  return rotates_v(shape) ? rotate(inputs.v_rotation, kRotationOfValues, x, features) : x;
}

LlamaCppGraph::Tensor LlamaCppGraph::project_heads(std::string_view name,
                                                   std::string_view norm_name, Tensor x,
                                                   uint64_t heads, uint64_t head_dim, bool has_norm,
                                                   bool has_rope, bool is_fused) {
  const uint64_t features = heads * head_dim;
  const uint64_t elements = product(features, tokens_);
  Tensor made = is_fused ? x : multiply(name, x, features, tokens_);
  const bool rotates_first = is(LlamaCppGraphRules::kNormsAfterRope);
  const auto rotate = [&] {
    if (has_rope) made = add(elements, GraphNode::kInPlace, {made, positions(), rope_factors()});
  };
  if (has_norm && is(LlamaCppGraphRules::kNormsAllHeads)) {
    made = view(norm(norm_name, made, features, tokens_));
  } else {
    made = view(made);
    if (rotates_first) rotate();
    if (has_norm) made = norm(norm_name, made, features, tokens_);
  }
  if (!rotates_first) rotate();
  return made;
}

bool LlamaCppGraph::attends_on_host() const {
  if (!has_gpus() || !context_.flash_attn) return false;
  const auto& kinds = model_.groups.kinds;
  return std::any_of(kinds.begin(), kinds.end(), [this](const LlamaCppLayerKind& kind) {
    const LlamaCppLayer& layer = model_.layers[index_of(kind.first)];
    return layer.num_heads != 0 &&
           !cuda_attends(layer.head_dim_k, layer.head_dim_v, layer.num_heads, layer.num_kv_heads,
                         context_.type_k, context_.type_v);
  });
}

LlamaCppGraph::Tensor LlamaCppGraph::attend_fused(const LlamaCppLayer& shape, const Attended& in) {
  Tensor sinks = kNone;
  if (in.sinks.home == num_gpus_ && in.sinks.bytes != 0) {
    sinks = external(in.sinks.bytes, in.sinks.home);
    nodes_.back().flags |= GraphNode::kSharedWeight;
  }
  const bool on_gpu = cuda_attends(shape.head_dim_k, shape.head_dim_v, shape.num_heads,
                                   shape.num_kv_heads, context_.type_k, context_.type_v);
  const uint64_t result = product(product(shape.head_dim_v, shape.num_heads), tokens_);
  const Tensor masked = mask_of(in);
  const Tensor made = add(result, on_gpu ? 0 : GraphNode::kHostOnly,
                          {view(in.q), in.k_cache, in.v_cache, masked, sinks});
  if (!on_gpu || !has_gpus()) return made;
  // CUDA converts a quantised cache into F16 behind the result.
  const auto pad = [](uint64_t bytes) { return (bytes + 127) / 128 * 128; };
  const uint64_t cells = product(in.cells, context_.n_streams);
  uint64_t end = product(result, 4);
  if (context_.type_k != GgmlType::f16)
    end = pad(end) + product(product(cells, shape.k_elements), 2);
  if (context_.type_v != GgmlType::f16 && !in.v_is_k)
    end = pad(end) + product(product(cells, shape.v_elements), 2);
  nodes_.back().gpu_extra_bytes = end - product(result, 4);
  return made;
}

LlamaCppGraph::Tensor LlamaCppGraph::attend(const LlamaCppLayer& shape, const Attended& in) {
  if (context_.flash_attn) return attend_fused(shape, in);
  Tensor values = in.v_cache;
  if (in.v_is_k) {
    // Values that are part of the keys have to be transposed; they keep the cache's type.
    const uint64_t cells = product(in.cells, context_.n_streams);
    values = add(0, 0, {values});
    nodes_.back().bytes = product(cells, row_bytes(context_.type_k, shape.head_dim_v).value_or(0));
  }
  const uint64_t all_scores = product(product(in.cells, tokens_), shape.num_heads);
  const Tensor scores = add(all_scores, 0, {in.k_cache, view(in.q)});
  const Tensor masked = mask_of(in);
  const Tensor weights = add(all_scores, GraphNode::kInPlace, {scores, masked}, in.sinks, tokens_);
  return add(product(product(shape.head_dim_v, shape.num_heads), tokens_), 0, {values, weights});
}

void LlamaCppGraph::store_cached(const LlamaCppLayer& shape, CacheInputs& inputs, Tensor k,
                                 Tensor v, bool is_part) {
  const uint8_t home = has_gpus() ? cache_home() : 0;
  store({view(k), lazy_input(inputs.k_rows, product(tokens_, 8))}, home);
  uint64_t rows = tokens_;
  if (!context_.flash_attn) {
    // Values are stored transposed, an index for each element, at the widest layer's width; a part
    // of a fused row is made contiguous before.
    rows = product(tokens_, model_.widest_v_elements);
    if (is_part) v = view(add(product(shape.v_elements, tokens_), 0, {v}));
    if (shape.v_elements < model_.widest_v_elements)
      v = add(product(model_.widest_v_elements, tokens_), 0, {v});
  }
  store({view(v), lazy_input(inputs.v_rows, product(rows, 8))}, home);
}

LlamaCppGraph::Tensor LlamaCppGraph::attend_cached(const LlamaCppLayer& shape, CacheInputs& inputs,
                                                   Tensor q, Weight sinks) {
  Attended in;
  in.q = q;
  in.cells = shape.is_windowed ? context_.cells_swa : context_.cells;
  in.k_cache = cache_tensor(in.cells, context_.type_k, shape.k_elements);
  in.v_cache = cache_tensor(in.cells, context_.type_v, shape.v_elements);
  in.mask = mask(inputs, shape.is_windowed);
  in.sinks = sinks;
  const Tensor mixed = view(attend(shape, in));
  if (context_.flash_attn) return mixed;
  return add(product(product(shape.head_dim_v, shape.num_heads), tokens_), 0, {mixed});
}

LlamaCppGraph::Tensor LlamaCppGraph::attention(const Attention& mixer, Tensor x) {
  using Rules = LlamaCppGraphRules;
  const LlamaCppLayer& shape = model_.layers[layer_index_];
  CacheInputs& inputs = shape.is_windowed ? windowed_ : full_;
  const bool skips_rope = is(Rules::kRopeInWindowOnly)
                              ? model_.window_tokens != 0 && !shape.is_windowed
                              : is(Rules::kSkipsFourthRope) && layer_index_ % 4 == 3;
  const bool has_rope = !is(Rules::kNoRope) && !skips_rope;
  const bool has_norm = mixer.qk_norm != QkNorm::none;
  const uint64_t q_features = shape.num_heads * shape.head_dim_k;

  // The matrix is read in front of what it rotates.
  if (rotates_k(shape)) {
    const uint64_t side = rotation_side(shape.head_dim_k);
    lazy_input(inputs.k_rotation, product(side * side, 4));
  }
  Tensor base = x;
  if (mixer.fused_qkv) {
    base = multiply("attn_qkv", x, q_features + shape.k_elements + shape.v_elements, tokens_);
  } else if (mixer.output_gate) {
    base = multiply("attn_q", x, 2 * q_features, tokens_);
  }
  attention_gate_ = mixer.output_gate ? base : kNone;
  const bool shares_q = mixer.fused_qkv || mixer.output_gate;
  Tensor q = project_heads("attn_q", "attn_q_norm", base, shape.num_heads, shape.head_dim_k,
                           has_norm, has_rope, shares_q);
  if (!has_rope && is(Rules::kScalesQueries)) {
    q = add(product(q_features, tokens_), GraphNode::kInPlace,
            {q, lazy_input(attention_scale_, product(tokens_, 4))});
  }
  // A fused row is q, k and v in turn; what nothing changes stays a part of it.
  const auto part_of_rows = [&](uint64_t others) {
    return part(base, nodes_[base / 2].bytes - others * 4);
  };
  const bool keeps_parts = mixer.fused_qkv && !has_rope && !has_norm;
  if (keeps_parts) q = part_of_rows(shape.k_elements + shape.v_elements);
  q = rotate_k(shape, inputs, q, q_features);
  if (shape.cache != LlamaCppCacheKind::none) {
    Tensor k = kNone;
    Tensor base_k = base;
    const auto make_k = [&] {
      if (!mixer.fused_qkv) base_k = multiply("attn_k", x, shape.k_elements, tokens_);
      k = project_heads("attn_k", "attn_k_norm", base_k, shape.num_kv_heads, shape.head_dim_k,
                        has_norm, has_rope, true);
      if (keeps_parts) k = part_of_rows(q_features + shape.v_elements);
      k = rotate_k(shape, inputs, k, shape.k_elements);
    };
    // Caches with windows write keys first.
    const bool keys_first = model_.window_tokens != 0;
    if (keys_first) make_k();
    if (rotates_v(shape)) lazy_input(inputs.v_rotation, kRotationOfValues * kRotationOfValues * 4);
    Tensor v = kNone;
    if (is(Rules::kNormsValues)) {
      const uint64_t elements = product(shape.v_elements, tokens_);
      v = mixer.v_equals_k ? base_k : multiply("attn_v", x, shape.v_elements, tokens_);
      v = add(elements, GraphNode::kInPlace, {view(v)});
    } else if (mixer.fused_qkv) {
      v = part_of_rows(q_features + shape.k_elements);
    } else {
      v = view(multiply("attn_v", x, shape.v_elements, tokens_));
    }
    v = rotate_v(shape, inputs, v, shape.v_elements);
    if (!keys_first) make_k();
    store_cached(shape, inputs, k, v, mixer.fused_qkv && !rotates_v(shape));
  }
  if (drops_attention()) return q;
  return attend_cached(shape, inputs, q,
                       mixer.has_sinks && has_host_weights_ ? weight("attn_sinks") : Weight{});
}

LlamaCppGraph::Tensor LlamaCppGraph::project_output(Tensor mixed) {
  const LlamaCppLayer& shape = model_.layers[layer_index_];
  const uint64_t features = shape.head_dim_v * shape.num_heads;
  mixed = rotate_v(shape, shape.is_windowed ? windowed_ : full_, mixed, features);
  if (attention_gate_ != kNone) {
    const uint64_t elements = product(features, tokens_);
    const Tensor gate = add(elements, 0, {view(attention_gate_)});
    mixed = add(elements, GraphNode::kInPlace, {mixed, gate});
  }
  return multiply("attn_output", mixed, hidden_, tokens_);
}

}  // namespace vramgauge

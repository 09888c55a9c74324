#include "model/weights.h"

#include "model/weights_layer.h"

namespace vramgauge {
namespace {

using Role = TensorRole;

std::string norm_name(size_t index, size_t count) {
  constexpr std::string_view kNames[] = {"input_layernorm", "post_attention_layernorm",
                                         "pre_feedforward_layernorm", "post_feedforward_layernorm"};
  if (count <= 4 && index < 4) return std::string(kNames[index]);
  return "norm_" + std::to_string(index);
}

void add_norms(LayerWeights& weights, const Layer& layer) {
  for (size_t i = 0; i < layer.norms.size(); ++i) {
    const std::string name = norm_name(i, layer.norms.size());
    weights.vector(name, Role::norm, layer.norms[i]);
    if (layer.norm_bias) weights.vector(name + ".bias", Role::norm, layer.norms[i]);
  }
}

void add_extra(LayerWeights& weights, const ExtraTensor& extra) {
  if (extra.is_matrix) {
    weights.matrix(extra.name, extra.role, extra.rows, extra.cols);
  } else {
    weights.plain(extra.name, extra.role, extra.rows, extra.cols);
  }
}

void add_layer(LayerWeights& weights, const Layer& layer) {
  add_norms(weights, layer);
  for (const Mixer& mixer : layer.mixers) {
    std::visit([&](const auto& m) { add_mixer_weights(weights, m); }, mixer);
  }
  add_ffn_weights(weights, layer.ffn);
  for (const ExtraTensor& extra : layer.extras)
    add_extra(weights, extra);
}

void add_embeddings(LayerWeights& weights, const ModelSpec& spec) {
  const uint64_t dim = spec.embedding_dim != 0 ? spec.embedding_dim : spec.hidden_size;
  weights.matrix("model.embed_tokens", Role::embedding, spec.vocab_size, dim);
  if (spec.position_embeddings != 0) {
    weights.matrix("model.embed_positions", Role::position_embedding, spec.position_embeddings,
                   spec.hidden_size);
  }
}

void add_head(LayerWeights& weights, const ModelSpec& spec) {
  if (spec.has_final_norm) {
    weights.vector("model.norm", Role::norm, spec.hidden_size);
    if (spec.norm_bias) weights.vector("model.norm.bias", Role::norm, spec.hidden_size);
  }
  for (const ExtraTensor& extra : spec.extras)
    add_extra(weights, extra);
  const uint64_t dim = spec.embedding_dim != 0 ? spec.embedding_dim : spec.hidden_size;
  if (!spec.tie_word_embeddings) weights.matrix("lm_head", Role::output, spec.vocab_size, dim);
  if (spec.output_bias) weights.vector("lm_head.bias", Role::output, spec.vocab_size);
}

void add_mtp(std::vector<WeightTensor>& out, const ModelSpec& spec) {
  const size_t first = out.size();
  for (size_t i = 0; i < spec.mtp_layers.size(); ++i) {
    const std::string index = std::to_string(spec.layers.size() + i);
    LayerWeights weights(out, "model.layers." + index + ".",
                         static_cast<int64_t>(spec.layers.size() + i), spec.hidden_size);
    add_layer(weights, spec.mtp_layers[i]);
  }
  for (size_t i = first; i < out.size(); ++i)
    out[i].role = Role::mtp;
}

}  // namespace

void LayerWeights::add(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols,
                       bool is_matrix) {
  if (rows == 0 || cols == 0) return;
  WeightTensor tensor;
  tensor.name = prefix_ + std::string(name);
  tensor.role = role;
  tensor.layer = layer_;
  tensor.rows = rows;
  tensor.cols = cols;
  tensor.is_matrix = is_matrix;
  out_.push_back(std::move(tensor));
}

void LayerWeights::matrix(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols,
                          bool bias) {
  add(name, role, rows, cols, true);
  if (bias) add(std::string(name) + ".bias", role, 1, rows, false);
}

void LayerWeights::vector(std::string_view name, TensorRole role, uint64_t elements) {
  add(name, role, 1, elements, false);
}

void LayerWeights::plain(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols) {
  add(name, role, rows, cols, false);
}

void LayerWeights::experts(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols,
                           uint64_t count, uint64_t active_count) {
  if (count == 0) return;
  add(name, role, rows, cols, rows != 1);
  out_.back().count = count;
  out_.back().active_count = active_count;
}

std::vector<WeightTensor> weight_tensors(const ModelSpec& spec) {
  std::vector<WeightTensor> out;
  LayerWeights model(out, "", -1, spec.hidden_size);
  add_embeddings(model, spec);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerWeights weights(out, "model.layers." + std::to_string(i) + ".", static_cast<int64_t>(i),
                         spec.hidden_size);
    add_layer(weights, spec.layers[i]);
  }
  add_head(model, spec);
  add_mtp(out, spec);
  for (const Tower& tower : spec.towers)
    out.insert(out.end(), tower.tensors.begin(), tower.tensors.end());
  return out;
}

}  // namespace vramgauge

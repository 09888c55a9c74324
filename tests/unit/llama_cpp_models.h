// Small models described by hand, as llama.cpp sees them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/llama_cpp_model.h"

namespace vramgauge::test {

inline LlamaCppTensor tensor_of(std::string name, uint64_t columns, uint64_t rows, GgmlType type) {
  LlamaCppTensor tensor;
  tensor.name = std::move(name);
  tensor.dims = {columns, rows, 1, 1};
  tensor.type = type;
  return tensor;
}

inline Layer attention_layer(uint64_t heads, uint64_t kv_heads, uint64_t head_dim,
                             uint64_t window_tokens = 0) {
  Attention attention;
  attention.num_heads = heads;
  attention.num_kv_heads = kv_heads;
  attention.head_dim = head_dim;
  attention.v_head_dim = head_dim;
  attention.window_tokens = window_tokens;
  DenseFfn ffn;
  ffn.intermediate_size = 14'336;
  Layer layer;
  layer.mixers.emplace_back(attention);
  layer.ffn = ffn;
  layer.norms = {4096, 4096};
  return layer;
}

/// A model without tensors.
inline LlamaCppModel model_of(std::string architecture, std::vector<Layer> layers,
                              std::vector<Layer> tail = {},
                              std::vector<LlamaCppTensor> tensors = {}) {
  ModelSpec spec;
  spec.hidden_size = 4096;
  spec.vocab_size = 128'256;
  spec.max_context_tokens = 131'072;
  spec.layers = std::move(layers);
  spec.mtp_layers = std::move(tail);
  return llama_cpp_model(std::move(architecture), std::move(spec), std::move(tensors)).value();
}

/// The shapes of Llama 3.1 8B in Q8_0 (its config.json).
inline LlamaCppModel llama_8b() {
  std::vector<LlamaCppTensor> tensors = {
      tensor_of("token_embd.weight", 4096, 128'256, GgmlType::q8_0),
      tensor_of("output.weight", 4096, 128'256, GgmlType::q8_0),
      tensor_of("output_norm.weight", 4096, 1, GgmlType::f32),
      tensor_of("rope_freqs.weight", 64, 1, GgmlType::f32),
  };
  for (int layer = 0; layer < 32; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const auto add = [&](const char* name, uint64_t columns, uint64_t rows) {
      tensors.push_back(tensor_of(prefix + name + ".weight", columns, rows, GgmlType::q8_0));
    };
    add("attn_q", 4096, 4096);
    add("attn_k", 4096, 1024);
    add("attn_v", 4096, 1024);
    add("attn_output", 4096, 4096);
    add("ffn_gate", 4096, 14'336);
    add("ffn_up", 4096, 14'336);
    add("ffn_down", 14'336, 4096);
  }
  return model_of("llama", std::vector<Layer>(32, attention_layer(32, 8, 128)), {},
                  std::move(tensors));
}

}  // namespace vramgauge::test

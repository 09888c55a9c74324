#include "engine/llama_cpp_cache.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kCpuAlignment = 32;
constexpr uint64_t kGpuAlignment = 128;
/// CUDA reads quantised rows in pieces of so many elements.
constexpr uint64_t kGpuRowElements = 512;
constexpr uint64_t kF32Bytes = 4;

/// Layers that only predict further tokens keep a cache as well, except in families whose memory
/// leaves them out (llama_model::create_memory).
bool has_tail_cache(std::string_view architecture) {
  return architecture != "qwen35" && architecture != "qwen35moe" && architecture != "step35";
}

/// Elements of one value as it is stored; a latent is a key alone.
uint64_t stored_v_elements(const LlamaCppModel& model, const LlamaCppContext& context,
                           const LlamaCppLayer& layer) {
  if (layer.cache == LlamaCppCacheKind::latent && !context.latent_values) return 0;
  return context.flash_attn ? layer.v_elements : model.widest_v_elements;
}

CheckedU64 kv_bytes(const LlamaCppModel& model, const LlamaCppContext& context,
                    const LlamaCppLayer& layer, uint64_t cells, bool is_on_gpu) {
  const CheckedU64 rows = CheckedU64(cells) * CheckedU64(context.n_streams);
  const uint64_t v_elements = stored_v_elements(model, context, layer);
  return llama_cpp_stored_bytes(context.type_k, layer.k_elements, rows, is_on_gpu) +
         llama_cpp_stored_bytes(context.type_v, v_elements, rows, is_on_gpu);
}

bool has_index_keys(const LlamaCppContext& context, const LlamaCppLayer& layer) {
  return context.memory_class == LlamaCppMemoryClass::dsa && layer.indexer_elements != 0;
}

CheckedU64 state_bytes(const LlamaCppContext& context, uint64_t elements, bool is_on_gpu) {
  const CheckedU64 states = CheckedU64(uint64_t{1}) + context.n_rs_seq;
  return llama_cpp_stored_bytes(GgmlType::f32, elements, states * context.n_seq_max, is_on_gpu);
}

}  // namespace

CheckedU64 llama_cpp_cell_bytes(const LlamaCppModel& model, const LlamaCppContext& context,
                                uint64_t layer) {
  const LlamaCppLayer& facts = model.layers[index_of(layer)];
  const bool is_full =
      facts.cache == LlamaCppCacheKind::full || facts.cache == LlamaCppCacheKind::latent;
  if (!is_full || (layer >= model.num_layers && !has_tail_cache(model.architecture)))
    return uint64_t{0};
  return row_bytes(context.type_k, facts.k_elements) +
         row_bytes(context.type_v, stored_v_elements(model, context, facts)) +
         row_bytes(context.type_k, has_index_keys(context, facts) ? facts.indexer_elements : 0);
}

CheckedU64 llama_cpp_stored_bytes(GgmlType type, uint64_t row_elements, CheckedU64 rows,
                                  bool is_on_gpu) {
  CheckedU64 bytes = row_bytes(type, row_elements) * rows;
  if (!is_on_gpu) return round_up(bytes, kCpuAlignment);
  const uint64_t tail = row_elements % kGpuRowElements;
  if (tail != 0 && ggml_type_info(type).is_quantized())
    bytes += row_bytes(type, kGpuRowElements - tail);
  return round_up(bytes, kGpuAlignment);
}

LlamaCppLayerBytes llama_cpp_layer_bytes(const LlamaCppModel& model, const LlamaCppContext& context,
                                         uint64_t layer, bool is_on_gpu) {
  LlamaCppLayerBytes bytes;
  if (layer >= model.num_layers && !has_tail_cache(model.architecture)) return bytes;
  const LlamaCppLayer& facts = model.layers[index_of(layer)];
  if (facts.cache == LlamaCppCacheKind::windowed) {
    bytes.windowed = kv_bytes(model, context, facts, context.cells_swa, is_on_gpu);
  } else if (facts.cache != LlamaCppCacheKind::none) {
    bytes.full = kv_bytes(model, context, facts, context.cells, is_on_gpu);
  }
  if (has_index_keys(context, facts)) {
    bytes.indexer = llama_cpp_stored_bytes(
        context.type_k, facts.indexer_elements,
        CheckedU64(context.cells) * CheckedU64(context.n_streams), is_on_gpu);
  }
  if (facts.is_recurrent) {
    bytes.state = state_bytes(context, facts.conv_elements, is_on_gpu) +
                  state_bytes(context, facts.state_elements, is_on_gpu);
  }
  return bytes;
}

CheckedU64 llama_cpp_output_bytes(const LlamaCppModel& model, const LlamaCppContext& context) {
  return CheckedU64(kF32Bytes) * CheckedU64(model.spec.vocab_size) * CheckedU64(context.n_seq_max);
}

}  // namespace vramgauge

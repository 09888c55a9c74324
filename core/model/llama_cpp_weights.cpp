#include "model/llama_cpp_weights.h"

#include <algorithm>
#include <iterator>

#include "import/gguf_tensors.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kCpuAlignment = 32;
constexpr uint64_t kGpuAlignment = 128;
/// CUDA reads quantised rows in pieces of so many elements; the last one is padded.
constexpr uint64_t kGpuRowElements = 512;
/// Rows that the repacked layouts interleave.
constexpr uint64_t kRepackRows = 8;

constexpr std::string_view kEmbedding = "token_embd.weight";

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// Looked up row by row, which no GPU backend does with these.
bool is_looked_up(std::string_view name) {
  return name == kEmbedding || name == "position_embd.weight" ||
         name == "per_layer_token_embd.weight" || name == "token_types.weight";
}

/// Tables of rotary frequencies, which each layer uses.
bool is_rotary_table(std::string_view name) { return name.substr(0, 5) == "rope_"; }

/// gemma-3n leaves its streams behind the last layer; LFM2 names its last norm after the embedding.
bool is_output(std::string_view name, std::string_view architecture) {
  if (name.substr(0, 6) == "output") return true;
  if (name == "altup_proj.weight" || name == "altup_unembd_proj.weight") return true;
  return name == "token_embd_norm.weight" && architecture.substr(0, 4) == "lfm2";
}

bool is_routed_expert(std::string_view name) {
  return contains(name, "_exps.") || contains(name, "_chexps.");
}

/// Types with a repacked layout on AVX2 (ggml/src/ggml-cpu/repack.cpp).
bool has_repacked_layout(GgmlType type) {
  return type == GgmlType::q4_0 || type == GgmlType::q4_k || type == GgmlType::iq4_nl ||
         type == GgmlType::mxfp4;
}

uint64_t num_dims(const LlamaCppTensor& tensor) {
  uint64_t count = 4;
  while (count > 1 && tensor.dims[index_of(count - 1)] == 1)
    --count;
  return count;
}

/// Only plain matrix products and the stacked products of experts read repacked matrices.
bool can_repack(const LlamaCppTensor& tensor) {
  if (!has_repacked_layout(tensor.type) || tensor.dims[1] % kRepackRows != 0) return false;
  return num_dims(tensor) == (is_routed_expert(tensor.name) ? 3U : 2U);
}

CheckedU64 stored_bytes(const LlamaCppTensor& tensor) {
  return row_bytes(tensor.type, tensor.dims[0]) * CheckedU64(tensor.dims[1]) *
         CheckedU64(tensor.dims[2]) * CheckedU64(tensor.dims[3]);
}

uint64_t cpu_bytes(const LlamaCppTensor& tensor) {
  return round_up(stored_bytes(tensor), kCpuAlignment).value_or(UINT64_MAX);
}

uint64_t gpu_bytes(const LlamaCppTensor& tensor) {
  CheckedU64 bytes = stored_bytes(tensor);
  const uint64_t tail = tensor.dims[0] % kGpuRowElements;
  if (ggml_type_info(tensor.type).is_quantized() && tail != 0)
    bytes += row_bytes(tensor.type, kGpuRowElements - tail);
  return round_up(bytes, kGpuAlignment).value_or(UINT64_MAX);
}

LlamaCppPlace place_of(std::string_view name, bool is_in_layer, std::string_view architecture) {
  if (is_looked_up(name)) return LlamaCppPlace::host;
  if (is_in_layer) return LlamaCppPlace::layer;
  if (is_rotary_table(name)) {
    return architecture == "gemma4" ? LlamaCppPlace::every_full_layer : LlamaCppPlace::every_layer;
  }
  return is_output(name, architecture) ? LlamaCppPlace::output : LlamaCppPlace::layer;
}

LlamaCppWeight weight_of(const std::vector<LlamaCppTensor>& tensors, size_t index,
                         std::string_view architecture) {
  const LlamaCppTensor& tensor = tensors[index];
  const auto in_layer = split_gguf_layer(tensor.name);
  LlamaCppWeight weight;
  weight.tensor = index;
  weight.place = place_of(tensor.name, in_layer.has_value(), architecture);
  weight.layer = in_layer ? in_layer->layer : 0;
  weight.cpu_bytes = cpu_bytes(tensor);
  weight.pinned_bytes = weight.cpu_bytes;
  weight.is_repacked = weight.place != LlamaCppPlace::host && can_repack(tensor);
  weight.gpu_bytes = weight.place == LlamaCppPlace::host ? weight.cpu_bytes : gpu_bytes(tensor);
  weight.is_expert = is_routed_expert(tensor.name);
  return weight;
}

/// These ask for the output before the embedding exists, so a tied one is not found in place and is
/// held twice, as a real load of gemma-3n confirms.
bool holds_tied_output_twice(std::string_view architecture) {
  return architecture == "gemma3n" || architecture == "gemma4";
}

/// A GPU needs its own copy of a tied output; the CPU reads the embedding, unless the matrix
/// product wants it repacked.
LlamaCppWeight tied_output(const std::vector<LlamaCppTensor>& tensors, size_t embedding,
                           std::string_view architecture) {
  const LlamaCppTensor& tensor = tensors[embedding];
  LlamaCppWeight weight;
  weight.tensor = embedding;
  weight.place = LlamaCppPlace::output;
  weight.is_repacked = can_repack(tensor);
  weight.pinned_bytes = holds_tied_output_twice(architecture) ? cpu_bytes(tensor) : 0;
  weight.cpu_bytes = weight.is_repacked ? cpu_bytes(tensor) : weight.pinned_bytes;
  weight.gpu_bytes = gpu_bytes(tensor);
  return weight;
}

}  // namespace

std::vector<LlamaCppWeight> llama_cpp_weights(std::string_view architecture, uint64_t num_layers,
                                              const std::vector<LlamaCppTensor>& tensors) {
  std::vector<LlamaCppWeight> weights;
  std::optional<size_t> embedding;
  bool has_output = false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto in_layer = split_gguf_layer(tensors[i].name);
    if (in_layer && in_layer->layer >= num_layers) continue;
    if (tensors[i].name == kEmbedding) embedding = i;
    has_output = has_output || tensors[i].name == "output.weight";
    weights.push_back(weight_of(tensors, i, architecture));
  }
  if (embedding && !has_output) weights.push_back(tied_output(tensors, *embedding, architecture));
  return weights;
}

std::optional<LlamaCppBuffers> llama_cpp_buffers(const std::vector<LlamaCppWeight>& weights) {
  CheckedU64 plain;
  CheckedU64 repacked;
  CheckedU64 device;
  CheckedU64 host;
  for (const LlamaCppWeight& weight : weights) {
    (weight.is_repacked ? repacked : plain) += weight.cpu_bytes;
    (weight.place == LlamaCppPlace::host ? host : device) += weight.gpu_bytes;
  }
  const auto sums = {bytes_of(plain), bytes_of(repacked), bytes_of(device), bytes_of(host)};
  if (std::any_of(sums.begin(), sums.end(), [](const auto& sum) { return !sum; }))
    return std::nullopt;
  const auto* sum = sums.begin();
  return LlamaCppBuffers{*sum[0], *sum[1], *sum[2], *sum[3]};
}

std::vector<LlamaCppTensor> llama_cpp_tensors(const GgufHeader& header) {
  std::vector<LlamaCppTensor> tensors;
  tensors.reserve(header.tensors.size());
  for (const GgufTensorInfo& info : header.tensors)
    tensors.push_back({info.name, info.dims, info.type});
  return tensors;
}

}  // namespace vramgauge

#include "support/small_models.h"

#include "support/gguf_writer.h"

namespace vramgauge::testing {
namespace {

constexpr uint64_t kAlignment = 32;

struct Tensor {
  std::string name;
  /// Innermost first; a vector has one.
  std::vector<uint64_t> dims;

  uint64_t elements() const {
    uint64_t product = 1;
    for (const uint64_t dim : dims)
      product *= dim;
    return product;
  }
};

std::vector<Tensor> gguf_tensors() {
  std::vector<Tensor> tensors = {
      {"token_embd.weight", {64, 100}}, {"output_norm.weight", {64}}, {"output.weight", {64, 100}}};
  for (const char* layer : {"blk.0.", "blk.1."}) {
    const std::string blk = layer;
    for (Tensor tensor : std::vector<Tensor>{{"attn_norm.weight", {64}},
                                             {"attn_q.weight", {64, 64}},
                                             {"attn_k.weight", {64, 32}},
                                             {"attn_v.weight", {64, 32}},
                                             {"attn_output.weight", {64, 64}},
                                             {"ffn_norm.weight", {64}},
                                             {"ffn_gate.weight", {64, 128}},
                                             {"ffn_up.weight", {64, 128}},
                                             {"ffn_down.weight", {128, 64}}}) {
      tensor.name = blk + tensor.name;
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

std::vector<Tensor> hf_tensors() {
  std::vector<Tensor> tensors = {{"model.embed_tokens.weight", {64, 100}},
                                 {"model.norm.weight", {64}},
                                 {"lm_head.weight", {64, 100}}};
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string prefix = layer;
    for (Tensor tensor : std::vector<Tensor>{{"input_layernorm.weight", {64}},
                                             {"self_attn.q_proj.weight", {64, 64}},
                                             {"self_attn.k_proj.weight", {64, 32}},
                                             {"self_attn.v_proj.weight", {64, 32}},
                                             {"self_attn.o_proj.weight", {64, 64}},
                                             {"post_attention_layernorm.weight", {64}},
                                             {"mlp.gate_proj.weight", {64, 128}},
                                             {"mlp.up_proj.weight", {64, 128}},
                                             {"mlp.down_proj.weight", {128, 64}}}) {
      tensor.name = prefix + tensor.name;
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

/// Every count-th tensor, from the index-th on.
std::vector<Tensor> part(const std::vector<Tensor>& all, uint64_t index, uint64_t count) {
  std::vector<Tensor> some;
  for (uint64_t i = index; i < all.size(); i += count)
    some.push_back(all[static_cast<size_t>(i)]);
  return some;
}

uint64_t padded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void write_keys(GgufWriter& writer, const SmallGguf& shape) {
  const std::string llama = "llama.";
  writer.text_key("general.architecture", "llama")
      .u32_key(llama + "block_count", 2)
      .u32_key(llama + "embedding_length", 64)
      .u32_key(llama + "feed_forward_length", 128)
      .u32_key(llama + "context_length", 4096)
      .u32_key(llama + "attention.head_count", 4)
      .u32_key(llama + "attention.head_count_kv", 2)
      .texts_key("tokenizer.ggml.tokens", shape.vocabulary,
                 std::string(static_cast<size_t>(shape.word_bytes), 'w'));
}

std::string gguf_header(const SmallGguf& shape, uint64_t& data_bytes) {
  const std::vector<Tensor> all = gguf_tensors();
  const std::vector<Tensor> tensors = part(all, shape.index, shape.count);
  const uint64_t num_keys = shape.count > 1 ? 11 : 8;
  GgufWriter writer(tensors.size(), num_keys);
  write_keys(writer, shape);
  if (shape.count > 1) {
    writer.key("split.no", GgufType::u16).number(shape.index, 2);
    writer.key("split.count", GgufType::u16).number(shape.count, 2);
    writer.key("split.tensors.count", GgufType::i32).u32(all.size());
  }
  data_bytes = 0;
  for (const Tensor& tensor : tensors) {
    writer.tensor(tensor.name, tensor.dims, 0, data_bytes);
    data_bytes += padded(4 * tensor.elements());
  }
  std::string bytes = writer.bytes();
  bytes.resize(static_cast<size_t>(padded(bytes.size())), '\0');
  return bytes;
}

uint64_t elements_of(const std::vector<Tensor>& tensors) {
  uint64_t sum = 0;
  for (const Tensor& tensor : tensors)
    sum += tensor.elements();
  return sum;
}

std::string entry(const Tensor& tensor, uint64_t begin) {
  std::string shape;
  for (auto dim = tensor.dims.rbegin(); dim != tensor.dims.rend(); ++dim)
    shape += (shape.empty() ? "" : ",") + std::to_string(*dim);
  return "\"" + tensor.name + R"(":{"dtype":"BF16","shape":[)" + shape + R"(],"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(begin + 2 * tensor.elements()) + "]}";
}

}  // namespace

std::string small_config() {
  return R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,)"
         R"("intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,)"
         R"("num_key_value_heads":2,"vocab_size":100,"max_position_embeddings":4096,)"
         R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})";
}

std::string small_gguf(const SmallGguf& shape) {
  uint64_t data_bytes = 0;
  std::string bytes = gguf_header(shape, data_bytes);
  return bytes.append(static_cast<size_t>(data_bytes), '\0');
}

uint64_t small_gguf_tensor_bytes() { return 4 * elements_of(gguf_tensors()); }

uint64_t small_gguf_header_bytes(const SmallGguf& shape) {
  uint64_t data_bytes = 0;
  return gguf_header(shape, data_bytes).size();
}

std::string safetensors_file(std::string_view json, uint64_t data_bytes) {
  std::string bytes;
  const uint64_t length = json.size();
  for (unsigned i = 0; i < 8; ++i)
    bytes.push_back(static_cast<char>(length >> (8 * i) & 0xFF));
  return bytes.append(json).append(static_cast<size_t>(data_bytes), '\0');
}

std::string small_safetensors(uint64_t index, uint64_t count) {
  std::string json;
  uint64_t end = 0;
  for (const Tensor& tensor : part(hf_tensors(), index, count)) {
    json += (json.empty() ? "{" : ",") + entry(tensor, end);
    end += 2 * tensor.elements();
  }
  return safetensors_file(json + "}", end);
}

std::string shard_name(uint64_t index, uint64_t count) {
  const auto five = [](uint64_t number) {
    std::string digits = std::to_string(number);
    return std::string(5 - digits.size(), '0') + digits;
  };
  return "model-" + five(index + 1) + "-of-" + five(count) + ".safetensors";
}

std::string small_index(uint64_t count) {
  std::string map;
  for (uint64_t i = 0; i < count; ++i) {
    for (const Tensor& tensor : part(hf_tensors(), i, count))
      map += (map.empty() ? "\"" : ",\"") + tensor.name + "\":\"" + shard_name(i, count) + "\"";
  }
  return R"({"metadata":{"total_size":)" + std::to_string(small_safetensors_bytes()) +
         R"(},"weight_map":{)" + map + "}}";
}

uint64_t small_safetensors_bytes() { return 2 * elements_of(hf_tensors()); }

}  // namespace vramgauge::testing

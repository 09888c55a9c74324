// Files of a model small enough to be written by hand: a Llama of two layers with hidden size 64,
// four heads and two KV heads of 16, 128 hidden units and a vocabulary of 100.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramgauge::testing {

/// A file that is held in memory.
struct MemoryFile {
  std::string name;
  std::string bytes;
};

/// config.json of the model, in bfloat16.
std::string small_config();

/// The model as one GGUF file in F32, or its `index`th file of `count`. Data are zeros.
/// `vocabulary` words of `word_bytes` stand in its header.
struct SmallGguf {
  uint64_t index = 0;
  uint64_t count = 1;
  uint64_t vocabulary = 100;
  uint64_t word_bytes = 4;
};
std::string small_gguf(const SmallGguf& shape = {});
/// Bytes of all tensors in F32, and the length of the header alone.
uint64_t small_gguf_tensor_bytes();
uint64_t small_gguf_header_bytes(const SmallGguf& shape = {});

/// The tensors of the model, the two layers' and the others, in BF16; `index`th file of `count`.
std::string small_safetensors(uint64_t index = 0, uint64_t count = 1);
/// model.safetensors.index.json for `count` files named by shard_name().
std::string small_index(uint64_t count);
std::string shard_name(uint64_t index, uint64_t count);
uint64_t small_safetensors_bytes();

/// A safetensors file with this header and `data_bytes` zeros.
std::string safetensors_file(std::string_view json, uint64_t data_bytes);

}  // namespace vramgauge::testing

// What safetensors files say before their data. The format: a length of 8 bytes, then so many bytes
// of JSON that give each tensor's type, shape and place (github.com/huggingface/safetensors).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "specs/stored_tensor.h"
#include "units/error.h"

namespace vramgauge {

/// The longest header that the format allows, in bytes.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;
inline constexpr uint64_t kMaxSafetensorsTensors = 1'000'000;

struct SafetensorsTensor {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  /// Product of the shape (1 for a scalar).
  uint64_t elements = 1;
  /// Place in the data part.
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
};

/// Header of one file; the tensors are in the order of their data and cover all of it.
struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Where the data begins in the file, and how long it is.
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
};

/// Bits of one element, or nothing for an unknown type.
std::optional<uint64_t> safetensors_dtype_bits(std::string_view dtype);

/// How much of the beginning of a file is its header, from its first 8 bytes.
Result<uint64_t> safetensors_header_length(std::string_view bytes);

/// Reads a header that lies whole in `bytes` (which may go on into the data). Entries that overlap,
/// leave holes or do not have the bytes of their shape and type are refused.
Result<SafetensorsHeader> read_safetensors_header(std::string_view bytes);

/// Error unless a file of that length holds exactly the data that its header describes.
Diagnostics check_safetensors_length(const SafetensorsHeader& header, uint64_t file_bytes);

/// model.safetensors.index.json: which file holds which tensor.
struct SafetensorsIndex {
  /// metadata.total_size, when it is there.
  std::optional<uint64_t> total_bytes;
  /// Tensor and file.
  std::vector<std::pair<std::string, std::string>> weight_map;
  /// The files, each once, sorted.
  std::vector<std::string> files;
};
Result<SafetensorsIndex> read_safetensors_index(std::string_view text);

/// A checkpoint put together from the headers of its files.
struct SafetensorsCheckpoint {
  std::vector<StoredTensor> tensors;
  /// Sum of the tensors' bytes.
  uint64_t total_bytes = 0;
  /// Tensors of a LoRA adapter, whose names end in lora_A, lora_B and the like.
  uint64_t num_adapter_tensors = 0;
  Diagnostics warnings;
};

struct SafetensorsFile {
  /// Name without folders.
  std::string name;
  SafetensorsHeader header;
};

/// What the model's configuration says, when it is known.
struct SafetensorsFacts {
  /// Decoder layers; layers behind them only predict further tokens. 0 = not known.
  uint64_t num_layers = 0;
  /// The output reads the embedding: a copy stored all the same is not loaded.
  bool is_tied = false;
};

/// Joins files, in any order. With an index, every tensor it names must be there. A second set of
/// the same weights (consolidated.*) is left out with a warning. Errors: a tensor in two files, a
/// file or tensor missing.
Result<SafetensorsCheckpoint> join_safetensors(std::vector<SafetensorsFile> files,
                                               const SafetensorsIndex* index,
                                               const SafetensorsFacts& facts = {});

}  // namespace vramgauge

// Building blocks of encoders: dimensions read with care, tensors written down in few words.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "specs/model_spec.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge::hf {

/// Reads the dimensions of one tower. A dimension that is missing and has no default does not end
/// the import: the tower is then not counted, and `missing` names the key.
class TowerDims {
 public:
  /// `object` may be null: then every dimension takes its default.
  TowerDims(const json::Value* object, std::string path, Diagnostics& errors);

  /// The first of `keys` that is given; else `fallback`; else 1, and the key is noted as missing.
  /// Values are at least 1 and at most 2^20; equal numbers in a list, such as [448, 448], are one.
  uint64_t dim(std::initializer_list<std::string_view> keys, std::optional<uint64_t> fallback = {});
  /// As `dim`, at most 4096: sizes of patches and filters, numbers of heads, tiles and channels.
  uint64_t few(std::initializer_list<std::string_view> keys, std::optional<uint64_t> fallback = {});
  /// A side in pixels, at most 2^14.
  uint64_t side(std::string_view key, std::optional<uint64_t> fallback = {});
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key);
  /// Number of items of a list; `fallback` when it is absent or not a list.
  uint64_t length(std::string_view key, uint64_t fallback);
  /// Product of the items of a short list of small integers, such as merge_kernel_size.
  uint64_t area(std::string_view key, std::optional<uint64_t> fallback = {});
  bool has(std::string_view key);

  const std::string& path() const { return reader_.path(); }
  /// The first dimension that was missing, or empty.
  const std::string& missing() const { return missing_; }

 private:
  uint64_t read(std::initializer_list<std::string_view> keys, std::optional<uint64_t> fallback,
                uint64_t most);
  /// The number that all items of a list are; nothing when the member is no list.
  std::optional<uint64_t> square(std::string_view key, uint64_t most);
  uint64_t absent(std::string_view key, std::optional<uint64_t> fallback);

  json::Value empty_ = json::Value::object();
  json::ObjectReader reader_;
  std::string missing_;
};

/// Collects the tensors of one tower. Everything added after `repeat(n)` exists n times. With the
/// role `other` (encoders of text), each tensor takes the role that its name tells.
class TowerBuilder {
 public:
  TowerBuilder(std::string prefix, TensorRole role) : prefix_(std::move(prefix)), role_(role) {}

  /// Names and roles of what follows.
  void section(std::string prefix, TensorRole role);
  void repeat(uint64_t times) { times_ = times; }

  /// A linear layer from `in` to `out` features.
  void linear(std::string_view name, uint64_t in, uint64_t out, bool has_bias);
  /// A convolution whose filters hold `filter_elements` each.
  void conv(std::string_view name, uint64_t out, uint64_t filter_elements, bool has_bias);
  /// A learned table, such as position embeddings.
  void table(std::string_view name, uint64_t rows, uint64_t cols);
  void vector(std::string_view name, uint64_t width);
  void norm(std::string_view name, uint64_t width, bool has_bias);

  std::vector<WeightTensor> take() { return std::move(tensors_); }

 private:
  void add(std::string_view name, uint64_t rows, uint64_t cols, bool is_matrix);

  std::string prefix_;
  TensorRole role_;
  uint64_t times_ = 1;
  std::vector<WeightTensor> tensors_;
};

/// Patches of a square image.
inline uint64_t num_patches(uint64_t image_size, uint64_t patch_size) {
  const uint64_t side = image_size / patch_size;
  return side * side;
}

/// What the usual transformer encoder layer leaves open.
struct EncoderLayer {
  uint64_t hidden_size = 0;
  uint64_t intermediate_size = 0;
  /// Width of all query heads and of all key (value) heads; 0 = hidden_size.
  uint64_t q_width = 0;
  uint64_t kv_width = 0;
  bool fused_qkv = false;
  bool qkv_bias = true;
  /// Keys never have a bias where this is false (Whisper).
  bool has_k_bias = true;
  bool o_bias = true;
  bool mlp_bias = true;
  bool is_gated = false;
  /// Norms of the layer carry a bias (LayerNorm) or not (RMSNorm).
  bool norm_bias = true;
  uint64_t num_norms = 2;
};

/// Adds `times` layers of that shape.
void add_encoder_layers(TowerBuilder& builder, const EncoderLayer& layer, uint64_t times);

}  // namespace vramgauge::hf

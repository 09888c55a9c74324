// One decoder layer from the tensors and keys of a GGUF header.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_architectures.h"
#include "import/gguf_header.h"
#include "specs/model_spec.h"
#include "units/error.h"

namespace vramgauge::gguf {

/// Upper bounds of what keys may say, far above any model: products of them cannot overflow.
inline constexpr uint64_t kMaxDim = uint64_t{1} << 28;
inline constexpr uint64_t kMaxHeads = 65'536;
inline constexpr uint64_t kMaxLayers = 10'000;

/// Reads the keys "ARCH.name" and collects what is wrong with them.
class Keys {
 public:
  Keys(const GgufHeader& header, std::string_view arch, Diagnostics& errors)
      : header_(header), prefix_(std::string(arch) + "."), errors_(errors) {}

  const std::string& prefix() const { return prefix_; }
  bool has(std::string_view name) const;
  /// Nothing when the key is missing; an error when it is no integer of 0 to max.
  std::optional<uint64_t> find(std::string_view name, uint64_t max = kMaxDim);
  /// The same from a number for all layers or a list with one item per layer.
  std::optional<uint64_t> find_at(std::string_view name, uint64_t layer, uint64_t max = kMaxDim);
  /// 0 and an error when the key is missing.
  uint64_t require(std::string_view name, uint64_t max = kMaxDim);
  void error(ErrorCode code, std::string_view name, ErrorArgs args = {});
  Diagnostics& errors() { return errors_; }

 private:
  std::optional<uint64_t> in_range(std::string_view name, std::optional<uint64_t> value,
                                   uint64_t max);

  const GgufHeader& header_;
  std::string prefix_;
  Diagnostics& errors_;
};

/// The tensors of one layer by the rest of their names ("attn_q.weight"); what has been taken is
/// accounted for.
class LayerTensors {
 public:
  void add(std::string_view rest, const GgufTensorInfo& tensor) { tensors_[rest] = {&tensor}; }
  bool empty() const { return tensors_.empty(); }
  bool has(std::string_view rest) const { return tensors_.count(rest) != 0; }
  const GgufTensorInfo* find(std::string_view rest) const;
  /// The tensor, now accounted for; null when there is none.
  const GgufTensorInfo* take(std::string_view rest);
  /// The same; true when it was there.
  bool claim(std::string_view rest) { return take(rest) != nullptr; }
  /// Everything that has not been taken, by name.
  std::vector<const GgufTensorInfo*> rest() const;
  /// Takes the tensors whose names begin so; returns the first.
  const GgufTensorInfo* take_all(std::string_view prefix);
  bool has_prefix(std::string_view prefix) const;

 private:
  struct Slot {
    const GgufTensorInfo* tensor = nullptr;
    bool is_taken = false;
  };
  std::map<std::string_view, Slot, std::less<>> tensors_;
};

/// What one layer keeps of the context.
struct Span {
  uint64_t window_tokens = 0;
  uint64_t chunk_tokens = 0;
  std::optional<uint64_t> shared_with;
};

/// What the layers of a model have in common.
struct LayerContext {
  Keys& keys;
  const Architecture& architecture;
  uint64_t hidden_size = 0;
};

/// The mixers of a layer, their tensors taken.
std::vector<Mixer> read_mixers(LayerContext& context, LayerTensors& tensors, uint64_t layer,
                               const Span& span);
/// gguf_recurrent.cpp: a recurrent mixer, or nothing when the layer has none.
std::optional<Mixer> read_recurrent(LayerContext& context, LayerTensors& tensors, uint64_t layer);
/// gguf_ffn.cpp
Ffn read_ffn(LayerContext& context, LayerTensors& tensors);

/// Widths that must agree; reports the tensor and the key otherwise.
bool check_width(LayerContext& context, const GgufTensorInfo& tensor, uint64_t found,
                 std::string_view key, uint64_t expected);

}  // namespace vramgauge::gguf

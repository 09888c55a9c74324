// Adding the tensors of one layer; shared by the files that enumerate weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "specs/model_spec.h"

namespace vramgauge {

/// Collects the tensors of one layer under its name prefix.
class LayerWeights {
 public:
  LayerWeights(std::vector<WeightTensor>& out, std::string prefix, int64_t layer,
               uint64_t hidden_size)
      : out_(out), prefix_(std::move(prefix)), layer_(layer), hidden_size_(hidden_size) {}

  uint64_t hidden_size() const { return hidden_size_; }
  /// A matrix of `rows` output and `cols` input features, with a bias vector of `rows` if asked.
  void matrix(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols,
              bool bias = false);
  void vector(std::string_view name, TensorRole role, uint64_t elements);
  /// A tensor that is never quantised although it has two dimensions (convolutions, state
  /// matrices).
  void plain(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols);
  /// `count` equal matrices, of which a token uses `active_count`.
  void experts(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols, uint64_t count,
               uint64_t active_count);

 private:
  void add(std::string_view name, TensorRole role, uint64_t rows, uint64_t cols, bool is_matrix);

  std::vector<WeightTensor>& out_;
  std::string prefix_;
  int64_t layer_;
  uint64_t hidden_size_;
};

void add_mixer_weights(LayerWeights& layer, const Attention& attention);
void add_mixer_weights(LayerWeights& layer, const LatentAttention& attention);
void add_mixer_weights(LayerWeights& layer, const CompressedAttention& attention);
// weights_recurrent.cpp
void add_mixer_weights(LayerWeights& layer, const Mamba1& mixer);
void add_mixer_weights(LayerWeights& layer, const Mamba2& mixer);
void add_mixer_weights(LayerWeights& layer, const GatedDelta& mixer);
void add_mixer_weights(LayerWeights& layer, const LinearAttention& mixer);
void add_mixer_weights(LayerWeights& layer, const ShortConv& mixer);
void add_mixer_weights(LayerWeights& layer, const Rwkv& mixer);
void add_mixer_weights(LayerWeights& layer, const GatedLru& mixer);

/// Feed-forward block of a layer.
void add_ffn_weights(LayerWeights& layer, const Ffn& ffn);

}  // namespace vramgauge

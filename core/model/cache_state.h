// Elements of the recurrent state that each kind of mixer carries from token to token.
#pragma once

#include <string_view>

#include "specs/model_spec.h"
#include "units/checked.h"

namespace vramgauge {

/// The state of one layer for one request, in elements of one rank.
struct StateShape {
  std::string_view mixer;
  /// The tail of a convolution, or the last token of a token shift.
  CheckedU64 conv_elements;
  /// What the recurrence itself accumulates.
  CheckedU64 temporal_elements;
};

/// Channels are divided over the ranks. Conv: (d_conv - 1) x d_inner; temporal: d_inner x d_state.
StateShape state_shape(const Mamba1& mixer, CheckedU64 tensor_parallel);
/// Heads are divided; groups too, but each rank needs at least one.
/// Conv: (d_conv - 1) x (d_inner + 2 x groups x d_state); temporal: heads x head_dim x d_state.
StateShape state_shape(const Mamba2& mixer, CheckedU64 tensor_parallel);
/// Conv over q, k and v: (d_conv - 1) x (2 x k_heads x k_dim + v_heads x v_dim), in one convolution
/// or three; temporal: v_heads x k_dim x v_dim.
StateShape state_shape(const GatedDelta& mixer, CheckedU64 tensor_parallel);
/// Temporal: heads x head_dim x head_dim.
StateShape state_shape(const LinearAttention& mixer, CheckedU64 tensor_parallel);
/// Conv: (d_conv - 1) x dim.
StateShape state_shape(const ShortConv& mixer, CheckedU64 tensor_parallel);
/// Two shifted tokens of hidden_size, whole on every rank; temporal: heads x head_dim x head_dim,
/// or three vectors of hidden_size in version 4.
StateShape state_shape(const Rwkv& mixer, CheckedU64 tensor_parallel);

/// Channels are divided. Conv: (d_conv - 1) x width; temporal: width.
StateShape state_shape(const GatedLru& mixer, CheckedU64 tensor_parallel);

/// The unfinished entry that a compressor of DeepSeek-V4 carries: a key and a score, both fp32, for
/// each token of the entry; at a ratio of 4 entries overlap, which doubles tokens and width.
/// Elements of `width` = head_dim of what is compressed.
CheckedU64 compressor_state_elements(CheckedU64 width, uint64_t compress_ratio);

}  // namespace vramgauge

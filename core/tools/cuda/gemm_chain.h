// One layer's matrix products at the size of a prefill, on a real device.
#pragma once

#include <cstdint>
#include <string>

namespace vramgauge::tools {

/// Sizes in elements; everything is bfloat16.
struct GemmChainShape {
  int device = 0;
  uint64_t tokens = 0;
  uint64_t hidden_size = 0;
  uint64_t intermediate_size = 0;
};

struct GemmChainResult {
  /// Empty when everything went well.
  std::string error;
  std::string gpu;
  /// The largest workspace that cuBLASLt chose for one of the products.
  uint64_t workspace_bytes = 0;
  /// The most scratch that was held at once, workspace included, weights not.
  uint64_t peak_bytes = 0;
};

/// Runs norm, attention projections, gate, up, activation and down as engines do: each buffer lives
/// from the product that writes it to the last that reads it. What was held is read from the
/// device's own memory pool.
GemmChainResult run_gemm_chain(const GemmChainShape& shape);

}  // namespace vramgauge::tools

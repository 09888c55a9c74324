// A tensor as a checkpoint's own header lists it: nothing about its size is derived.
#pragma once

#include <cstdint>
#include <string>

#include "specs/model_spec.h"

namespace vramgauge {

/// One tensor of a file, with its name, role, layer and shape in `weight`. Experts that a file
/// stacks are one tensor whose weight.count is their number.
struct StoredTensor {
  /// Name after normalisation, as weight_tensors() names what it derives; the file's own name where
  /// the name is not known.
  WeightTensor weight;
  std::string file_name;
  /// Storage type as the file names it: "Q4_K", "BF16", "F8_E4M3".
  std::string dtype;
  uint64_t bytes = 0;
  /// Elements; packed types hold several in one stored number, which this does not unpack.
  uint64_t elements = 0;
};

}  // namespace vramgauge

// The scratch of a prefill, measured on a device by a build with the CUDA toolkit.
#pragma once

#include <cstdint>

#include "driver_error.h"
#include "units/json.h"

namespace vramgauge::tools {

/// The matrices of one layer, and how much is prefilled.
struct PrefillShape {
  int device = 0;
  uint64_t tokens = 8192;
  uint64_t hidden_size = 8192;
  uint64_t intermediate_size = 28672;
};

/// What a chain of matrix products took: {"engine": "generic", "gpu", "shape", "workspace_bytes",
/// "peak_bytes", "live_buffers", "scenario_patch": {"live_buffers"}}. live_buffers is what the rule
/// of thumb multiplies tokens x (hidden + intermediate) x 2 bytes by. Error calibrate.no_toolkit in
/// a build without -DVRAMGAUGE_CUDA=ON.
DriverResult<json::Value> measure_device(const PrefillShape& shape);

}  // namespace vramgauge::tools

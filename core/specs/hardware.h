// The memory of a device: what the driver reports and what a process can get of it.
#pragma once

#include <string>

#include "specs/breakdown.h"
#include "units/json.h"

namespace vramgauge {

/// One kind of device.
struct HardwareSpec {
  std::string id;
  std::string name;
  /// What the driver's tools report.
  Bytes capacity;
  /// Total that the runtime (CUDA, HIP, Metal) offers to a process; capacity when it is not known.
  Bytes usable;
  Basis basis = Basis::measured;
  std::string source;
};

/// Reads a GPU of the catalogue (presets/gpus.json).
Result<HardwareSpec> parse_hardware(const json::Value& entry);

/// A device of `memory` that is not in the catalogue.
HardwareSpec custom_hardware(Bytes memory);

}  // namespace vramgauge

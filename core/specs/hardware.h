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
  std::string vendor;
  /// Ten times CUDA's compute capability: 90 is Hopper; 0 = not known, or not CUDA.
  uint64_t compute_capability = 0;
  /// Streaming multiprocessors, or compute units; 0 = not known.
  uint64_t multiprocessors = 0;
  /// What others hold of it before an engine starts: on machines that share their memory what the
  /// system is taken to, unless the scenario says how much it is.
  Bytes held;
  /// The setting that limits the GPU's part of shared memory; empty = none.
  std::string limit_setting;
  /// What error correction takes where it is off by default; 0 = on, or none.
  Bytes error_correction;
  /// A card of desktops and notebooks: other programs draw on it, and Windows keeps a part.
  bool is_desktop = false;
};

/// The same to an engine that looks at free memory alone: what others hold is taken off.
HardwareSpec without_held(HardwareSpec hardware);

/// Reads a GPU of the catalogue (presets/gpus.json).
Result<HardwareSpec> parse_hardware(const json::Value& entry);

/// A device of `memory` that is not in the catalogue.
HardwareSpec custom_hardware(Bytes memory);

}  // namespace vramgauge

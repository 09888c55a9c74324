// What this machine's GPUs really have, measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver_cuda.h"
#include "driver_nvml.h"
#include "units/json.h"

namespace vramgauge::tools {

/// How far the probe goes.
enum class ProbeDepth {
  look,     ///< nothing is taken on any device, where NVML says what is free
  context,  ///< a context is created and released, which shows what it costs
  all,      ///< and the largest single allocation is tried, on devices that nobody else uses
};

struct ProbedDevice {
  CudaDevice cuda;
  /// Physical memory as the driver's tools print it; CUDA's total where NVML is missing.
  uint64_t total_bytes = 0;
  std::optional<uint64_t> reserved_bytes;
  /// Free for the next process, before it has a context.
  uint64_t free_bytes = 0;
  /// False where only a process with a context could ask: then the context is already taken off.
  bool is_free_before_context = true;
  std::string ecc;
  std::string compute_mode;
  std::optional<bool> has_display;
  bool is_slice = false;
  std::string mig_mode;
  std::vector<MigSlice> slices;
  /// Other processes on the device.
  std::vector<DeviceProcess> processes;
  unsigned nvlinks = 0;
  std::optional<uint64_t> context_bytes;
  std::optional<uint64_t> largest_allocation_bytes;
};

struct ProbedLink {
  int a = 0;
  int b = 0;
  bool has_peer_access = false;
  /// NVLinks that join the two directly.
  unsigned nvlinks = 0;
  /// The way over PCIe; empty when it is not known.
  std::string path;
};

struct ProbedMachine {
  std::string driver_version;
  std::string cuda_version;
  std::string nvml_version;
  /// CUDA_VISIBLE_DEVICES; nothing when it is not set.
  std::optional<std::string> visible_devices;
  std::vector<ProbedDevice> devices;
  std::vector<ProbedLink> links;
  /// What could not be asked.
  std::vector<DriverError> warnings;
};

/// The libraries, opened once.
struct Drivers {
  std::unique_ptr<Cuda> cuda;
  /// Null when it is missing; `nvml_error` then says why.
  std::unique_ptr<Nvml> nvml;
  DriverError nvml_error;

  static DriverResult<Drivers> open();
};

/// Looks at every device that this process may use.
DriverResult<ProbedMachine> probe_machine(const Drivers& drivers, ProbeDepth depth);

}  // namespace vramgauge::tools

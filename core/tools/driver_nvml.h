// NVIDIA's management library, opened at run time: free bytes without a context, other processes,
// slices and links. All of it may be missing, as in a container that was given compute only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver_error.h"

namespace vramgauge::tools {

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct NvmlMemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};

struct NvmlProcess {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct NvmlPciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

/// The functions of the library; those that are not required may be null.
struct NvmlApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator
#define X(member, symbol, required, parameters) int(*member) parameters = nullptr;
#include "driver_nvml.def"
#undef X
};

struct DeviceMemory {
  /// Physical memory as the driver's tools print it.
  uint64_t total_bytes = 0;
  /// Kept by the driver itself; nothing when an older library does not say.
  std::optional<uint64_t> reserved_bytes;
  uint64_t free_bytes = 0;
};

struct DeviceProcess {
  uint32_t pid = 0;
  /// Nothing where the driver does not say.
  std::optional<uint64_t> used_bytes;
  bool is_graphics = false;
};

struct MigSlice {
  std::string uuid;
  std::optional<DeviceMemory> memory;
};

/// Where data between two devices passes, from near to far, as nvidia-smi topo names it.
std::string topology_name(unsigned level);

/// The library, started. A question that cannot be answered is answered with nothing.
class Nvml {
 public:
  using Device = void*;

  /// Opens VRAMGAUGE_NVML_LIBRARY, or libnvidia-ml.so.1, and starts it.
  static DriverResult<std::unique_ptr<Nvml>> open();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  std::string driver_version() const;
  std::string version() const;

  /// The device of a UUID, or of a bus id when that finds nothing.
  std::optional<Device> find(const std::string& uuid, const std::string& pci_bus_id) const;
  std::optional<DeviceMemory> memory(Device device) const;
  std::vector<DeviceProcess> processes(Device device) const;
  /// "on" or "off".
  std::optional<std::string> ecc(Device device) const;
  /// "default", "exclusive_thread", "prohibited" or "exclusive_process".
  std::optional<std::string> compute_mode(Device device) const;
  std::optional<bool> has_display(Device device) const;
  bool is_slice(Device device) const;
  /// The GPU that a slice belongs to; the device itself when it is none.
  Device parent(Device device) const;
  /// "on" or "off"; nothing for a GPU that cannot be divided.
  std::optional<std::string> mig_mode(Device device) const;
  std::vector<MigSlice> slices(Device device) const;
  /// Level of the nearest common ancestor of two devices.
  std::optional<unsigned> common_ancestor(Device a, Device b) const;
  /// Active NVLinks that end at the other device.
  unsigned nvlinks_between(Device a, Device b) const;
  /// Active NVLinks of a device, whatever they end at: a switch, mostly.
  unsigned nvlinks(Device device) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  using ListProcesses = int (*)(void*, unsigned*, NvmlProcess*);
  void add_processes(Device device, ListProcesses list, bool is_graphics,
                     std::vector<DeviceProcess>& out) const;
  bool is_link_active(Device device, unsigned link) const;

  NvmlApi api_;
};

}  // namespace vramgauge::tools

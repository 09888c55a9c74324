#include "driver_nvml.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "driver_library.h"

namespace vramgauge::tools {
namespace {

// Values of nvml.h.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned kMaxLinks = 36;
constexpr unsigned kMemoryV2 = sizeof(NvmlMemoryV2) | (2U << 24);
constexpr unsigned long long kNotAvailable = ~0ULL;

constexpr unsigned kTextBytes = 96;
/// More processes than this are not listed.
constexpr unsigned kMaxProcesses = 1024;
constexpr unsigned kMaxSlices = 64;

DriverResult<NvmlApi> find_functions(const SharedLibrary& library) {
  NvmlApi api;
#define X(member, symbol, required, parameters) \
  library.find(#symbol, api.member);            \
  if ((required) && api.member == nullptr)      \
    return tl::unexpected(DriverError{"driver.unusable", "NVML has no " #symbol, ""});
#include "driver_nvml.def"
#undef X
  return api;
}

std::optional<std::string> on_or_off(int status, unsigned value) {
  if (status != kSuccess) return std::nullopt;
  return std::string(value != 0 ? "on" : "off");
}

}  // namespace

std::string topology_name(unsigned level) {
  switch (level) {
    case 0: return "same board";
    case 10: return "one PCIe switch";
    case 20: return "PCIe switches";
    case 30: return "one PCIe host bridge";
    case 40: return "one NUMA node";
    case 50: return "between NUMA nodes";
    default: return "unknown";
  }
}

DriverResult<std::unique_ptr<Nvml>> Nvml::open() {
  std::string reason;
  const auto library = SharedLibrary::open(
      library_names("VRAMGAUGE_NVML_LIBRARY", {"libnvidia-ml.so.1", "libnvidia-ml.so"}), reason);
  if (!library)
    return tl::unexpected(DriverError{"driver.missing", "NVML was not found: " + reason, ""});
  const DriverResult<NvmlApi> api = find_functions(*library);
  if (!api) return tl::unexpected(api.error());
  if (const int status = api->init(); status != kSuccess) {
    return tl::unexpected(
        DriverError{"driver.unusable", fmt::format("nvmlInit answered {}", status), ""});
  }
  return std::unique_ptr<Nvml>(new Nvml(*api));
}

Nvml::~Nvml() { api_.shutdown(); }

std::string Nvml::driver_version() const {
  char text[kTextBytes] = {};
  return api_.get_driver_version(text, kTextBytes - 1) == kSuccess ? text : "";
}

std::string Nvml::version() const {
  char text[kTextBytes] = {};
  if (api_.get_version == nullptr || api_.get_version(text, kTextBytes - 1) != kSuccess) return "";
  return text;
}

std::optional<Nvml::Device> Nvml::find(const std::string& uuid,
                                       const std::string& pci_bus_id) const {
  Device device = nullptr;
  if (!uuid.empty() && api_.get_device_by_uuid(uuid.c_str(), &device) == kSuccess) return device;
  if (!pci_bus_id.empty() && api_.get_device_by_bus_id(pci_bus_id.c_str(), &device) == kSuccess)
    return device;
  return std::nullopt;
}

std::optional<DeviceMemory> Nvml::memory(Device device) const {
  NvmlMemoryV2 newer = {};
  newer.version = kMemoryV2;
  if (api_.get_memory_v2 != nullptr && api_.get_memory_v2(device, &newer) == kSuccess)
    return DeviceMemory{newer.total, newer.reserved, newer.free};
  NvmlMemory older = {};
  if (api_.get_memory(device, &older) != kSuccess) return std::nullopt;
  return DeviceMemory{older.total, std::nullopt, older.free};
}

void Nvml::add_processes(Device device, ListProcesses list, bool is_graphics,
                         std::vector<DeviceProcess>& out) const {
  if (list == nullptr) return;
  std::vector<NvmlProcess> found(kMaxProcesses);
  unsigned count = kMaxProcesses;
  const int status = list(device, &count, found.data());
  if (status != kSuccess && status != kInsufficientSize) return;
  found.resize(std::min(count, kMaxProcesses));
  for (const NvmlProcess& process : found) {
    DeviceProcess entry;
    entry.pid = process.pid;
    if (process.used_bytes != kNotAvailable) entry.used_bytes = process.used_bytes;
    entry.is_graphics = is_graphics;
    out.push_back(entry);
  }
}

std::vector<DeviceProcess> Nvml::processes(Device device) const {
  std::vector<DeviceProcess> out;
  const auto either = [](ListProcesses newer, ListProcesses older) {
    return newer != nullptr ? newer : older;
  };
  add_processes(device, either(api_.get_compute_processes, api_.get_compute_processes_v2), false,
                out);
  add_processes(device, either(api_.get_graphics_processes, api_.get_graphics_processes_v2), true,
                out);
  return out;
}

std::optional<std::string> Nvml::ecc(Device device) const {
  unsigned current = 0;
  unsigned pending = 0;
  if (api_.get_ecc_mode == nullptr) return std::nullopt;
  const int status = api_.get_ecc_mode(device, &current, &pending);
  return on_or_off(status, current);
}

std::optional<std::string> Nvml::compute_mode(Device device) const {
  constexpr std::string_view kModes[] = {"default", "exclusive_thread", "prohibited",
                                         "exclusive_process"};
  unsigned mode = 0;
  if (api_.get_compute_mode == nullptr || api_.get_compute_mode(device, &mode) != kSuccess ||
      mode >= std::size(kModes))
    return std::nullopt;
  return std::string(kModes[mode]);
}

std::optional<bool> Nvml::has_display(Device device) const {
  unsigned is_active = 0;
  if (api_.get_display_active == nullptr || api_.get_display_active(device, &is_active) != kSuccess)
    return std::nullopt;
  return is_active != 0;
}

bool Nvml::is_slice(Device device) const {
  unsigned is_mig = 0;
  return api_.is_mig_device != nullptr && api_.is_mig_device(device, &is_mig) == kSuccess &&
         is_mig != 0;
}

Nvml::Device Nvml::parent(Device device) const {
  Device whole = nullptr;
  const bool is_found = is_slice(device) && api_.get_parent_device != nullptr &&
                        api_.get_parent_device(device, &whole) == kSuccess;
  return is_found ? whole : device;
}

std::optional<std::string> Nvml::mig_mode(Device device) const {
  unsigned current = 0;
  unsigned pending = 0;
  if (api_.get_mig_mode == nullptr) return std::nullopt;
  const int status = api_.get_mig_mode(device, &current, &pending);
  return on_or_off(status, current);
}

std::vector<MigSlice> Nvml::slices(Device device) const {
  std::vector<MigSlice> out;
  unsigned most = 0;
  if (api_.get_max_mig_devices == nullptr || api_.get_mig_device == nullptr ||
      api_.get_max_mig_devices(device, &most) != kSuccess)
    return out;
  for (unsigned i = 0; i < std::min(most, kMaxSlices); ++i) {
    Device slice = nullptr;
    if (api_.get_mig_device(device, i, &slice) != kSuccess) continue;
    char uuid[kTextBytes] = {};
    if (api_.get_uuid(slice, uuid, kTextBytes - 1) != kSuccess) continue;
    out.push_back({uuid, memory(slice)});
  }
  return out;
}

std::optional<unsigned> Nvml::common_ancestor(Device a, Device b) const {
  unsigned level = 0;
  if (api_.get_common_ancestor == nullptr || api_.get_common_ancestor(a, b, &level) != kSuccess)
    return std::nullopt;
  return level;
}

bool Nvml::is_link_active(Device device, unsigned link) const {
  unsigned is_active = 0;
  return api_.get_nvlink_state != nullptr &&
         api_.get_nvlink_state(device, link, &is_active) == kSuccess && is_active != 0;
}

unsigned Nvml::nvlinks(Device device) const {
  unsigned count = 0;
  for (unsigned link = 0; link < kMaxLinks; ++link)
    count += is_link_active(device, link) ? 1 : 0;
  return count;
}

unsigned Nvml::nvlinks_between(Device a, Device b) const {
  NvmlPciInfo other = {};
  if (api_.get_pci_info == nullptr || api_.get_nvlink_remote == nullptr ||
      api_.get_pci_info(b, &other) != kSuccess)
    return 0;
  unsigned count = 0;
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    NvmlPciInfo remote = {};
    const bool ends_there =
        is_link_active(a, link) && api_.get_nvlink_remote(a, link, &remote) == kSuccess &&
        remote.domain == other.domain && remote.bus == other.bus && remote.device == other.device;
    count += ends_there ? 1 : 0;
  }
  return count;
}

}  // namespace vramgauge::tools

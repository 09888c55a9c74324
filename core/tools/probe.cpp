#include "probe.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace vramgauge::tools {
namespace {

/// How close the largest allocation is searched.
constexpr uint64_t kSearchStepBytes = uint64_t{32} << 20;

/// Fills in what NVML knows of one device.
void ask_nvml(const Nvml& nvml, ProbedDevice& device) {
  const auto handle = nvml.find(device.cuda.uuid, device.cuda.pci_bus_id);
  if (!handle) return;
  if (const auto memory = nvml.memory(*handle)) {
    device.total_bytes = memory->total_bytes;
    device.reserved_bytes = memory->reserved_bytes;
    device.free_bytes = memory->free_bytes;
    device.is_free_before_context = true;
  }
  device.is_slice = nvml.is_slice(*handle);
  const Nvml::Device whole = nvml.parent(*handle);
  device.ecc = nvml.ecc(whole).value_or(device.ecc);
  device.compute_mode = nvml.compute_mode(whole).value_or("");
  device.has_display = nvml.has_display(whole);
  device.mig_mode = nvml.mig_mode(whole).value_or("");
  if (device.mig_mode == "on") device.slices = nvml.slices(whole);
  device.nvlinks = nvml.nvlinks(whole);
  device.processes = nvml.processes(*handle);
  const auto own = static_cast<uint32_t>(getpid());
  device.processes.erase(
      std::remove_if(device.processes.begin(), device.processes.end(),
                     [own](const DeviceProcess& process) { return process.pid == own; }),
      device.processes.end());
}

/// Free bytes by NVML, now.
std::optional<uint64_t> free_now(const Nvml* nvml, const ProbedDevice& device) {
  if (nvml == nullptr) return std::nullopt;
  const auto handle = nvml->find(device.cuda.uuid, device.cuda.pci_bus_id);
  const auto memory = handle ? nvml->memory(*handle) : std::nullopt;
  if (!memory) return std::nullopt;
  return memory->free_bytes;
}

bool can_allocate(const CudaContext& context, uint64_t bytes) {
  return bytes != 0 && context.allocate(bytes).has_value();
}

/// The largest buffer that one call gives, to within a step.
uint64_t largest_allocation(const CudaContext& context, uint64_t free_bytes) {
  if (can_allocate(context, free_bytes)) return free_bytes;
  uint64_t fits = 0;
  uint64_t fails = free_bytes;
  while (fails - fits > kSearchStepBytes) {
    const uint64_t middle = fits + (fails - fits) / 2;
    (can_allocate(context, middle) ? fits : fails) = middle;
  }
  return fits;
}

/// What needs a context of this process.
DriverResult<void> measure(const Drivers& drivers, bool tries_allocation, ProbedDevice& device) {
  const auto before = free_now(drivers.nvml.get(), device);
  const auto context = CudaContext::retain(*drivers.cuda, device.cuda.ordinal);
  if (!context) return tl::unexpected(context.error());
  const auto memory = context->memory();
  if (!memory) return tl::unexpected(memory.error());
  if (const auto after = free_now(drivers.nvml.get(), device); before && after)
    device.context_bytes = *before > *after ? *before - *after : 0;
  if (!before) {
    device.free_bytes = memory->free_bytes;
    device.is_free_before_context = false;
  }
  // What others might need is not tried.
  if (tries_allocation && device.processes.empty())
    device.largest_allocation_bytes = largest_allocation(*context, memory->free_bytes);
  return {};
}

ProbedLink link_between(const Drivers& drivers, const ProbedDevice& a, const ProbedDevice& b) {
  ProbedLink link;
  link.a = a.cuda.ordinal;
  link.b = b.cuda.ordinal;
  link.has_peer_access = drivers.cuda->has_peer_access(link.a, link.b);
  if (drivers.nvml == nullptr) return link;
  const auto first = drivers.nvml->find(a.cuda.uuid, a.cuda.pci_bus_id);
  const auto second = drivers.nvml->find(b.cuda.uuid, b.cuda.pci_bus_id);
  if (!first || !second) return link;
  const Nvml::Device whole = drivers.nvml->parent(*first);
  const Nvml::Device other = drivers.nvml->parent(*second);
  link.nvlinks = drivers.nvml->nvlinks_between(whole, other);
  if (const auto level = drivers.nvml->common_ancestor(whole, other))
    link.path = topology_name(*level);
  return link;
}

DriverResult<ProbedDevice> probe_device(const Drivers& drivers, int ordinal, ProbeDepth depth,
                                        std::vector<DriverError>& warnings) {
  auto cuda = drivers.cuda->device(ordinal);
  if (!cuda) return tl::unexpected(cuda.error());
  ProbedDevice device;
  device.total_bytes = cuda->total_bytes;
  device.is_free_before_context = false;
  device.ecc = cuda->has_ecc ? "on" : "off";
  device.is_slice = cuda->uuid.rfind("MIG-", 0) == 0;
  device.cuda = std::move(*cuda);
  if (drivers.nvml != nullptr) ask_nvml(*drivers.nvml, device);
  if (depth == ProbeDepth::look && device.is_free_before_context) return device;
  // A device that refuses a context (exclusive, prohibited, no memory left) is still reported.
  if (auto measured = measure(drivers, depth == ProbeDepth::all, device); !measured) {
    if (!device.is_free_before_context) return tl::unexpected(measured.error());
    warnings.push_back(measured.error());
  }
  return device;
}

}  // namespace

DriverResult<Drivers> Drivers::open() {
  auto cuda = Cuda::open();
  if (!cuda) return tl::unexpected(cuda.error());
  Drivers drivers;
  drivers.cuda = std::move(*cuda);
  auto nvml = Nvml::open();
  if (nvml)
    drivers.nvml = std::move(*nvml);
  else
    drivers.nvml_error = nvml.error();
  return drivers;
}

DriverResult<ProbedMachine> probe_machine(const Drivers& drivers, ProbeDepth depth) {
  ProbedMachine machine;
  machine.cuda_version = drivers.cuda->version();
  if (drivers.nvml != nullptr) {
    machine.driver_version = drivers.nvml->driver_version();
    machine.nvml_version = drivers.nvml->version();
  } else {
    machine.warnings.push_back(drivers.nvml_error);
  }
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    machine.visible_devices = std::string(visible);
  for (int ordinal = 0; ordinal < drivers.cuda->device_count(); ++ordinal) {
    auto device = probe_device(drivers, ordinal, depth, machine.warnings);
    if (!device) return tl::unexpected(device.error());
    machine.devices.push_back(std::move(*device));
  }
  for (const ProbedDevice& a : machine.devices) {
    for (const ProbedDevice& b : machine.devices) {
      if (a.cuda.ordinal < b.cuda.ordinal) machine.links.push_back(link_between(drivers, a, b));
    }
  }
  return machine;
}

}  // namespace vramgauge::tools

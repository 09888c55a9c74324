// A driver that is not there: the functions of libcuda.so.1 and libnvidia-ml.so.1 that vramgauge
// calls, over a machine described by a file. Built as one library that stands for both.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "driver_cuda.h"
#include "driver_nvml.h"
#include "stand_in_machine.h"

using stand_in::Machine;
using stand_in::Unit;
using vramgauge::tools::CudaAllocationProperties;
using vramgauge::tools::CudaUuid;
using vramgauge::tools::NvmlMemory;
using vramgauge::tools::NvmlMemoryV2;
using vramgauge::tools::NvmlPciInfo;
using vramgauge::tools::NvmlProcess;

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace {

constexpr int kInvalid = 1;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;
// Statuses of nvml.h.
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kTooSmall = 7;

thread_local int current_unit = -1;

Machine& machine() { return Machine::get(); }

/// A handle of NVML, or a context, is the number of a unit plus one.
void* handle_of(int unit) { return reinterpret_cast<void*>(static_cast<intptr_t>(unit) + 1); }
int unit_of(void* handle) { return static_cast<int>(reinterpret_cast<intptr_t>(handle)) - 1; }

/// Devices of CUDA are numbered as the process sees them.
Unit* visible_unit(int device) {
  const auto& visible = machine().visible();
  if (device < 0 || device >= static_cast<int>(visible.size())) return nullptr;
  return machine().unit(visible[device]);
}

int copy_text(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return kTooSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 0;
}

CudaUuid uuid_bytes(const std::string& text) {
  CudaUuid uuid = {};
  std::string digits;
  for (const char c : text.substr(std::min<std::size_t>(4, text.size()))) {
    if (c != '-') digits += c;
  }
  for (std::size_t i = 0; i < 16 && 2 * i + 1 < digits.size(); ++i)
    uuid.bytes[i] = static_cast<unsigned char>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return uuid;
}

NvmlPciInfo pci_of(const Unit& unit) {
  NvmlPciInfo pci = {};
  std::snprintf(pci.bus_id, sizeof pci.bus_id, "%s", unit.bus_id.c_str());
  std::sscanf(unit.bus_id.c_str(), "%x:%x:%x", &pci.domain, &pci.bus, &pci.device);
  return pci;
}

int list_processes(void* device, bool is_graphics, unsigned* count, NvmlProcess* processes) {
  unsigned found = 0;
  for (const stand_in::Process& other : machine().unit(unit_of(device))->others) {
    if (other.is_graphics != is_graphics) continue;
    if (found < *count) processes[found] = {other.pid, other.used_bytes, ~0U, ~0U};
    ++found;
  }
  const bool is_short = found > *count;
  *count = found;
  return is_short ? kTooSmall : 0;
}

/// The ends of a unit's NVLinks, one per link.
std::vector<int> link_ends(int unit) {
  std::vector<int> ends;
  for (int other = 0; other < static_cast<int>(machine().units().size()); ++other) {
    const stand_in::Link* link = machine().link(unit, other);
    if (link != nullptr && other != unit) ends.insert(ends.end(), link->nvlinks, other);
  }
  return ends;
}

}  // namespace

// Every call may be told to fail or to take its time.
#define VRAMGAUGE_ENTER(name)                                  \
  if (const int status = machine().enter(name)) return status; \
  const std::lock_guard<std::mutex> lock(machine().mutex)

extern "C" {

int cuInit(unsigned /*flags*/) {
  VRAMGAUGE_ENTER("cuInit");
  return machine().visible().empty() ? kNoDevice : 0;
}

int cuDriverGetVersion(int* version) {
  VRAMGAUGE_ENTER("cuDriverGetVersion");
  *version = machine().driver_version;
  return 0;
}

int cuGetErrorName(int status, const char** name) {
  *name = status == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == 100 ? "CUDA_ERROR_NO_DEVICE"
          : status == 999 ? "CUDA_ERROR_UNKNOWN"
                          : "CUDA_ERROR_OTHER";
  return 0;
}

int cuDeviceGetCount(int* count) {
  VRAMGAUGE_ENTER("cuDeviceGetCount");
  *count = static_cast<int>(machine().visible().size());
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  VRAMGAUGE_ENTER("cuDeviceGet");
  if (visible_unit(ordinal) == nullptr) return kInvalidDevice;
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  VRAMGAUGE_ENTER("cuDeviceGetName");
  return copy_text(visible_unit(device)->name, name, static_cast<unsigned>(length));
}

int cuDeviceGetUuid_v2(CudaUuid* uuid, int device) {
  VRAMGAUGE_ENTER("cuDeviceGetUuid_v2");
  *uuid = uuid_bytes(visible_unit(device)->uuid);
  return 0;
}

int cuDeviceGetUuid(CudaUuid* uuid, int device) {
  VRAMGAUGE_ENTER("cuDeviceGetUuid");
  const Unit* unit = visible_unit(device);
  *uuid = uuid_bytes(unit->parent < 0 ? unit->uuid : machine().unit(unit->parent)->uuid);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  VRAMGAUGE_ENTER("cuDeviceTotalMem_v2");
  *bytes = visible_unit(device)->usable_bytes;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  VRAMGAUGE_ENTER("cuDeviceGetAttribute");
  const Unit& unit = *visible_unit(device);
  switch (attribute) {
    case 16: *value = unit.multiprocessors; return 0;
    case 18: *value = unit.is_integrated ? 1 : 0; return 0;
    case 32: *value = unit.has_ecc ? 1 : 0; return 0;
    case 75: *value = unit.capability_major; return 0;
    case 76: *value = unit.capability_minor; return 0;
    default: return kInvalid;
  }
}

int cuDeviceGetPCIBusId(char* id, int length, int device) {
  VRAMGAUGE_ENTER("cuDeviceGetPCIBusId");
  return copy_text(visible_unit(device)->bus_id, id, static_cast<unsigned>(length));
}

int cuDeviceCanAccessPeer(int* can_access, int device, int peer) {
  VRAMGAUGE_ENTER("cuDeviceCanAccessPeer");
  const auto& visible = machine().visible();
  const stand_in::Link* link = machine().link(visible[device], visible[peer]);
  *can_access = link != nullptr && link->has_peer_access ? 1 : 0;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  VRAMGAUGE_ENTER("cuDevicePrimaryCtxRetain");
  const int unit = machine().visible()[device];
  *context = handle_of(unit);
  return machine().retain(unit);
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  VRAMGAUGE_ENTER("cuDevicePrimaryCtxRelease_v2");
  return machine().release_context(machine().visible()[device]);
}

int cuCtxSetCurrent(void* context) {
  VRAMGAUGE_ENTER("cuCtxSetCurrent");
  current_unit = unit_of(context);
  return 0;
}

int cuCtxSynchronize() {
  VRAMGAUGE_ENTER("cuCtxSynchronize");
  return current_unit < 0 ? kInvalidContext : 0;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  VRAMGAUGE_ENTER("cuMemGetInfo_v2");
  if (current_unit < 0) return kInvalidContext;
  *free = machine().free_bytes(current_unit);
  *total = machine().unit(current_unit)->usable_bytes;
  return 0;
}

int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  VRAMGAUGE_ENTER("cuMemAlloc_v2");
  return current_unit < 0 ? kInvalidContext : machine().allocate(current_unit, bytes, *address);
}

int cuMemFree_v2(unsigned long long address) {
  VRAMGAUGE_ENTER("cuMemFree_v2");
  return machine().release(address);
}

int cuMemsetD8_v2(unsigned long long address, unsigned char /*value*/, size_t bytes) {
  VRAMGAUGE_ENTER("cuMemsetD8_v2");
  return machine().touch(address, bytes);
}

int cuMemGetAllocationGranularity(size_t* granularity, const CudaAllocationProperties* properties,
                                  int /*option*/) {
  VRAMGAUGE_ENTER("cuMemGetAllocationGranularity");
  const Unit* unit = visible_unit(properties->location_id);
  if (unit == nullptr || properties->type != 1 || properties->location_type != 1) return kInvalid;
  *granularity = unit->granularity_bytes;
  return 0;
}

int nvmlInit_v2() {
  VRAMGAUGE_ENTER("nvmlInit_v2");
  return 0;
}

int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  VRAMGAUGE_ENTER("nvmlSystemGetDriverVersion");
  return copy_text(machine().driver_name, text, length);
}

int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  VRAMGAUGE_ENTER("nvmlSystemGetNVMLVersion");
  return copy_text("13." + machine().driver_name, text, length);
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  VRAMGAUGE_ENTER("nvmlDeviceGetHandleByUUID");
  for (int i = 0; i < static_cast<int>(machine().units().size()); ++i) {
    *device = handle_of(i);
    if (machine().units()[i].uuid == uuid) return 0;
  }
  return kNotFound;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  VRAMGAUGE_ENTER("nvmlDeviceGetHandleByPciBusId_v2");
  for (int i = 0; i < static_cast<int>(machine().units().size()); ++i) {
    *device = handle_of(i);
    if (machine().units()[i].bus_id == id) return 0;
  }
  return kNotFound;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  VRAMGAUGE_ENTER("nvmlDeviceGetUUID");
  return copy_text(machine().unit(unit_of(device))->uuid, text, length);
}

int nvmlDeviceGetMemoryInfo_v2(void* device, NvmlMemoryV2* memory) {
  VRAMGAUGE_ENTER("nvmlDeviceGetMemoryInfo_v2");
  if (memory->version != (sizeof(NvmlMemoryV2) | 2U << 24)) return kInvalid;
  const Unit& unit = *machine().unit(unit_of(device));
  if (unit.is_integrated) return kNotSupported;
  memory->total = unit.total_bytes;
  memory->reserved = unit.reserved_bytes;
  memory->free = machine().free_bytes(unit_of(device));
  memory->used = memory->total - memory->reserved - memory->free;
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory) {
  VRAMGAUGE_ENTER("nvmlDeviceGetMemoryInfo");
  const Unit& unit = *machine().unit(unit_of(device));
  if (unit.is_integrated) return kNotSupported;
  memory->total = unit.total_bytes;
  memory->free = machine().free_bytes(unit_of(device));
  memory->used = memory->total - memory->free;
  return 0;
}

int nvmlDeviceGetEccMode(void* device, unsigned* current, unsigned* pending) {
  VRAMGAUGE_ENTER("nvmlDeviceGetEccMode");
  *current = *pending = machine().unit(unit_of(device))->has_ecc ? 1 : 0;
  return 0;
}

int nvmlDeviceGetComputeMode(void* device, unsigned* mode) {
  VRAMGAUGE_ENTER("nvmlDeviceGetComputeMode");
  *mode = machine().unit(unit_of(device))->compute_mode;
  return 0;
}

int nvmlDeviceGetDisplayActive(void* device, unsigned* is_active) {
  VRAMGAUGE_ENTER("nvmlDeviceGetDisplayActive");
  *is_active = machine().unit(unit_of(device))->has_display ? 1 : 0;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, NvmlProcess* processes) {
  VRAMGAUGE_ENTER("nvmlDeviceGetComputeRunningProcesses_v3");
  return list_processes(device, false, count, processes);
}

int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, NvmlProcess* processes) {
  return list_processes(device, false, count, processes);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned* count,
                                             NvmlProcess* processes) {
  VRAMGAUGE_ENTER("nvmlDeviceGetGraphicsRunningProcesses_v3");
  return list_processes(device, true, count, processes);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(void* device, unsigned* count,
                                             NvmlProcess* processes) {
  return list_processes(device, true, count, processes);
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  VRAMGAUGE_ENTER("nvmlDeviceGetMigMode");
  const Unit& unit = *machine().unit(unit_of(device));
  *current = *pending = unit.is_mig ? 1 : 0;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* /*device*/, unsigned* count) {
  VRAMGAUGE_ENTER("nvmlDeviceGetMaxMigDeviceCount");
  *count = 7;
  return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** mig_device) {
  VRAMGAUGE_ENTER("nvmlDeviceGetMigDeviceHandleByIndex");
  unsigned seen = 0;
  for (int i = 0; i < static_cast<int>(machine().units().size()); ++i) {
    if (machine().units()[i].parent != unit_of(device) || seen++ != index) continue;
    *mig_device = handle_of(i);
    return 0;
  }
  return kNotFound;
}

int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_mig) {
  VRAMGAUGE_ENTER("nvmlDeviceIsMigDeviceHandle");
  *is_mig = machine().unit(unit_of(device))->parent < 0 ? 0 : 1;
  return 0;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* mig_device, void** device) {
  VRAMGAUGE_ENTER("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  *device = handle_of(machine().unit(unit_of(mig_device))->parent);
  return 0;
}

int nvmlDeviceGetTopologyCommonAncestor(void* a, void* b, unsigned* level) {
  VRAMGAUGE_ENTER("nvmlDeviceGetTopologyCommonAncestor");
  const stand_in::Link* link = machine().link(unit_of(a), unit_of(b));
  if (link == nullptr) return kNotFound;
  *level = link->level;
  return 0;
}

int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* is_active) {
  VRAMGAUGE_ENTER("nvmlDeviceGetNvLinkState");
  *is_active = link < link_ends(unit_of(device)).size() ? 1 : 0;
  return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, NvmlPciInfo* remote) {
  VRAMGAUGE_ENTER("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  const std::vector<int> ends = link_ends(unit_of(device));
  if (link >= ends.size()) return kNotFound;
  *remote = pci_of(*machine().unit(ends[link]));
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void* device, NvmlPciInfo* pci) {
  VRAMGAUGE_ENTER("nvmlDeviceGetPciInfo_v3");
  *pci = pci_of(*machine().unit(unit_of(device)));
  return 0;
}

}  // extern "C"

// What is defined here is what the program calls.
#define X(member, symbol, required, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), int(*) parameters>, #symbol);
#include "driver_cuda.def"
#include "driver_nvml.def"
#undef X

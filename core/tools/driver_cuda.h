// The CUDA driver, opened at run time: what vramgauge asks of it, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "driver_error.h"

namespace vramgauge::tools {

struct CudaUuid {
  unsigned char bytes[16];
};

/// CUmemAllocationProp: which kind of memory a granularity is asked for.
struct CudaAllocationProperties {
  int type;
  int requested_handle_types;
  int location_type;
  int location_id;
  void* win32_handle_meta_data;
  unsigned char flags[8];
};

/// The functions of the library; those that are not required may be null.
struct CudaApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator
#define X(member, symbol, required, parameters) int(*member) parameters = nullptr;
#include "driver_cuda.def"
#undef X
};

/// What the driver says about a device without a context.
struct CudaDevice {
  /// As the process counts: CUDA_VISIBLE_DEVICES is applied by the driver.
  int ordinal = 0;
  std::string name;
  /// "GPU-..." or "MIG-...", as the driver's tools write it.
  std::string uuid;
  std::string pci_bus_id;
  /// What the runtime offers to processes.
  uint64_t total_bytes = 0;
  int capability_major = 0;
  int capability_minor = 0;
  int multiprocessors = 0;
  /// Shares its memory with the host.
  bool is_integrated = false;
  bool has_ecc = false;
  /// Smallest unit in which memory is taken; 0 = not known.
  uint64_t granularity_bytes = 0;
};

struct CudaMemory {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

/// The driver, started.
class Cuda {
 public:
  /// Opens VRAMGAUGE_CUDA_LIBRARY, or libcuda.so.1, and starts it.
  static DriverResult<std::unique_ptr<Cuda>> open();

  /// Version of CUDA that the driver supports, "13.0".
  std::string version() const;
  int device_count() const { return device_count_; }
  DriverResult<CudaDevice> device(int ordinal) const;
  /// Whether one device can read the other's memory.
  bool has_peer_access(int ordinal, int peer) const;

  const CudaApi& api() const { return api_; }
  /// Done when the status is 0, or the error of this call.
  DriverResult<void> check(int status, const char* call) const;

 private:
  explicit Cuda(const CudaApi& api) : api_(api) {}
  DriverResult<void> start();
  std::string uuid_of(int device) const;
  uint64_t granularity_of(int device) const;

  CudaApi api_;
  int device_count_ = 0;
};

/// Memory of a device, given back at the end.
class CudaBuffer {
 public:
  CudaBuffer(const Cuda& cuda, unsigned long long address, uint64_t size_bytes)
      : cuda_(&cuda), address_(address), size_bytes_(size_bytes) {}
  CudaBuffer(CudaBuffer&& other) noexcept
      : cuda_(other.cuda_),
        address_(std::exchange(other.address_, 0)),
        size_bytes_(other.size_bytes_) {}
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  CudaBuffer& operator=(CudaBuffer&&) = delete;
  ~CudaBuffer();

  uint64_t size_bytes() const { return size_bytes_; }
  /// Writes to a part of it, so that the memory is really there.
  DriverResult<void> touch(uint64_t offset_bytes, uint64_t size_bytes);

 private:
  const Cuda* cuda_;
  unsigned long long address_;
  uint64_t size_bytes_;
};

/// The device's primary context, the one that engines use, current on the calling thread; released
/// at the end. Buffers must be gone by then.
class CudaContext {
 public:
  static DriverResult<CudaContext> retain(const Cuda& cuda, int ordinal);
  CudaContext(CudaContext&& other) noexcept
      : cuda_(std::exchange(other.cuda_, nullptr)), device_(other.device_) {}
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  CudaContext& operator=(CudaContext&&) = delete;
  ~CudaContext();

  DriverResult<CudaMemory> memory() const;
  DriverResult<CudaBuffer> allocate(uint64_t size_bytes) const;
  /// Waits until what was asked is done.
  DriverResult<void> wait() const;

 private:
  CudaContext(const Cuda& cuda, int device) : cuda_(&cuda), device_(device) {}

  const Cuda* cuda_;
  int device_;
};

/// Whether an error means that there is no memory left.
bool is_out_of_memory(const DriverError& error);

}  // namespace vramgauge::tools

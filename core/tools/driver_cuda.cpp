#include "driver_cuda.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "driver_library.h"

namespace vramgauge::tools {
namespace {

// Values of cuda.h.
constexpr int kSuccess = 0;
constexpr int kStubLibrary = 34;
constexpr int kNoDevice = 100;
constexpr int kMultiprocessorCount = 16;
constexpr int kIntegrated = 18;
constexpr int kEccEnabled = 32;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kPinnedMemory = 1;
constexpr int kDeviceMemory = 1;
constexpr int kMinimumGranularity = 0;

constexpr std::size_t kNameBytes = 256;
constexpr std::string_view kOutOfMemory = "CUDA_ERROR_OUT_OF_MEMORY";

DriverError missing(const std::string& reason) {
  return {"driver.missing", "No NVIDIA driver was found on this machine: " + reason,
          "Install the driver; in a container, start it with GPUs (such as --gpus all). A machine "
          "without a GPU can still be asked with --hardware FILE"};
}

DriverError unusable(const std::string& reason) {
  return {"driver.unusable", "The NVIDIA driver cannot be used: " + reason,
          "See what nvidia-smi says; the library and the kernel's module must be of one version"};
}

DriverError no_device() {
  const std::string visible = environment("CUDA_VISIBLE_DEVICES");
  const std::string because =
      std::getenv("CUDA_VISIBLE_DEVICES") == nullptr
          ? std::string()
          : fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", visible.substr(0, 200));
  return {"driver.no_device", "The NVIDIA driver shows no device to this process" + because,
          "Check CUDA_VISIBLE_DEVICES, and what the container or the job was given"};
}

DriverResult<CudaApi> find_functions(const SharedLibrary& library) {
  CudaApi api;
#define X(member, symbol, required, parameters) \
  library.find(#symbol, api.member);            \
  if ((required) && api.member == nullptr)      \
    return tl::unexpected(unusable("its library has no " #symbol));
#include "driver_cuda.def"
#undef X
  return api;
}

std::string uuid_text(const CudaUuid& uuid, const char* prefix) {
  std::string text = prefix;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace

DriverResult<std::unique_ptr<Cuda>> Cuda::open() {
  std::string reason;
  const auto library = SharedLibrary::open(
      library_names("VRAMGAUGE_CUDA_LIBRARY", {"libcuda.so.1", "libcuda.so"}), reason);
  if (!library) return tl::unexpected(missing(reason));
  const DriverResult<CudaApi> api = find_functions(*library);
  if (!api) return tl::unexpected(api.error());
  std::unique_ptr<Cuda> cuda(new Cuda(*api));
  if (DriverResult<void> started = cuda->start(); !started) return tl::unexpected(started.error());
  return cuda;
}

DriverResult<void> Cuda::start() {
  const int status = api_.init(0);
  if (status == kNoDevice) return tl::unexpected(no_device());
  if (status == kStubLibrary)
    return tl::unexpected(unusable("libcuda.so.1 is the toolkit's stub, which only links"));
  if (status != kSuccess) return tl::unexpected(unusable(check(status, "cuInit").error().message));
  if (DriverResult<void> counted = check(api_.get_device_count(&device_count_), "cuDeviceGetCount");
      !counted)
    return counted;
  if (device_count_ <= 0) return tl::unexpected(no_device());
  return {};
}

DriverResult<void> Cuda::check(int status, const char* call) const {
  if (status == kSuccess) return {};
  const char* name = nullptr;
  if (api_.get_error_name(status, &name) != kSuccess || name == nullptr) name = "unknown";
  return tl::unexpected(DriverError{"driver.call_failed",
                                    fmt::format("{} answered {} ({})", call, name, status),
                                    "See what nvidia-smi says about the device"});
}

std::string Cuda::version() const {
  int version = 0;
  if (api_.get_driver_version(&version) != kSuccess) return std::string();
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string Cuda::uuid_of(int device) const {
  CudaUuid uuid = {};
  // Only the second version tells a MIG slice from its GPU.
  if (api_.get_uuid_v2 != nullptr && api_.get_uuid_v2(&uuid, device) == kSuccess) {
    CudaUuid whole = {};
    const bool is_slice = api_.get_uuid != nullptr && api_.get_uuid(&whole, device) == kSuccess &&
                          std::memcmp(&whole, &uuid, sizeof uuid) != 0;
    return uuid_text(uuid, is_slice ? "MIG-" : "GPU-");
  }
  if (api_.get_uuid != nullptr && api_.get_uuid(&uuid, device) == kSuccess)
    return uuid_text(uuid, "GPU-");
  return std::string();
}

uint64_t Cuda::granularity_of(int device) const {
  CudaAllocationProperties properties = {};
  properties.type = kPinnedMemory;
  properties.location_type = kDeviceMemory;
  properties.location_id = device;
  std::size_t granularity = 0;
  if (api_.get_granularity == nullptr ||
      api_.get_granularity(&granularity, &properties, kMinimumGranularity) != kSuccess)
    return 0;
  return granularity;
}

DriverResult<CudaDevice> Cuda::device(int ordinal) const {
  CudaDevice out;
  out.ordinal = ordinal;
  int device = 0;
  if (auto got = check(api_.get_device(&device, ordinal), "cuDeviceGet"); !got)
    return tl::unexpected(got.error());
  char text[kNameBytes] = {};
  if (auto got = check(api_.get_name(text, kNameBytes - 1, device), "cuDeviceGetName"); !got)
    return tl::unexpected(got.error());
  out.name = text;
  std::size_t total = 0;
  if (auto got = check(api_.get_total(&total, device), "cuDeviceTotalMem"); !got)
    return tl::unexpected(got.error());
  out.total_bytes = total;
  char bus_id[kNameBytes] = {};
  if (api_.get_pci_bus_id(bus_id, kNameBytes - 1, device) == kSuccess) out.pci_bus_id = bus_id;
  const auto attribute = [&](int which) {
    int value = 0;
    return api_.get_attribute(&value, which, device) == kSuccess ? value : 0;
  };
  out.capability_major = attribute(kCapabilityMajor);
  out.capability_minor = attribute(kCapabilityMinor);
  out.multiprocessors = attribute(kMultiprocessorCount);
  out.is_integrated = attribute(kIntegrated) != 0;
  out.has_ecc = attribute(kEccEnabled) != 0;
  out.uuid = uuid_of(device);
  out.granularity_bytes = granularity_of(device);
  return out;
}

bool Cuda::has_peer_access(int ordinal, int peer) const {
  int device = 0;
  int other = 0;
  int can = 0;
  return api_.get_device(&device, ordinal) == kSuccess &&
         api_.get_device(&other, peer) == kSuccess &&
         api_.can_access_peer(&can, device, other) == kSuccess && can != 0;
}

CudaBuffer::~CudaBuffer() {
  if (address_ != 0) cuda_->api().free(address_);
}

DriverResult<void> CudaBuffer::touch(uint64_t offset_bytes, uint64_t size_bytes) {
  return cuda_->check(cuda_->api().fill(address_ + offset_bytes, 0xA5, size_bytes), "cuMemsetD8");
}

DriverResult<CudaContext> CudaContext::retain(const Cuda& cuda, int ordinal) {
  int device = 0;
  if (auto got = cuda.check(cuda.api().get_device(&device, ordinal), "cuDeviceGet"); !got)
    return tl::unexpected(got.error());
  void* handle = nullptr;
  if (auto got = cuda.check(cuda.api().retain_context(&handle, device), "cuDevicePrimaryCtxRetain");
      !got)
    return tl::unexpected(got.error());
  CudaContext context(cuda, device);
  if (auto got = cuda.check(cuda.api().set_context(handle), "cuCtxSetCurrent"); !got)
    return tl::unexpected(got.error());
  return context;
}

CudaContext::~CudaContext() {
  if (cuda_ == nullptr) return;
  cuda_->api().set_context(nullptr);
  cuda_->api().release_context(device_);
}

DriverResult<CudaMemory> CudaContext::memory() const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (auto got = cuda_->check(cuda_->api().get_memory(&free_bytes, &total_bytes), "cuMemGetInfo");
      !got)
    return tl::unexpected(got.error());
  return CudaMemory{free_bytes, total_bytes};
}

DriverResult<CudaBuffer> CudaContext::allocate(uint64_t size_bytes) const {
  unsigned long long address = 0;
  if (auto got = cuda_->check(cuda_->api().allocate(&address, size_bytes), "cuMemAlloc"); !got)
    return tl::unexpected(got.error());
  return CudaBuffer(*cuda_, address, size_bytes);
}

DriverResult<void> CudaContext::wait() const {
  return cuda_->check(cuda_->api().synchronize(), "cuCtxSynchronize");
}

bool is_out_of_memory(const DriverError& error) {
  return error.message.find(kOutOfMemory) != std::string::npos;
}

}  // namespace vramgauge::tools

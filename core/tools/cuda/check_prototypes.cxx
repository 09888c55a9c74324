// Where the toolkit is there, the driver's functions as the program declares them are held against
// cuda.h: the same parameters by number, size and whether they point somewhere.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "driver_cuda.h"

namespace {

using vramgauge::tools::CudaAllocationProperties;
using vramgauge::tools::CudaUuid;

template <typename A, typename B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
// A handle is a pointer to the driver, and nothing that it points to is looked at.
template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename... A, typename... B>
struct Same<int (*)(A...), CUresult (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && (kAlike<A, B> && ...)> {};

#define X(member, symbol, required, parameters) \
  static_assert(Same<int(*) parameters, decltype(&symbol)>::value, #symbol);
#include "driver_cuda.def"
#undef X

static_assert(sizeof(CudaUuid) == sizeof(CUuuid));
static_assert(sizeof(CudaAllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(CudaAllocationProperties, location_id) ==
              offsetof(CUmemAllocationProp, location.id));
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16);
static_assert(CU_DEVICE_ATTRIBUTE_INTEGRATED == 18);
static_assert(CU_DEVICE_ATTRIBUTE_ECC_ENABLED == 32);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);
static_assert(CUDA_ERROR_OUT_OF_MEMORY == 2);
static_assert(CUDA_ERROR_STUB_LIBRARY == 34);
static_assert(CUDA_ERROR_NO_DEVICE == 100);

}  // namespace

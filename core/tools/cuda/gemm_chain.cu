#include "gemm_chain.h"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

namespace vramgauge::tools {
namespace {

using Element = __nv_bfloat16;

/// What PyTorch gives cuBLASLt on Hopper; elsewhere the heuristic takes less of it.
constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;
constexpr int kThreads = 256;

/// silu(gate) x up, halves of each row of `both`.
__global__ void activate(const Element* both, Element* out, uint64_t rows, uint64_t columns) {
  const uint64_t count = rows * columns;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * blockDim.x) {
    const uint64_t row = i / columns;
    const uint64_t column = i % columns;
    const float gate = __bfloat162float(both[row * 2 * columns + column]);
    const float up = __bfloat162float(both[(row * 2 + 1) * columns + column]);
    out[i] = __float2bfloat16(gate / (1.0F + __expf(-gate)) * up);
  }
}

/// A buffer of a stream's memory pool.
class Buffer {
 public:
  Buffer() = default;
  Buffer(uint64_t elements, cudaStream_t stream) : stream_(stream) {
    status_ = cudaMallocAsync(&data_, elements * sizeof(Element), stream);
  }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(stream_, other.stream_);
    std::swap(status_, other.status_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  Element* data() const { return static_cast<Element*>(data_); }
  cudaError_t status() const { return status_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaError_t status_ = cudaSuccess;
};

/// Everything that one run holds; the first error ends it.
class Chain {
 public:
  explicit Chain(const GemmChainShape& shape) : shape_(shape) {}
  ~Chain() {
    if (handle_ != nullptr) cublasLtDestroy(handle_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  GemmChainResult run() {
    if (start()) layer();
    return result_;
  }

 private:
  bool check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return true;
    if (result_.error.empty()) result_.error = std::string(what) + ": " + cudaGetErrorName(status);
    return false;
  }

  bool check(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    if (result_.error.empty())
      result_.error = std::string(what) + ": " + cublasLtGetStatusName(status);
    return false;
  }

  bool start() {
    cudaDeviceProp properties = {};
    if (!check(cudaSetDevice(shape_.device), "cudaSetDevice") ||
        !check(cudaGetDeviceProperties(&properties, shape_.device), "cudaGetDeviceProperties"))
      return false;
    result_.gpu = properties.name;
    return check(cudaStreamCreate(&stream_), "cudaStreamCreate") &&
           check(cublasLtCreate(&handle_), "cublasLtCreate") &&
           check(cudaDeviceGetDefaultMemPool(&pool_, shape_.device), "cudaDeviceGetDefaultMemPool");
  }

  bool take(uint64_t elements, Buffer& buffer) {
    buffer = Buffer(elements, stream_);
    return check(buffer.status(), "cudaMallocAsync");
  }

  /// Forgets what was held before, weights and input; from here on scratch is counted.
  bool start_counting(uint64_t& held_bytes) {
    uint64_t zero = 0;
    return check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize") &&
           check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero),
                 "cudaMemPoolSetAttribute") &&
           check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &held_bytes),
                 "cudaMemPoolGetAttribute");
  }

  void layer() {
    const uint64_t tokens = shape_.tokens;
    const uint64_t hidden = shape_.hidden_size;
    const uint64_t wide = shape_.intermediate_size;
    Buffer weights;
    uint64_t held_bytes = 0;
    if (!take(2 * wide * std::max(hidden, wide / 2), weights) || !start_counting(held_bytes)) return;
    Buffer residual;
    if (!take(tokens * hidden, residual)) return;
    const bool is_done = attention(residual, weights) && feed_forward(residual, weights);
    uint64_t high_bytes = 0;
    if (!is_done || !check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize") ||
        !check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &high_bytes),
               "cudaMemPoolGetAttribute"))
      return;
    result_.peak_bytes = high_bytes - held_bytes;
  }

  bool attention(const Buffer& residual, const Buffer& weights) {
    const uint64_t elements = shape_.tokens * shape_.hidden_size;
    Buffer normed;
    Buffer query_key_value;
    Buffer out;
    return take(elements, normed) && copy(residual, normed, elements) &&
           take(3 * elements, query_key_value) &&
           multiply(normed, weights, query_key_value, shape_.hidden_size, 3 * shape_.hidden_size) &&
           take(elements, out) &&
           multiply(query_key_value, weights, out, shape_.hidden_size, shape_.hidden_size) &&
           copy(out, residual, elements);
  }

  bool feed_forward(const Buffer& residual, const Buffer& weights) {
    const uint64_t elements = shape_.tokens * shape_.hidden_size;
    const uint64_t wide = shape_.intermediate_size;
    Buffer normed;
    Buffer gate_up;
    Buffer activated;
    if (!take(elements, normed) || !copy(residual, normed, elements) ||
        !take(2 * shape_.tokens * wide, gate_up) ||
        !multiply(normed, weights, gate_up, shape_.hidden_size, 2 * wide) ||
        !take(shape_.tokens * wide, activated))
      return false;
    activate<<<1024, kThreads, 0, stream_>>>(gate_up.data(), activated.data(), shape_.tokens, wide);
    if (!check(cudaGetLastError(), "activate")) return false;
    gate_up = Buffer();
    Buffer out;
    return take(elements, out) && multiply(activated, weights, out, wide, shape_.hidden_size) &&
           copy(out, residual, elements);
  }

  bool copy(const Buffer& from, const Buffer& to, uint64_t elements) {
    return check(cudaMemcpyAsync(to.data(), from.data(), elements * sizeof(Element),
                                 cudaMemcpyDeviceToDevice, stream_),
                 "cudaMemcpyAsync");
  }

  /// out[tokens, columns] = in[tokens, inner] x weights[inner, columns], rows contiguous.
  bool multiply(const Buffer& in, const Buffer& weights, const Buffer& out, uint64_t inner,
                uint64_t columns) {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t left = nullptr;
    cublasLtMatrixLayout_t right = nullptr;
    cublasLtMatrixLayout_t target = nullptr;
    // cuBLAS stores columns contiguously, so the rows' product is the transposed one.
    const bool is_done =
        check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "desc") &&
        check(cublasLtMatrixLayoutCreate(&left, CUDA_R_16BF, columns, inner,
                                         static_cast<int64_t>(columns)),
              "layout") &&
        check(cublasLtMatrixLayoutCreate(&right, CUDA_R_16BF, inner, shape_.tokens,
                                         static_cast<int64_t>(inner)),
              "layout") &&
        check(cublasLtMatrixLayoutCreate(&target, CUDA_R_16BF, columns, shape_.tokens,
                                         static_cast<int64_t>(columns)),
              "layout") &&
        multiply_with(product, left, right, target, weights, in, out);
    cublasLtMatrixLayoutDestroy(target);
    cublasLtMatrixLayoutDestroy(right);
    cublasLtMatrixLayoutDestroy(left);
    cublasLtMatmulDescDestroy(product);
    return is_done;
  }

  bool multiply_with(cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t left,
                     cublasLtMatrixLayout_t right, cublasLtMatrixLayout_t target,
                     const Buffer& weights, const Buffer& in, const Buffer& out) {
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t best = {};
    int num_found = 0;
    const uint64_t most = kMostWorkspaceBytes;
    const bool is_found =
        check(cublasLtMatmulPreferenceCreate(&preference), "preference") &&
        check(cublasLtMatmulPreferenceSetAttribute(
                  preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most),
              "preference") &&
        check(cublasLtMatmulAlgoGetHeuristic(handle_, product, left, right, target, target,
                                             preference, 1, &best, &num_found),
              "cublasLtMatmulAlgoGetHeuristic");
    cublasLtMatmulPreferenceDestroy(preference);
    if (!is_found || num_found == 0) return is_found && check(CUBLAS_STATUS_NOT_SUPPORTED, "matmul");
    result_.workspace_bytes = std::max<uint64_t>(result_.workspace_bytes, best.workspaceSize);
    Buffer workspace;
    if (!take(std::max<uint64_t>(1, best.workspaceSize / sizeof(Element)), workspace)) return false;
    const float one = 1.0F;
    const float zero = 0.0F;
    return check(cublasLtMatmul(handle_, product, &one, weights.data(), left, in.data(), right,
                                &zero, out.data(), target, out.data(), target, &best.algo,
                                workspace.data(), best.workspaceSize, stream_),
                 "cublasLtMatmul");
  }

  const GemmChainShape shape_;
  GemmChainResult result_;
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace

GemmChainResult run_gemm_chain(const GemmChainShape& shape) { return Chain(shape).run(); }

}  // namespace vramgauge::tools

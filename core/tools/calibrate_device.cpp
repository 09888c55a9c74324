#include "calibrate_device.h"

#include <string>

#ifdef VRAMGAUGE_CUDA
#include "cuda/gemm_chain.h"
#include "units/decimal.h"
#endif

namespace vramgauge::tools {

#ifdef VRAMGAUGE_CUDA

namespace {

constexpr uint64_t kElementBytes = 2;

json::Value shape_json(const PrefillShape& shape) {
  json::Value out = json::Value::object();
  out.set("tokens", shape.tokens);
  out.set("hidden_size", shape.hidden_size);
  out.set("intermediate_size", shape.intermediate_size);
  return out;
}

}  // namespace

DriverResult<json::Value> measure_device(const PrefillShape& shape) {
  const GemmChainResult result =
      run_gemm_chain({shape.device, shape.tokens, shape.hidden_size, shape.intermediate_size});
  if (!result.error.empty())
    return tl::unexpected(
        DriverError{"calibrate.failed", result.error, "See what nvidia-smi says"});
  const double unit = static_cast<double>(
      shape.tokens * (shape.hidden_size + shape.intermediate_size) * kElementBytes);
  const auto live_buffers =
      Decimal::from_double(static_cast<double>(result.peak_bytes) / unit).value_or(Decimal());
  json::Value patch = json::Value::object();
  patch.set("live_buffers", json::Value::decimal(live_buffers));
  json::Value out = json::Value::object();
  out.set("engine", "generic");
  out.set("gpu", result.gpu);
  out.set("shape", shape_json(shape));
  out.set("workspace_bytes", result.workspace_bytes);
  out.set("peak_bytes", result.peak_bytes);
  out.set("live_buffers", json::Value::decimal(live_buffers));
  out.set("scenario_patch", std::move(patch));
  return out;
}

#else

DriverResult<json::Value> measure_device(const PrefillShape& /*shape*/) {
  return tl::unexpected(DriverError{
      "calibrate.no_toolkit", "This build has no CUDA toolkit in it, so nothing can be computed",
      "Configure with -DVRAMGAUGE_CUDA=ON on a machine that has nvcc"});
}

#endif

}  // namespace vramgauge::tools

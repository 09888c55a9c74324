#include "api/check_log.h"
#include "api/parts.h"
#include "api/sglang.h"
#include "api/tensorrt_llm.h"
#include "api/transformers.h"
#include "api/vllm.h"

namespace vramgauge::api {

const Parts& server_parts() {
  static constexpr EngineFace kEngines[] = {
      {kVllm, estimate_with_vllm, vllm_breakdown},
      {kSglang, estimate_with_sglang, sglang_breakdown},
      {kTensorRtLlm, estimate_with_tensorrt_llm, tensorrt_llm_breakdown},
      {kTransformers, estimate_with_transformers, transformers_breakdown},
  };
  static constexpr Parts kParts = {nullptr, kEngines, std::size(kEngines),
                                   nullptr, nullptr,  check_read_log};
  return kParts;
}

}  // namespace vramgauge::api

#include "api/generic.h"
#include "api/parts.h"
#include "api/sglang.h"
#include "api/tensorrt_llm.h"
#include "api/transformers.h"
#include "api/vllm.h"

namespace vramgauge::api {

const Parts& server_parts() {
  static constexpr EngineFace kEngines[] = {
      {kGeneric, estimate_with_generic, generic_breakdown},
      {kVllm, estimate_with_vllm, vllm_breakdown},
      {kSglang, estimate_with_sglang, sglang_breakdown},
      {kTensorRtLlm, estimate_with_tensorrt_llm, tensorrt_llm_breakdown},
      {kTransformers, estimate_with_transformers, transformers_breakdown},
  };
  static constexpr Parts kParts = {nullptr, kEngines, std::size(kEngines), nullptr};
  return kParts;
}

}  // namespace vramgauge::api

#include "api/check_log.h"
#include "api/generic.h"
#include "api/llama_cpp.h"
#include "api/llama_cpp_fit.h"
#include "api/parts.h"
#include "api/session.h"
#include "api/sglang.h"
#include "api/tensorrt_llm.h"
#include "api/transformers.h"
#include "api/vllm.h"

namespace vramgauge::api {

const Parts& all_parts() {
  static constexpr EngineFace kEngines[] = {
      {kGeneric, estimate_with_generic, generic_breakdown},
      {kLlamaCpp, estimate_with_llama_cpp, llama_cpp_breakdown},
      {kVllm, estimate_with_vllm, vllm_breakdown},
      {kSglang, estimate_with_sglang, sglang_breakdown},
      {kTensorRtLlm, estimate_with_tensorrt_llm, tensorrt_llm_breakdown},
      {kTransformers, estimate_with_transformers, transformers_breakdown},
  };
  static const Parts kParts = {&all_importers(), kEngines, std::size(kEngines), fit,
                               call_tool,        check_log};
  return kParts;
}

// Here, and not beside the rest of the session: only who makes such a session links all parts.
Session::Session() : Session(all_parts()) {}

}  // namespace vramgauge::api

#include "api/check_log.h"
#include "api/llama_cpp.h"
#include "api/llama_cpp_fit.h"
#include "api/parts.h"

namespace vramgauge::api {

const Parts& llama_cpp_parts() {
  static constexpr EngineFace kEngines[] = {
      {kLlamaCpp, estimate_with_llama_cpp, llama_cpp_breakdown}};
  static constexpr Parts kParts = {nullptr, kEngines, std::size(kEngines),
                                   fit,     nullptr,  check_read_log};
  return kParts;
}

}  // namespace vramgauge::api

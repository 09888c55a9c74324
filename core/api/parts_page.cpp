#include "api/generic.h"
#include "api/parts.h"

namespace vramgauge::api {

const Parts& page_parts() {
  static constexpr EngineFace kEngines[] = {{kGeneric, estimate_with_generic, generic_breakdown}};
  static constexpr Parts kParts = {nullptr, kEngines, std::size(kEngines), nullptr};
  return kParts;
}

}  // namespace vramgauge::api

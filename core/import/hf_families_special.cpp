#include "import/hf_families.h"

namespace vramgauge::hf {

FamilyTable special_families() { return {nullptr, 0}; }

}  // namespace vramgauge::hf

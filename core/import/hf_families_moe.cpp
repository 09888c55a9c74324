#include "import/hf_families.h"

namespace vramgauge::hf {

FamilyTable moe_families() { return {nullptr, 0}; }

}  // namespace vramgauge::hf

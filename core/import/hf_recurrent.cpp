// Families with recurrent or hybrid mixers.
#include "import/hf_families.h"

namespace vramgauge::hf {

FamilyTable recurrent_families() { return {nullptr, 0}; }

}  // namespace vramgauge::hf

// Vision and audio towers, encoders and projectors.
#include "import/hf_families.h"

namespace vramgauge::hf {

void add_towers(Import&) {}

}  // namespace vramgauge::hf

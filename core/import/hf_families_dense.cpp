// Decoders with dense feed-forward blocks.
#include <iterator>

#include "import/hf_families.h"

namespace vramgauge::hf {
namespace {

constexpr Family kFamilies[] = {
    {"llama", {}},
};

}  // namespace

FamilyTable dense_families() { return {kFamilies, std::size(kFamilies)}; }

}  // namespace vramgauge::hf

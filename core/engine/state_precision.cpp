#include "engine/state_precision.h"

#include "specs/model_traits.h"

namespace vramgauge {
namespace {

constexpr uint64_t kFloatBytes = 4;

bool is_channel_wise(const Mixer& mixer) {
  const auto* delta = std::get_if<GatedDelta>(&mixer);
  return delta != nullptr && delta->is_channel_wise;
}

}  // namespace

StatePrecision server_state_precision(const ModelSpec& spec, uint64_t dtype_bytes) {
  const uint64_t unnamed = any_mixer(spec, is_channel_wise) ? kFloatBytes : dtype_bytes;
  return {dtype_bytes, spec.state_element_bytes != 0 ? spec.state_element_bytes : unnamed};
}

}  // namespace vramgauge

#include "api/parts.h"

namespace vramgauge::api {

const EngineFace* Parts::engine(std::string_view id) const {
  for (uint64_t i = 0; i < num_engines; ++i) {
    if (engines[i].id == id) return &engines[i];
  }
  return nullptr;
}

}  // namespace vramgauge::api

// Positions in containers, whose size_t is 32 bits in WebAssembly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramgauge {

/// A position that is known to lie inside a container.
constexpr std::size_t index_of(uint64_t position) { return static_cast<std::size_t>(position); }

}  // namespace vramgauge

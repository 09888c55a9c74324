// The catalogue inside the program.
#pragma once

#include <cstddef>
#include <string>

namespace vramgauge::tools {

/// A zlib stream and the size of what it holds.
struct PackedCatalogue {
  const unsigned char* bytes;
  std::size_t size;
  std::size_t unpacked_size;
};

/// Written by the build from presets/.
extern const PackedCatalogue kPackedCatalogue;

/// The catalogue document as JSON text; empty when the stream is damaged.
std::string unpack_catalogue();

}  // namespace vramgauge::tools

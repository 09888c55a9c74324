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

/// Written by the build from presets/: the catalogue, and the models' own configurations.
extern const PackedCatalogue kPackedCatalogue;
extern const PackedCatalogue kPackedConfigs;

/// The catalogue document as JSON text; empty when the stream is damaged.
std::string unpack_catalogue();
/// {"class_defaults", "models": [{"id", "config", "quant_config"}], "engines"}, likewise.
std::string unpack_configs();

}  // namespace vramgauge::tools

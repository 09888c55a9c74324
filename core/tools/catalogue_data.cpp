#include "catalogue_data.h"

#include <zlib.h>

namespace vramgauge::tools {
namespace {

std::string unpack(const PackedCatalogue& packed) {
  std::string text(packed.unpacked_size, '\0');
  uLongf size = text.size();
  const int status =
      uncompress(reinterpret_cast<Bytef*>(text.data()), &size, packed.bytes, packed.size);
  return status == Z_OK && size == text.size() ? text : std::string();
}

}  // namespace

std::string unpack_catalogue() { return unpack(kPackedCatalogue); }
std::string unpack_configs() { return unpack(kPackedConfigs); }

}  // namespace vramgauge::tools

#include "catalogue_data.h"

#include <zlib.h>

namespace vramgauge::tools {

std::string unpack_catalogue() {
  std::string text(kPackedCatalogue.unpacked_size, '\0');
  uLongf size = text.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                kPackedCatalogue.bytes, kPackedCatalogue.size);
  return status == Z_OK && size == text.size() ? text : std::string();
}

}  // namespace vramgauge::tools

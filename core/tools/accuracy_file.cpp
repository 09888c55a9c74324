#include "accuracy_file.h"

#include <zlib.h>

#include <vector>

namespace vramgauge::tools {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

}  // namespace

std::optional<std::string> read_packed_file(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) break;
  }
  gzclose(file);
  if (got != 0) return std::nullopt;
  return text;
}

}  // namespace vramgauge::tools

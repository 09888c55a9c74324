// Build step: puts the configurations of the catalogue's models into the form that every session
// reads: vramgauge_compile INPUT.json OUTPUT.json
#include <cstdio>
#include <string>

#include "api/converter.h"

namespace {

constexpr int kUsage = 64;

bool read_file(const char* path, std::string& text) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char buffer[65536];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, size);
  const bool is_read = std::ferror(file) == 0;
  std::fclose(file);
  return is_read;
}

bool write_file(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_written;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vramgauge_compile INPUT.json OUTPUT.json\n");
    return kUsage;
  }
  std::string document;
  if (!read_file(argv[1], document)) {
    std::fprintf(stderr, "cannot read %s\n", argv[1]);
    return kUsage;
  }
  vramgauge::api::Converter converter;
  converter.load_catalogue(document);
  if (!write_file(argv[2], converter.compile(document))) {
    std::fprintf(stderr, "cannot write %s\n", argv[2]);
    return kUsage;
  }
  return 0;
}

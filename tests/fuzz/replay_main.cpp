// Runs a fuzz target over the files of the folders that are given, once each.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int replay(const std::filesystem::path& folder) {
  int replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::vector<uint8_t> input = read_file(entry.path());
    std::fprintf(stderr, "%s\n", entry.path().filename().c_str());
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++replayed;
  }
  return replayed;
}

}  // namespace

int main(int argc, char** argv) {
  int replayed = 0;
  for (int index = 1; index < argc; ++index)
    replayed += replay(argv[index]);
  std::printf("%d inputs replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}

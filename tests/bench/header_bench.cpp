// Time to read the header of a GGUF file with a large vocabulary. Printed, never asserted.
#include <benchmark/benchmark.h>

#include "import/gguf_reader.h"
#include "import/model_files.h"
#include "support/small_models.h"

namespace vramgauge {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

/// 12.6 MB: 262,144 words of 40 bytes with their lengths.
const std::string& large_gguf() {
  static const std::string kFile = testing::small_gguf({0, 1, 524'288, 16});
  return kFile;
}

void count_bytes(benchmark::State& state, uint64_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * static_cast<int64_t>(state.iterations()));
}

/// As a stream in pieces of 1 MiB.
void HeaderStream(benchmark::State& state) {
  const std::string_view file = large_gguf();
  uint64_t position = 0;
  for (auto _ : state) {
    GgufReader reader;
    for (uint64_t at = 0; reader.state() == GgufReader::State::needs_more; at += kPieceBytes)
      reader.feed(file.substr(static_cast<size_t>(at), static_cast<size_t>(kPieceBytes)));
    position = reader.position();
    benchmark::DoNotOptimize(reader.take());
  }
  count_bytes(state, position);
}
BENCHMARK(HeaderStream)->Unit(benchmark::kMillisecond);

/// Through the state machine, to the model.
void HeaderToModel(benchmark::State& state) {
  const std::string_view file = large_gguf();
  for (auto _ : state) {
    ModelFiles files(nullptr);
    files.add_file("model.gguf", file.size());
    for (auto wanted = files.wanted(); !wanted.empty(); wanted = files.wanted()) {
      const FileRange& range = wanted.front();
      files.feed(range.file, range.offset_bytes,
                 file.substr(static_cast<size_t>(range.offset_bytes),
                             static_cast<size_t>(range.length_bytes)));
    }
    benchmark::DoNotOptimize(files.finish());
  }
  count_bytes(state, testing::small_gguf_header_bytes({0, 1, 524'288, 16}));
}
BENCHMARK(HeaderToModel)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramgauge

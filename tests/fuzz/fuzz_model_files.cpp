// A set of files from anywhere, as one model. A byte says in pieces of which size their bytes come,
// and in which order; each file follows as: length of its name, name, how its size is given, size
// (8 bytes, when it is stated), length of its content (3 bytes), content. In pieces and at once the
// files must say the same, and reading must end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "fuzz_session.h"
#include "import/model_files.h"
#include "import/spec_json.h"

using namespace vramgauge;

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "model files: %s\n", what);
  std::abort();
}

struct InputFile {
  std::string name;
  std::optional<uint64_t> size_bytes;
  std::string_view content;
};

/// Takes the input apart; what is cut off is empty.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  uint64_t number(size_t num_bytes) {
    uint64_t value = 0;
    for (const char c : text(num_bytes))
      value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view text(uint64_t length) {
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(length));
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

std::vector<InputFile> read_files(Input& input) {
  enum class SizeMode : uint64_t { unknown, true_length, stated };
  constexpr uint64_t kMaxFiles = 64;
  std::vector<InputFile> files;
  while (!input.empty() && files.size() < kMaxFiles) {
    InputFile file;
    file.name = input.text(input.number(1));
    const auto mode = static_cast<SizeMode>(input.number(1) % 3);
    if (mode == SizeMode::stated) file.size_bytes = input.number(8);
    file.content = input.text(input.number(3));
    if (mode == SizeMode::true_length) file.size_bytes = file.content.size();
    files.push_back(std::move(file));
  }
  return files;
}

std::string_view piece_of(const InputFile& file, uint64_t offset, uint64_t length) {
  if (offset >= file.content.size()) return {};
  return file.content.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
}

/// Serves one range; with `piece` 0 at once.
void serve(ModelFiles& reading, const InputFile& file, const FileRange& range, uint64_t piece,
           bool is_backward) {
  const uint64_t there = piece_of(file, range.offset_bytes, range.length_bytes).size();
  if (piece == 0 || there == 0) {
    reading.feed(range.file, range.offset_bytes,
                 piece_of(file, range.offset_bytes, range.length_bytes));
    return;
  }
  const uint64_t count = (there + piece - 1) / piece;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = (is_backward ? count - 1 - i : i) * piece;
    reading.feed(range.file, range.offset_bytes + at,
                 piece_of(file, range.offset_bytes + at, std::min(piece, there - at)));
  }
}

Result<ImportedFiles> import(const std::vector<InputFile>& files, uint64_t piece,
                             bool is_backward) {
  // Each round takes in at least one byte or ends a file.
  constexpr uint64_t kMaxRounds = 100'000;
  ModelFiles reading(nullptr);
  for (const InputFile& file : files)
    reading.add_file(file.name, file.size_bytes);
  uint64_t rounds = 0;
  for (auto wanted = reading.wanted(); !wanted.empty(); wanted = reading.wanted()) {
    if (++rounds > kMaxRounds) broken("reading does not end");
    for (const FileRange& range : wanted) {
      if (range.length_bytes == 0) broken("nothing is wanted");
      serve(reading, files[static_cast<size_t>(range.file)], range, piece, is_backward);
    }
  }
  return reading.finish();
}

void check_messages(const Diagnostics& errors) {
  if (errors.empty()) broken("a failure without an error");
  for (const Diagnostic& error : errors) {
    if (message_of(error).empty()) broken("an error without a message");
  }
}

void use(ImportedFiles& files) {
  SpecDocument document;
  document.model = std::move(files.model);
  document.stored = std::move(files.stored);
  document.quantization = std::move(files.resolved_quantization);
  if (json::write(write_spec(document)).empty()) broken("a model that is not written");
}

/// A file that is too short for what it announces is refused as soon as that is known, so pieces
/// may end there before they come to another fault.
bool fail_alike(const Diagnostics& whole, const Diagnostics& pieces) {
  const ErrorCode code = pieces.front().code;
  return code == whole.front().code || code == ErrorCode::gguf_header_incomplete;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(fuzz::as_text(data, size));
  const uint64_t how = input.number(1);
  const std::vector<InputFile> files = read_files(input);
  Result<ImportedFiles> whole = import(files, 0, false);
  const Result<ImportedFiles> pieces = import(files, 1 + how / 2 * 61, how % 2 == 1);
  if (whole.has_value() != pieces.has_value()) broken("pieces end otherwise than the whole");
  if (!whole) {
    check_messages(whole.error());
    if (!fail_alike(whole.error(), pieces.error())) broken("pieces fail otherwise than the whole");
    return 0;
  }
  use(*whole);
  return 0;
}

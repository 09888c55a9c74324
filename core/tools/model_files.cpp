#include "model_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "api/reader.h"
#include "units/json.h"

namespace vramgauge::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
/// Of standard input: a configuration, or the beginning of a file.
constexpr std::uint64_t kMaxInputBytes = std::uint64_t{64} << 20;

/// A file that is read at any place, or all of standard input.
class Source {
 public:
  explicit Source(const std::string& path)
      : path_(path), name_(fs::path(path).filename().string()) {
    if (path == "-") {
      name_.clear();
      read_input();
      return;
    }
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    size_ = fs::file_size(path, error);
    is_there_ = !error && ::access(path.c_str(), R_OK) == 0;
  }
  ~Source() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  bool is_there() const { return is_there_; }
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Bytes from `offset` on, at most `length`; empty at the end, nothing when reading fails.
  std::optional<std::string_view> read(std::uint64_t offset, std::uint64_t length) {
    if (path_ == "-") return std::string_view(buffer_).substr(std::min(offset, size_), length);
    if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    buffer_.resize(std::min(length, kPieceBytes));
    const auto got =
        ::pread(descriptor_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset));
    if (got < 0) return std::nullopt;
    return std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
  }

 private:
  void read_input() {
    std::string piece(kPieceBytes, '\0');
    while (buffer_.size() < kMaxInputBytes) {
      const auto got = ::read(STDIN_FILENO, piece.data(), piece.size());
      if (got < 0) return;
      if (got == 0) break;
      buffer_.append(piece, 0, static_cast<std::size_t>(got));
    }
    is_there_ = true;
    size_ = buffer_.size();
  }

  std::string path_;
  std::string name_;
  std::string buffer_;
  bool is_there_ = false;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// The files of a folder, sorted; a file stands for itself.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto entry = fs::directory_iterator(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string open_request(const std::vector<std::unique_ptr<Source>>& sources) {
  json::Value files = json::Value::array();
  for (const auto& source : sources) {
    json::Value file = json::Value::object();
    file.set("name", source->name());
    file.set("size_bytes", source->size());
    files.push(std::move(file));
  }
  json::Value request = json::Value::object();
  request.set("files", std::move(files));
  return json::write(request);
}

std::uint64_t count_in(const json::Value& range, std::string_view key) {
  const json::Value* value = range.find(key);
  return value == nullptr ? 0 : value->as_u64().value_or(0);
}

/// Hands over what an answer wants first; the file that fails, or nothing more to do.
class Feeding {
 public:
  Feeding(api::Reader& reader, const std::vector<std::unique_ptr<Source>>& sources)
      : reader_(reader), sources_(sources) {}

  /// The envelope at the end.
  ReadModel run() {
    std::string answer = reader_.open(open_request(sources_));
    if (!is_ok(answer)) return {answer, ""};
    while (const std::optional<json::Value> range = first_wanted(answer)) {
      Source& source = *sources_[count_in(*range, "file")];
      const std::uint64_t offset = count_in(*range, "offset_bytes");
      const auto bytes = source.read(offset, count_in(*range, "length_bytes"));
      if (!bytes) return {"", source.name()};
      answer = reader_.feed(count_in(*range, "file"), offset, *bytes);
    }
    return {reader_.finish(), ""};
  }

 private:
  static bool is_ok(const std::string& answer) { return answer.rfind("{\"ok\":true", 0) == 0; }

  static std::optional<json::Value> first_wanted(const std::string& answer) {
    const Result<json::Value> envelope = json::parse(answer);
    const json::Value* result = envelope ? envelope->find("result") : nullptr;
    const json::Value* wanted = result == nullptr ? nullptr : result->find("wanted");
    const json::Value::Array* ranges = wanted == nullptr ? nullptr : wanted->as_array();
    if (ranges == nullptr || ranges->empty()) return std::nullopt;
    return ranges->front();
  }

  api::Reader& reader_;
  const std::vector<std::unique_ptr<Source>>& sources_;
};

}  // namespace

ReadModel read_model(const std::vector<std::string>& paths, const std::string& catalogue) {
  std::vector<std::unique_ptr<Source>> sources;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path)) {
      sources.push_back(std::make_unique<Source>(file));
      if (!sources.back()->is_there()) return {"", file};
    }
  }
  api::Reader reader;
  reader.load_catalogue(catalogue);
  return Feeding(reader, sources).run();
}

}  // namespace vramgauge::tools

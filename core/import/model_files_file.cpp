// How one file is read: its beginning, its header, its end.
#include "import/model_files_file.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge::files {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
/// The first look: most headers of single safetensors files and all configurations are shorter.
constexpr uint64_t kFirstBytes = 64 * kKiB;
/// Vocabularies make GGUF headers of 1 to 16 MiB.
constexpr uint64_t kFirstGgufBytes = kMiB;
constexpr uint64_t kMaxWindowBytes = 8 * kMiB;
/// Of an index and of other texts, as their parsers have it.
constexpr uint64_t kMaxIndexBytes = 64 * kMiB;
constexpr uint64_t kMaxTextBytes = 8 * kMiB;

void fail_with(File& file, Diagnostics errors) {
  file.errors = std::move(errors);
  file.phase = File::Phase::failed;
}

void fail_with(File& file, ErrorCode code, ErrorArgs args) {
  fail_with(file, fail(code, "", std::move(args)).value());
}

/// Ends a file, with the memory that only reading needed.
void finish(File& file, Diagnostics errors) {
  if (!errors.empty()) return fail_with(file, std::move(errors));
  file.phase = File::Phase::done;
}

template <typename T>
Diagnostics store(Result<T> result, T& target) {
  if (!result) return std::move(result.error());
  target = std::move(*result);
  return {};
}

void drop(std::string& text) { std::string().swap(text); }

void finish_gguf(File& file) {
  file.gguf = file.gguf_reader->take();
  file.gguf_reader.reset();
  finish(file, check_length(file));
}

/// The header cannot end inside the file.
void fail_short_gguf(File& file) {
  const uint64_t end = file.next + file.gguf_reader->min_bytes_needed();
  fail_with(file, ErrorCode::gguf_header_incomplete,
            {{"bytes", *file.size_bytes}, {"missing", end - *file.size_bytes}});
}

void advance_gguf(File& file) {
  const GgufReader& reader = *file.gguf_reader;
  if (reader.state() == GgufReader::State::failed) return fail_with(file, reader.errors());
  if (reader.state() == GgufReader::State::complete) return finish_gguf(file);
  if (file.size_bytes && reader.min_bytes_needed() > *file.size_bytes - file.next)
    fail_short_gguf(file);
}

/// How much of the file is its header; the errors say when that cannot be.
Result<uint64_t> header_bytes(const File& file) {
  Result<uint64_t> length = safetensors_header_length(file.content);
  if (length && file.size_bytes && *length > *file.size_bytes) {
    return fail(ErrorCode::safetensors_header_incomplete, "",
                {{"needed", *length}, {"bytes", *file.size_bytes}});
  }
  return length;
}

/// Room for the whole header at once: growing would hold it twice. What a file announces that may
/// not be there is only believed up to a limit.
void make_room(File& file, uint64_t header_bytes) {
  const uint64_t believed =
      file.size_bytes ? header_bytes : std::min(header_bytes, 4 * kMaxWindowBytes);
  file.content.reserve(index_of(believed));
}

void advance_safetensors(File& file) {
  const Result<uint64_t> length = header_bytes(file);
  if (!length) return fail_with(file, length.error());
  if (file.content.size() < *length) return make_room(file, *length);
  Diagnostics errors = store(read_safetensors_header(file.content), file.safetensors);
  drop(file.content);
  finish(file, errors.empty() ? check_length(file) : std::move(errors));
}

void finish_index(File& file) {
  Diagnostics errors = store(read_safetensors_index(file.content), file.index);
  drop(file.content);
  finish(file, std::move(errors));
}

void advance_text(File& file) {
  const uint64_t size = std::max<uint64_t>(file.size_bytes.value_or(0), file.next);
  const uint64_t limit = file.kind == Kind::index ? kMaxIndexBytes : kMaxTextBytes;
  if (size > limit)
    return fail_with(file, ErrorCode::json_too_large, {{"bytes", size}, {"limit", limit}});
  if (!file.is_at_end()) return;
  if (file.kind == Kind::index) return finish_index(file);
  Diagnostics errors = store(json::parse(file.content), file.document);
  if (!errors.empty()) return fail_with(file, std::move(errors));
  file.phase = File::Phase::done;
  if (file.kind != Kind::json) return;
  file.kind = kind_by_members(file.document);
  if (file.kind == Kind::index) finish_index(file);
}

/// Settles what the file is; a stored beginning goes to its reader.
void identify(File& file, std::string_view head) {
  if (is_lfs_pointer(head) && file.kind != Kind::json)
    return fail_with(file, ErrorCode::import_lfs_pointer, {{"file", file.name}});
  file.kind = kind_by_content(file.kind, head);
  file.phase = File::Phase::body;
  if (!is_read(file.kind, {})) {
    file.phase = File::Phase::done;
    return drop(file.content);
  }
  if (!file.is_gguf()) return;
  file.gguf_reader.emplace();
  if (!file.content.empty()) file.gguf_reader->feed(file.content);
  drop(file.content);
}

uint64_t first_bytes(const File& file) { return file.is_gguf() ? kFirstGgufBytes : kFirstBytes; }

uint64_t body_bytes(const File& file) {
  if (file.is_gguf()) return std::max(file.gguf_reader->min_bytes_needed(), file.next);
  if (!file.is_safetensors()) return std::max(kFirstBytes, file.next);
  return safetensors_header_length(file.content).value_or(kFirstBytes) - file.next;
}

}  // namespace

Present present_in(const std::vector<File>& files) {
  Present present;
  for (const File& file : files) {
    present.gguf |= file.kind == Kind::gguf;
    present.safetensors |= file.kind == Kind::safetensors;
  }
  return present;
}

bool is_read(Kind kind, const Present& present) {
  switch (kind) {
    case Kind::unknown:
    case Kind::gguf:
    case Kind::safetensors: return true;
    case Kind::projector:
    case Kind::index:
    case Kind::config:
    case Kind::quantization:
    case Kind::json: return !present.gguf;
    case Kind::consolidated: return !present.gguf && !present.safetensors;
    case Kind::pickle:
    case Kind::side:
    case Kind::other: return false;
  }
  return false;
}

uint64_t window_end(const File& file) {
  const uint64_t wanted =
      file.phase == File::Phase::beginning ? first_bytes(file) - file.next : body_bytes(file);
  return file.next + std::min(wanted, kMaxWindowBytes);
}

Diagnostics check_length(const File& file) {
  if (!file.size_bytes) return {};
  if (file.is_gguf()) return check_gguf_length(file.gguf, *file.size_bytes);
  if (file.is_safetensors()) return check_safetensors_length(file.safetensors, *file.size_bytes);
  return {};
}

void take(File& file, std::string_view bytes) {
  if (file.phase == File::Phase::beginning && file.content.empty() && bytes.size() >= kHeadBytes)
    identify(file, bytes);
  if (file.is_ended()) return;
  file.next += bytes.size();
  if (file.gguf_reader) {
    file.gguf_reader->feed(bytes);
  } else {
    file.content.append(bytes);
  }
}

void advance(File& file) {
  const bool is_head_there = file.content.size() >= kHeadBytes || file.is_at_end();
  if (file.phase == File::Phase::beginning && is_head_there) identify(file, file.content);
  if (file.phase != File::Phase::body) return;
  if (file.is_gguf()) return advance_gguf(file);
  if (file.is_safetensors()) return advance_safetensors(file);
  advance_text(file);
}

}  // namespace vramgauge::files

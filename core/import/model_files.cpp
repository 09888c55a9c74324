#include "import/model_files.h"

#include <algorithm>

#include "import/model_files_join.h"
#include "units/index.h"

namespace vramgauge {
namespace {

using files::File;

constexpr std::string_view::size_type kMaxNameBytes = 255;

std::string base_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(name.substr(0, kMaxNameBytes));
}

/// The next stretch, once the last one has come.
void renew_window(File& file) {
  if (file.is_ended() || file.next < file.window_end) return;
  file.window_end = files::window_end(file);
  if (file.size_bytes) file.window_end = std::min(file.window_end, *file.size_bytes);
}

void fail_with(File& file, ErrorCode code, ErrorArgs args) {
  file.errors = fail(code, "", std::move(args)).value();
  file.phase = File::Phase::failed;
}

void take_in_order(File& file, std::string_view bytes) {
  files::take(file, bytes);
  for (auto held = file.pieces.held_from(file.next); !held.empty();
       held = file.pieces.held_from(file.next)) {
    if (file.is_ended()) break;
    files::take(file, held);
  }
  file.pieces.drop_before(file.is_ended() ? UINT64_MAX : file.next);
}

}  // namespace

ModelFiles::ModelFiles(const json::Value* class_defaults) : class_defaults_(class_defaults) {}

void ModelFiles::add_file(std::string_view name, std::optional<uint64_t> size_bytes) {
  if (files_.size() >= kMaxFiles) {
    ++num_refused_;
    return;
  }
  File file;
  file.name = base_name(name);
  file.kind = files::kind_by_name(file.name);
  file.size_bytes = size_bytes;
  files_.push_back(std::move(file));
  if (files::is_read(files_.back().kind, {})) advance(files_.back());
}

bool ModelFiles::has_failed() const {
  return num_refused_ != 0 || std::any_of(files_.begin(), files_.end(), [](const File& file) {
           return file.phase == File::Phase::failed;
         });
}

std::vector<FileRange> ModelFiles::wanted() const {
  std::vector<FileRange> ranges;
  if (has_failed()) return ranges;
  const files::Present present = files::present_in(files_);
  for (uint64_t i = 0; i < files_.size(); ++i) {
    const File& file = files_[index_of(i)];
    if (file.is_ended() || !files::is_read(file.kind, present)) continue;
    ranges.push_back({i, file.next, file.pieces.first_or(file.window_end) - file.next});
  }
  return ranges;
}

void ModelFiles::advance(File& file) {
  files::advance(file);
  renew_window(file);
}

Diagnostics ModelFiles::not_wanted(uint64_t file, uint64_t offset_bytes,
                                   uint64_t length_bytes) const {
  const std::string name =
      file < files_.size() ? files_[index_of(file)].name : "file " + std::to_string(file);
  return fail(ErrorCode::import_not_wanted, "",
              {{"file", name}, {"offset", offset_bytes}, {"length", length_bytes}})
      .value();
}

Diagnostics ModelFiles::feed(uint64_t index, uint64_t offset_bytes, std::string_view bytes) {
  if (index >= files_.size()) return not_wanted(index, offset_bytes, bytes.size());
  File& file = files_[index_of(index)];
  if (file.phase == File::Phase::failed) return located_errors(file);
  if (bytes.empty())
    return offset_bytes == file.next && !file.is_ended() ? end_at(file, offset_bytes)
                                                         : Diagnostics();
  const bool is_inside =
      offset_bytes < file.window_end && bytes.size() <= file.window_end - offset_bytes;
  if (!is_inside) return not_wanted(index, offset_bytes, bytes.size());
  if (file.is_ended() || offset_bytes + bytes.size() <= file.next) return {};
  if (offset_bytes > file.next) {
    file.pieces.hold(file.next, file.window_end, offset_bytes, bytes);
    return {};
  }
  take_in_order(file, bytes.substr(index_of(file.next - offset_bytes)));
  advance(file);
  return located_errors(file);
}

Diagnostics ModelFiles::located_errors(const File& file) const {
  Diagnostics errors;
  files::append_located(errors, file, files_.size(), file.errors);
  return errors;
}

Diagnostics ModelFiles::end_at(File& file, uint64_t size_bytes) {
  const uint64_t known = std::max(file.size_bytes.value_or(size_bytes), file.next);
  if (known != size_bytes) {
    fail_with(file, ErrorCode::import_wrong_size,
              {{"file", file.name}, {"bytes", size_bytes}, {"size", known}});
    return located_errors(file);
  }
  file.size_bytes = size_bytes;
  file.window_end = std::min(file.window_end, size_bytes);
  if (file.phase == File::Phase::done) {
    file.errors = files::check_length(file);
    if (!file.errors.empty()) file.phase = File::Phase::failed;
  } else if (files::is_read(file.kind, {})) {
    advance(file);
  }
  return located_errors(file);
}

Diagnostics ModelFiles::set_size(uint64_t index, uint64_t size_bytes) {
  if (index >= files_.size()) return not_wanted(index, 0, size_bytes);
  File& file = files_[index_of(index)];
  if (file.phase == File::Phase::failed) return located_errors(file);
  return end_at(file, size_bytes);
}

const std::string& ModelFiles::name(uint64_t file) const { return files_[index_of(file)].name; }

uint64_t ModelFiles::received_bytes() const {
  uint64_t bytes = 0;
  for (const File& file : files_)
    bytes += file.next;
  return bytes;
}

Diagnostics ModelFiles::errors() const {
  Diagnostics errors;
  const files::Present present = files::present_in(files_);
  for (const File& file : files_) {
    if (!files::is_read(file.kind, present)) continue;
    if (file.phase == File::Phase::failed) {
      files::append_located(errors, file, files_.size(), file.errors);
    } else if (file.phase != File::Phase::done) {
      errors.push_back({ErrorCode::import_incomplete,
                        "",
                        {{"file", file.name}, {"byte", file.next}},
                        std::nullopt});
    }
  }
  return errors;
}

Result<ImportedFiles> ModelFiles::finish() {
  if (num_refused_ != 0) {
    return fail(ErrorCode::import_too_many_files, "",
                {{"count", kMaxFiles + num_refused_}, {"limit", kMaxFiles}});
  }
  Diagnostics wrong = errors();
  std::vector<File> files = std::move(files_);
  files_.clear();
  if (!wrong.empty()) return fail(std::move(wrong));
  return files::join(std::move(files), class_defaults_);
}

}  // namespace vramgauge

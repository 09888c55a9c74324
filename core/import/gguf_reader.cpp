#include "import/gguf_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "units/bytes.h"
#include "units/index.h"

namespace vramgauge {
namespace {

using gguf::Cursor;

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kMinVersion = 2;
constexpr uint32_t kMaxVersion = 3;
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kLengthBytes = 8;
/// The shortest entry (length, one letter, type, one byte) and tensor (length, one letter, number
/// of dimensions, type, offset) there can be.
constexpr uint64_t kMinEntryBytes = 14;
constexpr uint64_t kMinTensorBytes = 25;

/// Version numbers are small, so their bytes tell the file's byte order.
bool is_byte_swapped(uint32_t version) { return version != 0 && (version & 0xFFFF) == 0; }

bool is_printable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

/// Bytes of a UTF-8 character by its first one; 0 when none begins so.
uint64_t character_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return 2;
  return first < 0xF0 ? 3 : 4;
}

/// Bytes of the UTF-8 character that begins the text; 0 when it is none.
uint64_t character_bytes(std::string_view text) {
  const auto at = [text](uint64_t i) { return static_cast<unsigned char>(text[index_of(i)]); };
  const unsigned char first = at(0);
  const uint64_t length = character_bytes(first);
  if (length > text.size()) return 0;
  for (uint64_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return 0;
  }
  const bool is_overlong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
  const bool is_outside = (first == 0xED && at(1) >= 0xA0) || (first == 0xF4 && at(1) >= 0x90);
  return is_overlong || is_outside ? 0 : length;
}

/// The text with a question mark for every byte that is not UTF-8.
std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const uint64_t length = character_bytes(text);
    result += length == 0 ? std::string_view("?") : text.substr(0, index_of(length));
    text.remove_prefix(index_of(std::max<uint64_t>(length, 1)));
  }
  return result;
}

double real_of(uint64_t bits, GgufType type) {
  if (type == GgufType::f64) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  const auto narrow = static_cast<uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &narrow, sizeof value);
  return static_cast<double>(value);
}

GgufValue number_of(uint64_t bits, GgufType type, uint64_t width) {
  switch (type) {
    case GgufType::f32:
    case GgufType::f64: return real_of(bits, type);
    case GgufType::boolean: return bits != 0;
    case GgufType::i8:
    case GgufType::i16:
    case GgufType::i32:
    case GgufType::i64: return gguf::sign_extended(bits, width);
    default: return bits;
  }
}

/// The second of two equal names, or null.
template <typename Item>
const Item* find_twice(const std::vector<Item>& items, std::string Item::*name) {
  std::vector<const Item*> sorted;
  sorted.reserve(items.size());
  for (const Item& item : items)
    sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(), [name](const Item* a, const Item* b) {
    const int order = (a->*name).compare(b->*name);
    return order != 0 ? order < 0 : a < b;
  });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [name](const Item* a, const Item* b) { return a->*name == b->*name; });
  return twice == sorted.end() ? nullptr : *std::next(twice);
}

}  // namespace

GgufReader::GgufReader(const GgufLimits& limits) : limits_(limits) {}

GgufReader::State GgufReader::feed(std::string_view bytes) {
  while (!bytes.empty() && state_ == State::needs_more) {
    if (!buffer_.empty()) {
      feed_buffered(bytes);
      continue;
    }
    bytes.remove_prefix(index_of(consume(bytes)));
    if (state_ != State::needs_more) break;
    buffer_.assign(bytes);
    bytes = {};
  }
  return state_;
}

void GgufReader::feed_buffered(std::string_view& bytes) {
  const uint64_t missing = entry_needs_ - std::min<uint64_t>(entry_needs_, buffer_.size());
  const uint64_t taken = std::min<uint64_t>(missing, bytes.size());
  buffer_.append(bytes.substr(0, index_of(taken)));
  bytes.remove_prefix(index_of(taken));
  if (buffer_.size() < entry_needs_) return;
  buffer_.erase(0, index_of(consume(buffer_)));
}

uint64_t GgufReader::consume(std::string_view bytes) {
  Cursor cursor(bytes, header_.is_big_endian);
  while (state_ == State::needs_more) {
    const uint64_t passed = std::min(skip_bytes_, cursor.left());
    cursor.pass(passed);
    skip_bytes_ -= passed;
    position_ += cursor.begin_entry();
    if (position_ > limits_.max_header_bytes) {
      fail_at(ErrorCode::gguf_header_too_large, position_, {{"limit", limits_.max_header_bytes}});
    }
    if (skip_bytes_ != 0) break;
    next_phase();
    if (state_ != State::needs_more) break;
    if (!step(cursor)) {
      cursor.rewind();
      break;
    }
  }
  return cursor.taken();
}

uint64_t GgufReader::min_bytes_needed() const {
  if (state_ != State::needs_more) return 0;
  CheckedU64 needed(skip_bytes_);
  for (const OpenList& list : lists_)
    needed += CheckedU64(list.left) * kLengthBytes;
  needed += CheckedU64(entries_left_) * kMinEntryBytes;
  needed += CheckedU64(tensors_left_) * kMinTensorBytes;
  // What is buffered belongs to the first of these.
  const uint64_t least =
      needed.value_or(0) - std::min<uint64_t>(needed.value_or(0), buffer_.size());
  const uint64_t missing = entry_needs_ - std::min<uint64_t>(entry_needs_, buffer_.size());
  return std::max<uint64_t>({least, missing, 1});
}

bool GgufReader::step(Cursor& cursor) {
  switch (phase_) {
    case Phase::start: return read_start(cursor);
    case Phase::entries: return read_entry(cursor);
    case Phase::elements: return pass_elements(cursor);
    case Phase::tensors: return read_tensor(cursor);
  }
  return false;
}

/// What comes next in the file.
void GgufReader::next_phase() {
  if (phase_ == Phase::start) return;
  if (!lists_.empty()) {
    phase_ = Phase::elements;
  } else if (entries_left_ != 0) {
    phase_ = Phase::entries;
  } else if (phase_ != Phase::tensors) {
    phase_ = Phase::tensors;
    if (!read_alignment() || !read_split()) return;
  }
  if (phase_ == Phase::tensors && tensors_left_ == 0) finish();
}

bool GgufReader::read_start(Cursor& cursor) {
  cursor.set_big_endian(false);
  if (!has(cursor, kMagic.size())) return false;
  if (cursor.text(kMagic.size()) != kMagic) return fail_at(ErrorCode::gguf_bad_magic, 0);
  return read_version(cursor) && read_counts(cursor);
}

bool GgufReader::read_version(Cursor& cursor) {
  if (!has(cursor, 4)) return false;
  header_.version = cursor.u32();
  header_.is_big_endian = is_byte_swapped(header_.version);
  if (header_.is_big_endian) header_.version = __builtin_bswap32(header_.version);
  cursor.set_big_endian(header_.is_big_endian);
  const uint64_t version = header_.version;
  if (version == 1) return fail_at(ErrorCode::gguf_version_1, 4);
  if (version < kMinVersion || version > kMaxVersion)
    return fail_at(ErrorCode::gguf_unknown_version, 4, {{"version", version}});
  return true;
}

bool GgufReader::read_counts(Cursor& cursor) {
  if (!has(cursor, 2 * kLengthBytes)) return false;
  tensors_left_ = cursor.u64();
  entries_left_ = cursor.u64();
  if (tensors_left_ > limits_.max_tensors) {
    return fail_at(ErrorCode::gguf_too_many, 8,
                   {{"what", "tensors"}, {"count", tensors_left_}, {"limit", limits_.max_tensors}});
  }
  if (entries_left_ > limits_.max_keys) {
    return fail_at(ErrorCode::gguf_too_many, 16,
                   {{"what", "keys"}, {"count", entries_left_}, {"limit", limits_.max_keys}});
  }
  phase_ = Phase::entries;
  return true;
}

bool GgufReader::read_name(Cursor& cursor, std::string& name) {
  if (!has(cursor, kLengthBytes)) return false;
  const uint64_t offset = cursor.offset();
  const uint64_t length = cursor.u64();
  if (length == 0 || length > limits_.max_name_bytes) {
    return fail_at(ErrorCode::gguf_bad_name_length, position_ + offset,
                   {{"length", length}, {"limit", limits_.max_name_bytes}});
  }
  if (!has(cursor, length)) return false;
  const std::string_view text = cursor.text(length);
  if (!is_printable(text)) return fail_at(ErrorCode::gguf_bad_name, position_ + offset);
  name = text;
  return true;
}

bool GgufReader::read_entry(Cursor& cursor) {
  GgufEntry entry;
  entry.offset = position_;
  if (!read_name(cursor, entry.key) || !read_value(cursor, entry)) return false;
  header_.entries.push_back(std::move(entry));
  --entries_left_;
  return true;
}

bool GgufReader::read_value(Cursor& cursor, GgufEntry& entry) {
  if (!has(cursor, 4)) return false;
  const uint64_t offset = cursor.offset();
  const uint32_t type = cursor.u32();
  const auto width = gguf_type_bytes(type);
  if (!width) {
    return fail_at(ErrorCode::gguf_unknown_value_type, position_ + offset,
                   {{"key", entry.key}, {"type", uint64_t{type}}});
  }
  if (type == static_cast<uint32_t>(GgufType::string)) return read_string(cursor, entry);
  if (type == static_cast<uint32_t>(GgufType::array)) return read_array(cursor, entry);
  return read_number(cursor, entry, static_cast<GgufType>(type));
}

bool GgufReader::read_number(Cursor& cursor, GgufEntry& entry, GgufType type) {
  const uint64_t width = gguf_type_bytes(static_cast<uint32_t>(type)).value_or(0);
  if (!has(cursor, width)) return false;
  entry.value = number_of(cursor.number(width), type, width);
  return true;
}

bool GgufReader::read_string(Cursor& cursor, GgufEntry& entry) {
  if (!has(cursor, kLengthBytes)) return false;
  GgufString string;
  string.bytes = cursor.u64();
  string.is_kept = string.bytes <= limits_.max_kept_string_bytes;
  if (!string.is_kept) {
    const uint64_t bytes = string.bytes;
    entry.value = std::move(string);
    return skip(cursor, bytes);
  }
  if (!has(cursor, string.bytes)) return false;
  string.text = as_utf8(cursor.text(string.bytes));
  entry.value = std::move(string);
  return true;
}

bool GgufReader::read_array(Cursor& cursor, GgufEntry& entry) {
  if (!has(cursor, 4 + kLengthBytes)) return false;
  const uint64_t offset = cursor.offset();
  const uint32_t element = cursor.u32();
  GgufArray array;
  array.count = cursor.u64();
  const auto width = gguf_type_bytes(element);
  if (!width) {
    return fail_at(ErrorCode::gguf_unknown_value_type, position_ + offset,
                   {{"key", entry.key}, {"type", uint64_t{element}}});
  }
  array.element = static_cast<GgufType>(element);
  array.is_big_endian = header_.is_big_endian;
  const bool is_read =
      *width != 0 ? read_elements(cursor, array, *width) : open_list(cursor, element, array.count);
  entry.value = std::move(array);
  return is_read;
}

bool GgufReader::read_elements(Cursor& cursor, GgufArray& array, uint64_t width) {
  const auto bytes = (CheckedU64(array.count) * width).get();
  array.is_kept = bytes && *bytes <= limits_.max_kept_array_bytes;
  if (!array.is_kept) return skip(cursor, bytes.value_or(UINT64_MAX));
  if (!has(cursor, *bytes)) return false;
  array.raw = cursor.text(*bytes);
  return true;
}

/// Elements without a fixed size are passed over one by one.
bool GgufReader::open_list(Cursor& cursor, uint32_t element, uint64_t count) {
  if (lists_.size() >= limits_.max_depth) {
    return fail_at(ErrorCode::gguf_too_deep, position_ + cursor.offset(),
                   {{"limit", limits_.max_depth}});
  }
  // Each element has its length in front of it.
  if (count > limits_.max_header_bytes / kLengthBytes) {
    return fail_at(ErrorCode::gguf_too_many, position_ + cursor.offset(),
                   {{"what", "list elements"},
                    {"count", count},
                    {"limit", limits_.max_header_bytes / kLengthBytes}});
  }
  if (count != 0) lists_.push_back({element, count});
  return true;
}

bool GgufReader::pass_elements(Cursor& cursor) {
  OpenList& list = lists_.back();
  if (list.element == static_cast<uint32_t>(GgufType::string)) return pass_strings(cursor, list);
  return pass_array(cursor, list);
}

bool GgufReader::pass_strings(Cursor& cursor, OpenList& list) {
  if (!has(cursor, kLengthBytes)) return false;
  while (list.left != 0 && cursor.left() >= kLengthBytes) {
    const uint64_t length = cursor.u64();
    --list.left;
    if (length > cursor.left()) {
      if (list.left == 0) lists_.pop_back();
      return skip(cursor, length);
    }
    cursor.pass(length);
  }
  if (list.left == 0) lists_.pop_back();
  return true;
}

bool GgufReader::pass_array(Cursor& cursor, OpenList& list) {
  if (!has(cursor, 4 + kLengthBytes)) return false;
  const uint64_t offset = cursor.offset();
  const uint32_t element = cursor.u32();
  const uint64_t count = cursor.u64();
  const auto width = gguf_type_bytes(element);
  if (!width) {
    return fail_at(ErrorCode::gguf_unknown_value_type, position_ + offset,
                   {{"key", header_.entries.back().key}, {"type", uint64_t{element}}});
  }
  if (--list.left == 0) lists_.pop_back();
  if (*width == 0) return open_list(cursor, element, count);
  return skip(cursor, (CheckedU64(count) * *width).value_or(UINT64_MAX));
}

bool GgufReader::read_tensor(Cursor& cursor) {
  GgufTensorInfo tensor;
  tensor.offset = position_;
  if (header_.split) tensor.shard = static_cast<uint32_t>(header_.split->index);
  if (!read_name(cursor, tensor.name) || !read_dims(cursor, tensor)) return false;
  if (!has(cursor, 4 + kLengthBytes)) return false;
  const uint32_t type = cursor.u32();
  tensor.data_offset = cursor.u64();
  if (!set_size(tensor, type) || !check_place(tensor)) return false;
  header_.tensors.push_back(std::move(tensor));
  --tensors_left_;
  return true;
}

bool GgufReader::read_dims(Cursor& cursor, GgufTensorInfo& tensor) {
  if (!has(cursor, 4)) return false;
  tensor.num_dims = cursor.u32();
  if (tensor.num_dims > kMaxDims) {
    return fail_tensor(ErrorCode::gguf_too_many_dims, tensor,
                       {{"count", uint64_t{tensor.num_dims}}, {"limit", uint64_t{kMaxDims}}});
  }
  if (!has(cursor, tensor.num_dims * kLengthBytes)) return false;
  CheckedU64 elements(uint64_t{1});
  for (uint32_t i = 0; i < tensor.num_dims; ++i) {
    tensor.dims[i] = cursor.u64();
    elements *= CheckedU64(tensor.dims[i]);
  }
  if (elements.value_or(UINT64_MAX) > kMaxApiBytes)
    return fail_tensor(ErrorCode::gguf_size_overflow, tensor);
  if (elements == CheckedU64(uint64_t{0})) return fail_tensor(ErrorCode::gguf_empty_tensor, tensor);
  return true;
}

bool GgufReader::set_size(GgufTensorInfo& tensor, uint32_t type) {
  const GgmlTypeInfo* info = find_ggml_type(type);
  if (info == nullptr) {
    return fail_tensor(ErrorCode::gguf_unknown_tensor_type, tensor, {{"type", uint64_t{type}}});
  }
  tensor.type = info->type;
  if (!fits_row(info->type, tensor.dims[0])) {
    return fail_tensor(
        ErrorCode::gguf_row_not_divisible, tensor,
        {{"row", tensor.dims[0]}, {"block", info->block_elements}, {"type", info->name}});
  }
  const CheckedU64 bytes =
      row_bytes(info->type, tensor.dims[0]) * CheckedU64(tensor.elements() / tensor.dims[0]);
  if (bytes.value_or(UINT64_MAX) > kMaxApiBytes)
    return fail_tensor(ErrorCode::gguf_size_overflow, tensor);
  tensor.bytes = bytes.value_or(0);
  return true;
}

/// The data lies in the order of the list, each tensor padded to the alignment.
bool GgufReader::check_place(const GgufTensorInfo& tensor) {
  if (tensor.data_offset != data_end_) {
    return fail_tensor(ErrorCode::gguf_bad_offset, tensor,
                       {{"offset", tensor.data_offset}, {"expected", data_end_}});
  }
  const CheckedU64 end =
      CheckedU64(data_end_) + round_up(CheckedU64(tensor.bytes), CheckedU64(header_.alignment));
  if (end.value_or(UINT64_MAX) > kMaxApiBytes)
    return fail_tensor(ErrorCode::gguf_size_overflow, tensor);
  data_end_ = end.value_or(0);
  return true;
}

bool GgufReader::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  constexpr uint64_t kMaxAlignment = uint64_t{1} << 30;
  if (header_.find(kKey) == nullptr) return true;
  const uint64_t alignment = header_.u64(kKey).value_or(0);
  const bool is_power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power_of_two || alignment > kMaxAlignment) {
    const auto entry = std::find_if(header_.entries.begin(), header_.entries.end(),
                                    [&](const GgufEntry& item) { return item.key == kKey; });
    return fail_at(ErrorCode::gguf_bad_alignment, entry->offset, {{"alignment", alignment}});
  }
  header_.alignment = alignment;
  return true;
}

bool GgufReader::read_split() {
  const auto count = header_.u64("split.count");
  if (!count || *count <= 1) return true;
  GgufSplit split;
  split.count = *count;
  split.index = header_.u64("split.no").value_or(UINT64_MAX);
  split.num_tensors = header_.u64("split.tensors.count").value_or(UINT64_MAX);
  if (split.index >= split.count || split.count > limits_.max_tensors ||
      split.num_tensors > limits_.max_tensors)
    return fail_at(ErrorCode::gguf_bad_split, position_);
  header_.split = split;
  return true;
}

bool GgufReader::find_duplicates() {
  if (const GgufEntry* twice = find_twice(header_.entries, &GgufEntry::key))
    return fail_at(ErrorCode::gguf_duplicate_key, twice->offset, {{"key", twice->key}});
  if (const GgufTensorInfo* twice = find_twice(header_.tensors, &GgufTensorInfo::name))
    return fail_tensor(ErrorCode::gguf_duplicate_tensor, *twice);
  return true;
}

void GgufReader::finish() {
  if (!find_duplicates()) return;
  header_.data_offset =
      round_up(CheckedU64(position_), CheckedU64(header_.alignment)).value_or(position_);
  header_.data_bytes = data_end_;
  state_ = State::complete;
}

/// Passes over bytes that need not be at hand; ends the entry.
bool GgufReader::skip(Cursor& cursor, uint64_t bytes) {
  if (bytes > limits_.max_header_bytes) {
    return fail_at(ErrorCode::gguf_header_too_large, position_ + cursor.offset(),
                   {{"limit", limits_.max_header_bytes}});
  }
  skip_bytes_ = bytes;
  return true;
}

/// True when so many bytes are at hand; otherwise notes what the entry needs.
bool GgufReader::has(const Cursor& cursor, uint64_t bytes) {
  if (cursor.left() >= bytes) return true;
  entry_needs_ = cursor.offset() + bytes;
  return false;
}

bool GgufReader::fail_at(ErrorCode code, uint64_t offset, ErrorArgs args) {
  args.push_back({"byte", offset});
  errors_.push_back({code, "", std::move(args), std::nullopt});
  state_ = State::failed;
  return false;
}

bool GgufReader::fail_tensor(ErrorCode code, const GgufTensorInfo& tensor, ErrorArgs args) {
  args.push_back({"tensor", tensor.name});
  return fail_at(code, tensor.offset, std::move(args));
}

Result<GgufHeader> read_gguf_header(std::string_view bytes, const GgufLimits& limits) {
  GgufReader reader(limits);
  switch (reader.feed(bytes)) {
    case GgufReader::State::complete: return reader.take();
    case GgufReader::State::failed: return fail(reader.errors());
    case GgufReader::State::needs_more: break;
  }
  return fail(ErrorCode::gguf_header_incomplete, "",
              {{"bytes", uint64_t{bytes.size()}}, {"missing", reader.min_bytes_needed()}});
}

}  // namespace vramgauge

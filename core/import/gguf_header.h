// What a GGUF file says before its data: metadata and the list of tensors. The format is described
// in ggml's docs/gguf.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "units/error.h"
#include "units/ggml_types.h"

namespace vramgauge {

/// Types of metadata values, by their identifiers in files.
enum class GgufType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// Bytes of a number of that type; 0 for strings and arrays, nothing for an unknown identifier.
std::optional<uint64_t> gguf_type_bytes(uint32_t type);

/// Bounds of a header; beyond them it is refused before it can cost memory or time.
struct GgufLimits {
  uint64_t max_header_bytes = uint64_t{1} << 30;
  uint64_t max_keys = 65'536;
  uint64_t max_tensors = 262'144;
  uint64_t max_name_bytes = 1024;
  /// Longest string that is kept as a value; longer ones (chat templates) are skipped.
  uint64_t max_kept_string_bytes = 4096;
  /// Longest array of numbers that is kept, in bytes; longer ones are skipped.
  uint64_t max_kept_array_bytes = 65'536;
  /// Arrays inside arrays.
  uint64_t max_depth = 4;
};

/// A list of numbers; `raw` holds them in the file's own form, and stays empty when the list was
/// skipped because it is long or holds strings.
struct GgufArray {
  GgufType element = GgufType::u8;
  uint64_t count = 0;
  bool is_kept = false;
  bool is_big_endian = false;
  std::string raw;

  /// An element as a non-negative integer (a boolean is 0 or 1); nothing when it is negative, not
  /// an integer, or not kept.
  std::optional<uint64_t> u64_at(uint64_t index) const;
};

/// A string of the metadata; `text` is empty when it was too long to keep.
struct GgufString {
  uint64_t bytes = 0;
  bool is_kept = false;
  std::string text;
};

/// Integers keep their sign; booleans are apart.
using GgufValue = std::variant<uint64_t, int64_t, double, bool, GgufString, GgufArray>;

struct GgufEntry {
  std::string key;
  GgufValue value;
  /// Where the entry begins in its file.
  uint64_t offset = 0;
};

struct GgufTensorInfo {
  std::string name;
  /// Innermost dimension first; unused ones are 1.
  std::array<uint64_t, 4> dims{1, 1, 1, 1};
  uint32_t num_dims = 0;
  GgmlType type = GgmlType::f32;
  /// Into the data part of its file.
  uint64_t data_offset = 0;
  uint64_t bytes = 0;
  /// Which file of a split model, counted from 0.
  uint32_t shard = 0;
  /// Where the entry begins in the header.
  uint64_t offset = 0;

  /// All elements; the reader has checked that the product fits.
  uint64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

/// A file that is one of several.
struct GgufSplit {
  uint64_t index = 0;
  uint64_t count = 1;
  /// Tensors of all files together.
  uint64_t num_tensors = 0;
};

struct GgufHeader {
  uint32_t version = 0;
  bool is_big_endian = false;
  std::vector<GgufEntry> entries;
  std::vector<GgufTensorInfo> tensors;
  uint64_t alignment = 32;
  /// Where the tensor data begins in the file; 0 in a header merged from several files.
  uint64_t data_offset = 0;
  /// Length of the data part, the last tensor padded; the sum over all files when merged.
  uint64_t data_bytes = 0;
  std::optional<GgufSplit> split;

  /// The value of a key, or null.
  const GgufValue* find(std::string_view key) const;
  /// A non-negative integer (of any integer type), or nothing when missing or of another type.
  std::optional<uint64_t> u64(std::string_view key) const;
  /// A kept string, or nothing.
  std::optional<std::string_view> text(std::string_view key) const;
};

}  // namespace vramgauge

// One table of fields per struct serves both directions: a describe() function names the members,
// and Fields either writes them into a JSON object or reads them from one.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "specs/model_spec.h"
#include "units/error.h"
#include "units/index.h"
#include "units/json.h"

namespace vramgauge::spec {

/// Bounds of numbers: products of two or three of them cannot overflow.
inline constexpr json::Range kHeads{1, uint64_t{1} << 16};
inline constexpr json::Range kDim{1, uint64_t{1} << 28};
/// The same where 0 stands for none.
inline constexpr json::Range kOptionalDim{0, uint64_t{1} << 28};
inline constexpr json::Range kCount{1, uint64_t{1} << 20};
inline constexpr json::Range kOptionalCount{0, uint64_t{1} << 20};
inline constexpr json::Range kTokens{0, uint64_t{1} << 40};
inline constexpr json::Range kElements{1, uint64_t{1} << 32};
inline constexpr json::Range kBytes{0, kMaxApiBytes};

inline constexpr uint64_t kMaxTextBytes = 1024;

/// A list of names by number.
struct Names {
  const std::string_view* begin;
  uint64_t size;
};
template <uint64_t N>
constexpr Names names(const std::string_view (&list)[N]) {
  return {list, N};
}

/// The members of one object. A member with its default (`fallback`) is not written; when reading,
/// a missing member takes it, and is an error where it is out of range.
class Fields {
 public:
  /// Writes into `out`, an object.
  explicit Fields(json::Value& out) : out_(&out) {}
  /// Reads from `in`.
  Fields(const json::Value& in, std::string path, Diagnostics& errors) {
    reader_.emplace(in, std::move(path), errors);
  }

  bool is_reading() const { return reader_.has_value(); }
  /// Reports an error about a member; only while reading.
  void error(ErrorCode code, std::string_view key, ErrorArgs args = {});
  /// Reports members that nothing asked for.
  void finish();

  void number(std::string_view key, uint64_t& value, json::Range range, uint64_t fallback = 0);
  void optional_number(std::string_view key, std::optional<uint64_t>& value, json::Range range);
  /// A decoder layer, or -1 and no member.
  void layer(std::string_view key, int64_t& value);
  void flag(std::string_view key, bool& value, bool fallback = false);
  void text(std::string_view key, std::string& value, uint64_t max_bytes = kMaxTextBytes);
  void numbers(std::string_view key, std::vector<uint64_t>& values, json::Range range);
  void texts(std::string_view key, std::vector<std::string>& values);
  void choice(std::string_view key, uint64_t& value, Names names, uint64_t fallback = 0);
  /// Diagnostics of one severity.
  void diagnostics(std::string_view key, Diagnostics& list, Severity severity);
  /// A sequence of small numbers in which patterns repeat: [3, [61, 1, 2]] is 3, then 61 times 1
  /// and 2.
  void sequence(std::string_view key, std::vector<uint64_t>& values, uint64_t max_value,
                uint64_t max_size);

  template <typename E>
  void choice(std::string_view key, E& value, Names names, E fallback) {
    uint64_t index = static_cast<uint64_t>(value);
    choice(key, index, names, static_cast<uint64_t>(fallback));
    value = static_cast<E>(index);
  }
  void role(std::string_view key, TensorRole& value, TensorRole fallback = TensorRole::other);

  /// A list of objects, each with a describe() of its own.
  template <typename T>
  void list(std::string_view key, std::vector<T>& items) {
    if (!is_reading()) {
      json::Value out = json::Value::array();
      for (T& item : items)
        out.push(written(item));
      if (!items.empty()) out_->set(key, std::move(out));
      return;
    }
    const json::Value::Array* found = reader_->array(key);
    if (found == nullptr) return;
    items.resize(found->size());
    const std::string path = reader_->path_to(key);
    for (uint64_t i = 0; i < items.size(); ++i)
      read((*found)[index_of(i)], json::pointer_to(path, i), items[index_of(i)]);
  }

  /// An object that may be missing.
  template <typename T>
  void object(std::string_view key, std::optional<T>& value) {
    if (!is_reading()) {
      if (value) out_->set(key, written(*value));
      return;
    }
    const json::Value* found = reader_->object(key);
    if (found == nullptr) return;
    value.emplace();
    read(*found, reader_->path_to(key), *value);
  }

  template <typename T>
  static json::Value written(T& value) {
    json::Value out = json::Value::object();
    Fields fields(out);
    describe(fields, value);
    return out;
  }

 private:
  template <typename T>
  void read(const json::Value& in, std::string path, T& value) {
    Fields fields(in, std::move(path), reader_->errors());
    describe(fields, value);
    fields.finish();
  }
  void write_diagnostics(std::string_view key, const Diagnostics& list);
  void missing(std::string_view key);

  json::Value* out_ = nullptr;
  std::optional<json::ObjectReader> reader_;
};

}  // namespace vramgauge::spec

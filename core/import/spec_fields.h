// One table of fields per struct serves both directions: a describe() function names the members,
// and Fields either writes them into a JSON object or reads them from one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "specs/model_spec.h"
#include "units/error.h"
#include "units/index.h"
#include "units/json.h"

namespace vramgauge::spec {

/// Bounds of numbers: products of two or three of them cannot overflow. Those that begin with
/// `optional` may be 0, for none.
enum class Limit : uint8_t {
  heads,
  optional_heads,
  dim,
  optional_dim,
  count,
  optional_count,
  tokens,
  elements,
  bytes,
  bits,
  optional_bits,
  parameters,
  stored_dim,
  rwkv_version,
  spec_version,
};

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

class Fields;

/// A list of structs whose type is known to these functions only.
struct Items {
  void* list;
  uint64_t (*size)(const void* list);
  void (*resize)(void* list, uint64_t size);
  void (*describe)(Fields& fields, void* list, uint64_t index);
};

/// Where members go when they are written; the module that only reads goes without one.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  virtual void number(const char* key, uint64_t value) = 0;
  virtual void flag(const char* key, bool value) = 0;
  virtual void text(const char* key, std::string_view value) = 0;
  virtual void numbers(const char* key, const std::vector<uint64_t>& values) = 0;
  virtual void texts(const char* key, const std::vector<std::string>& values) = 0;
  virtual void diagnostics(const char* key, const Diagnostics& list) = 0;
  virtual void sequence(const char* key, const std::vector<uint64_t>& values) = 0;
  virtual void list(const char* key, const Items& items) = 0;
  virtual void object(const char* key, const Items& items) = 0;

 protected:
  ~Output() = default;
};

/// The members of one object. A member with its default (`fallback`) is not written; when reading,
/// a missing member takes it, and is an error where it is out of range.
class Fields {
 public:
  explicit Fields(Output& out) : out_(&out) {}
  /// Reads from `in`.
  Fields(const json::Value& in, std::string path, Diagnostics& errors);

  bool is_reading() const { return out_ == nullptr; }
  /// Reports an error about a member; only while reading.
  void error(ErrorCode code, std::string_view key, ErrorArgs args = {});
  /// Reports members that nothing asked for.
  void finish();

  // Keys are C strings: one word less at each of the hundred places that name one.
  void number(const char* key, uint64_t& value, Limit limit, uint64_t fallback = 0);
  void optional_number(const char* key, std::optional<uint64_t>& value, Limit limit);
  /// A decoder layer, or -1 and no member.
  void layer(const char* key, int64_t& value);
  void flag(const char* key, bool& value, bool fallback = false);
  void text(const char* key, std::string& value);
  void numbers(const char* key, std::vector<uint64_t>& values, Limit limit);
  void texts(const char* key, std::vector<std::string>& values);
  void choice(const char* key, uint64_t& value, const Names& names, uint64_t fallback = 0);
  /// Diagnostics of one severity.
  void diagnostics(const char* key, Diagnostics& list, Severity severity);
  /// A sequence of small numbers in which patterns repeat: [3, [61, 1, 2]] is 3, then 61 times 1
  /// and 2.
  void sequence(const char* key, std::vector<uint64_t>& values, uint64_t max_value,
                uint64_t max_size);

  template <typename E>
  void choice(const char* key, E& value, const Names& names, E fallback) {
    uint64_t index = static_cast<uint64_t>(value);
    choice(key, index, names, static_cast<uint64_t>(fallback));
    value = static_cast<E>(index);
  }
  void role(const char* key, TensorRole& value);

  /// A list of objects, each with a describe() of its own.
  template <typename T>
  void list(const char* key, std::vector<T>& items) {
    list(key, Items{&items,
                    [](const void* list) -> uint64_t {
                      return static_cast<const std::vector<T>*>(list)->size();
                    },
                    [](void* list, uint64_t size) {
                      static_cast<std::vector<T>*>(list)->resize(index_of(size));
                    },
                    [](Fields& fields, void* list, uint64_t index) {
                      describe(fields, (*static_cast<std::vector<T>*>(list))[index_of(index)]);
                    }});
  }

  /// An object that may be missing: a list of one or none.
  template <typename T>
  void object(const char* key, std::optional<T>& value) {
    object(key,
           Items{&value,
                 [](const void* object) -> uint64_t {
                   return static_cast<const std::optional<T>*>(object)->has_value() ? 1 : 0;
                 },
                 [](void* object, uint64_t) { static_cast<std::optional<T>*>(object)->emplace(); },
                 [](Fields& fields, void* object, uint64_t) {
                   describe(fields, **static_cast<std::optional<T>*>(object));
                 }});
  }

 private:
  void list(const char* key, const Items& items);
  void object(const char* key, const Items& items);
  void read(const json::Value& in, std::string path, const Items& items, uint64_t index);
  void unreadable(const char* key, std::string_view value, std::string_view expected);

  Output* out_ = nullptr;
  std::optional<json::ObjectReader> reader_;
};

}  // namespace vramgauge::spec

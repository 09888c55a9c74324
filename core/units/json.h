// JSON as a bounded, checked document: the only place where JSON text is read or written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "units/bytes.h"
#include "units/decimal.h"
#include "units/error.h"

namespace vramgauge::json {

class Value;
struct Member;

enum class Kind { null, boolean, number, string, array, object };

/// A number as written: exact when it is an integer of at most 64 bits, otherwise a double beside
/// its text.
struct Number {
  /// The value as a double; infinite or NaN only for the bare words that some configurations hold.
  double real = 0;
  /// Absolute value of an integer.
  uint64_t magnitude = 0;
  bool is_integer = false;
  bool is_negative = false;
  /// How a number that is no integer is written.
  std::string text;
};

/// One JSON value. Objects keep the order of their keys; a parsed object has no duplicate keys.
class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;

  // Defined below Member: clang 14 needs the complete type for them.
  Value();
  ~Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  static Value null();
  static Value boolean(bool value);
  static Value integer(uint64_t value);
  static Value signed_integer(int64_t value);
  static Value real(double value, std::string text);
  static Value decimal(Decimal value);
  static Value number(Number value);
  static Value string(std::string value);
  static Value bytes(Bytes value);
  static Value array();
  static Value array(Array items);
  static Value object();
  /// An object of these members, whose keys the caller knows to be distinct.
  static Value object_of(Object members);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::null; }

  /// Each returns nothing when the value is of another kind.
  const bool* as_boolean() const { return std::get_if<bool>(&data_); }
  const Number* as_number() const { return std::get_if<Number>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Array* as_array() const { return std::get_if<Array>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  /// A non-negative integer of at most 64 bits.
  std::optional<uint64_t> as_u64() const;

  /// The member of an object, or nothing.
  const Value* find(std::string_view key) const;

  /// Adds or replaces a member; the value must be an object.
  Value& set(std::string_view key, Value value);
  Value& set(std::string_view key, std::string_view text);
  Value& set(std::string_view key, uint64_t number);
  Value& set(std::string_view key, Bytes bytes);
  /// Appends to an array; the value must be an array.
  Value& push(Value value);

  /// Byte offset of the value in the text it was parsed from.
  uint64_t offset() const { return offset_; }
  void set_offset(uint64_t offset) { offset_ = offset; }

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> data_;
  uint64_t offset_ = 0;
};

struct Member {
  std::string key;
  Value value;
};

inline Value::Value() = default;
inline Value::~Value() = default;
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value Value::bytes(Bytes value) { return integer(value.count()); }
inline Value Value::null() { return Value(); }

/// Bounds of a document; beyond them it is refused before it can cost memory or stack.
struct Limits {
  uint64_t max_bytes = uint64_t{8} << 20;
  uint64_t max_depth = 64;
  uint64_t max_values = 2'000'000;
};

/// Parses a whole text. Bare Infinity, -Infinity and NaN, which Python writes into model
/// configurations, are accepted as numbers. Duplicate keys, depth, size and count are refused.
Result<Value> parse(std::string_view text, const Limits& limits = {});

/// Compact text, keys in their order, integers exact, other numbers as they were read.
/// Always valid UTF-8: bytes of a string that are not become U+FFFD.
std::string write(const Value& value);

/// Whether the text is valid UTF-8 (RFC 3629: no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

/// Line and column of a byte offset.
TextPosition position_of(std::string_view text, uint64_t offset);

/// RFC 6901: `path` with one more reference token.
std::string pointer_to(std::string_view path, std::string_view key);
std::string pointer_to(std::string_view path, uint64_t index);

/// Name of a kind for messages: "a number", "a list" and so on.
std::string_view kind_name(Kind kind);

/// Bounds of an integer field, both inclusive.
struct Range {
  uint64_t min = 0;
  uint64_t max = kMaxApiBytes;
};

/// Reads the members of one object, remembers which were asked for, and collects what is wrong.
/// Every getter returns nothing for a missing or null member; a wrong type or range is also
/// reported to `errors` with the member's pointer.
class ObjectReader {
 public:
  /// `object` must outlive the reader; a value that is not an object is reported.
  ObjectReader(const Value& object, std::string path, Diagnostics& errors);

  const std::string& path() const { return path_; }
  std::string path_to(std::string_view key) const { return pointer_to(path_, key); }
  Diagnostics& errors() { return errors_; }

  /// True when the member is there and not null.
  bool has(std::string_view key);
  /// The raw member (also when null), marked as read.
  const Value* raw(std::string_view key);
  std::optional<uint64_t> u64(std::string_view key, Range range = {});
  std::optional<double> real(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> string(std::string_view key);
  const Value::Array* array(std::string_view key);
  const Value* object(std::string_view key);
  /// A list of non-negative integers.
  std::optional<std::vector<uint64_t>> u64_list(std::string_view key, Range range = {});
  /// A list of strings.
  std::optional<std::vector<std::string>> string_list(std::string_view key);

  /// Marks a member as known without reading it.
  void ignore(std::string_view key);
  /// Keys that nothing asked for, in the order of the object.
  std::vector<std::string> unread_keys() const;

  /// Reports a member of the wrong type.
  void wrong_type(std::string_view key, std::string_view expected, const Value& found);
  void error(ErrorCode code, std::string_view key, ErrorArgs args = {});

 private:
  const Value* present(std::string_view key);

  const Value::Object* members_ = nullptr;
  std::vector<bool> read_;
  std::string path_;
  Diagnostics& errors_;
};

}  // namespace vramgauge::json

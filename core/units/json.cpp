#include "units/json.h"

#include <algorithm>
#include <cmath>

namespace vramgauge::json {
namespace {

constexpr std::size_t kUsualMembers = 8;

void write_value(const Value& value, std::string& out);

/// What stands for an ASCII character that is not plain.
std::string escape_of(char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  constexpr std::string_view kHex = "0123456789abcdef";
  return std::string("\\u00") + kHex[byte >> 4U] + kHex[byte & 15U];
}

bool is_continuation(std::string_view text, std::string_view::size_type index) {
  return index < text.size() && (static_cast<unsigned char>(text[index]) & 0xC0U) == 0x80U;
}

/// Bytes of the UTF-8 sequence that the text begins with; 0 when it begins with none.
std::string_view::size_type sequence_length(std::string_view text) {
  const unsigned lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !is_continuation(text, 1)) return 0;
  if (lead < 0xE0) return 2;
  const unsigned second = static_cast<unsigned char>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogate
  if (!is_continuation(text, 2)) return 0;
  if (lead < 0xF0) return 3;
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // beyond U+10FFFF
  return is_continuation(text, 3) ? 4 : 0;
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// Writes the first character, which is not plain, and returns how many bytes it had.
std::string_view::size_type write_character(std::string_view text, std::string& out) {
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    out += escape_of(text.front());
    return 1;
  }
  const auto length = sequence_length(text);
  out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
  return length == 0 ? 1 : length;
}

/// Most strings are plain: they are copied in runs.
void write_string(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const auto run_end = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto run = static_cast<std::string_view::size_type>(run_end - text.begin());
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (!text.empty()) text.remove_prefix(write_character(text, out));
  }
  out += '"';
}

void write_number(const Number& number, std::string& out) {
  if (number.is_integer) {
    if (number.is_negative && number.magnitude != 0) out += '-';
    out += std::to_string(number.magnitude);
  } else {
    out += number.text;
  }
}

void write_array(const Value::Array& items, std::string& out) {
  out += '[';
  for (const Value& item : items) {
    if (&item != &items.front()) out += ',';
    write_value(item, out);
  }
  out += ']';
}

void write_object(const Value::Object& members, std::string& out) {
  out += '{';
  for (const Member& member : members) {
    if (&member != &members.front()) out += ',';
    write_string(member.key, out);
    out += ':';
    write_value(member.value, out);
  }
  out += '}';
}

void write_value(const Value& value, std::string& out) {
  switch (value.kind()) {
    case Kind::null: out += "null"; break;
    case Kind::boolean: out += *value.as_boolean() ? "true" : "false"; break;
    case Kind::number: write_number(*value.as_number(), out); break;
    case Kind::string: write_string(*value.as_string(), out); break;
    case Kind::array: write_array(*value.as_array(), out); break;
    case Kind::object: write_object(*value.as_object(), out); break;
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Value Value::boolean(bool value) {
  Value result;
  result.data_ = value;
  return result;
}

Value Value::number(Number value) {
  Value result;
  result.data_ = value;
  return result;
}

Value Value::integer(uint64_t value) {
  return number({static_cast<double>(value), value, true, false, {}});
}

Value Value::signed_integer(int64_t value) {
  const bool negative = value < 0;
  const uint64_t bits = static_cast<uint64_t>(value);
  return number({static_cast<double>(value), negative ? ~bits + 1 : bits, true, negative, {}});
}

Value Value::real(double value, std::string text) {
  return number({value, 0, false, value < 0, std::move(text)});
}

Value Value::decimal(Decimal value) { return real(value.to_double(), value.text()); }

Value Value::string(std::string value) {
  Value result;
  result.data_ = std::move(value);
  return result;
}

Value Value::array() { return array(Array{}); }

Value Value::array(Array items) {
  Value result;
  result.data_ = std::move(items);
  return result;
}

Value Value::object_of(Object members) {
  Value result;
  result.data_ = std::move(members);
  return result;
}

Value Value::object() {
  Value result;
  result.data_ = Object{};
  return result;
}

std::optional<uint64_t> Value::as_u64() const {
  const Number* number = as_number();
  if (number == nullptr || !number->is_integer) return std::nullopt;
  if (number->is_negative && number->magnitude != 0) return std::nullopt;
  return number->magnitude;
}

const Value* Value::find(std::string_view key) const {
  const Object* members = as_object();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Value& Value::set(std::string_view key, Value value) {
  Object* members = std::get_if<Object>(&data_);
  if (members == nullptr) return *this;
  for (Member& member : *members) {
    if (member.key != key) continue;
    member.value = std::move(value);
    return *this;
  }
  // Members are large to move: most objects grow once.
  if (members->empty()) members->reserve(kUsualMembers);
  members->push_back({std::string(key), std::move(value)});
  return *this;
}

Value& Value::set(std::string_view key, std::string_view text) {
  return set(key, string(std::string(text)));
}

Value& Value::set(std::string_view key, uint64_t number) { return set(key, integer(number)); }

Value& Value::set(std::string_view key, Bytes value) { return set(key, bytes(value)); }

Value& Value::push(Value value) {
  if (Array* items = std::get_if<Array>(&data_)) items->push_back(std::move(value));
  return *this;
}

std::string write(const Value& value) {
  std::string out;
  write_value(value, out);
  return out;
}

TextPosition position_of(std::string_view text, uint64_t offset) {
  const std::string_view before = text.substr(
      0, static_cast<std::string_view::size_type>(std::min<uint64_t>(offset, text.size())));
  const auto last_newline = before.rfind('\n');
  const auto line_start = last_newline == std::string_view::npos ? 0 : last_newline + 1;
  const auto newlines = std::count(before.begin(), before.end(), '\n');
  return {static_cast<uint64_t>(newlines) + 1, before.size() - line_start + uint64_t{1}};
}

std::string pointer_to(std::string_view path, std::string_view key) {
  std::string out(path);
  out += '/';
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string pointer_to(std::string_view path, uint64_t index) {
  return pointer_to(path, std::to_string(index));
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "true or false";
    case Kind::number: return "a number";
    case Kind::string: return "text";
    case Kind::array: return "a list";
    case Kind::object: return "an object";
  }
  return "";
}

ObjectReader::ObjectReader(const Value& object, std::string path, Diagnostics& errors)
    : members_(object.as_object()), path_(std::move(path)), errors_(errors) {
  if (members_ != nullptr) {
    read_.assign(members_->size(), false);
    return;
  }
  errors_.push_back({ErrorCode::json_wrong_type,
                     path_,
                     {{"key", path_.empty() ? std::string("The document") : path_},
                      {"expected", "an object"},
                      {"found", std::string(kind_name(object.kind()))}},
                     std::nullopt});
}

const Value* ObjectReader::raw(std::string_view key) {
  if (members_ == nullptr) return nullptr;
  for (const Member& member : *members_) {
    if (member.key != key) continue;
    read_[static_cast<std::vector<bool>::size_type>(&member - members_->data())] = true;
    return &member.value;
  }
  return nullptr;
}

const Value* ObjectReader::present(std::string_view key) {
  const Value* value = raw(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ObjectReader::has(std::string_view key) { return present(key) != nullptr; }

void ObjectReader::ignore(std::string_view key) { raw(key); }

void ObjectReader::error(ErrorCode code, std::string_view key, ErrorArgs args) {
  errors_.push_back({code, path_to(key), std::move(args), std::nullopt});
}

void ObjectReader::wrong_type(std::string_view key, std::string_view expected, const Value& found) {
  error(ErrorCode::json_wrong_type, key,
        {{"key", key},
         {"expected", expected},
         {"found",
          found.kind() == Kind::number ? write(found) : std::string(kind_name(found.kind()))}});
}

std::optional<uint64_t> ObjectReader::u64(std::string_view key, Range range) {
  const Value* value = present(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<uint64_t> number = value->as_u64();
  if (!number && (value->as_number() == nullptr || !value->as_number()->is_integer)) {
    wrong_type(key, "a whole number", *value);
    return std::nullopt;
  }
  if (!number || *number < range.min || *number > range.max) {
    error(ErrorCode::value_out_of_range, key,
          {{"key", key}, {"value", write(*value)}, {"min", range.min}, {"max", range.max}});
    return std::nullopt;
  }
  return number;
}

std::optional<double> ObjectReader::real(std::string_view key) {
  const Value* value = present(key);
  if (value == nullptr) return std::nullopt;
  const Number* number = value->as_number();
  if (number == nullptr) {
    wrong_type(key, "a number", *value);
    return std::nullopt;
  }
  if (!std::isfinite(number->real)) {
    error(ErrorCode::json_not_finite, key, {{"key", key}});
    return std::nullopt;
  }
  return number->real;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const Value* value = present(key);
  if (value == nullptr) return std::nullopt;
  if (const bool* flag = value->as_boolean()) return *flag;
  wrong_type(key, "true or false", *value);
  return std::nullopt;
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
  const Value* value = present(key);
  if (value == nullptr) return std::nullopt;
  if (const std::string* text = value->as_string()) return *text;
  wrong_type(key, "text", *value);
  return std::nullopt;
}

const Value::Array* ObjectReader::array(std::string_view key) {
  const Value* value = present(key);
  if (value == nullptr) return nullptr;
  if (value->as_array() == nullptr) wrong_type(key, "a list", *value);
  return value->as_array();
}

const Value* ObjectReader::object(std::string_view key) {
  const Value* value = present(key);
  if (value == nullptr) return nullptr;
  if (value->as_object() != nullptr) return value;
  wrong_type(key, "an object", *value);
  return nullptr;
}

std::optional<std::vector<uint64_t>> ObjectReader::u64_list(std::string_view key, Range range) {
  const Value::Array* items = array(key);
  if (items == nullptr) return std::nullopt;
  std::vector<uint64_t> numbers;
  for (const Value& item : *items) {
    const std::optional<uint64_t> number = item.as_u64();
    if (!number || *number < range.min || *number > range.max) {
      error(ErrorCode::value_out_of_range, key,
            {{"key", key}, {"value", write(item)}, {"min", range.min}, {"max", range.max}});
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<std::string>> ObjectReader::string_list(std::string_view key) {
  const Value::Array* items = array(key);
  if (items == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Value& item : *items) {
    if (item.as_string() == nullptr) {
      wrong_type(key, "a list of texts", item);
      return std::nullopt;
    }
    texts.push_back(*item.as_string());
  }
  return texts;
}

std::vector<std::string> ObjectReader::unread_keys() const {
  std::vector<std::string> keys;
  if (members_ == nullptr) return keys;
  for (const Member& member : *members_) {
    const auto index = static_cast<std::vector<bool>::size_type>(&member - members_->data());
    if (!read_[index]) keys.push_back(member.key);
  }
  return keys;
}

}  // namespace vramgauge::json

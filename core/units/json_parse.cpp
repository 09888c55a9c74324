// The one file that sees the JSON library. It parses through the library's event interface, so that
// depth, count and duplicate keys are checked while reading and nothing ever aborts.
#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "units/json.h"

namespace vramgauge::json {
namespace {

using Library = nlohmann::json;

/// A bare word that JSON does not have, and a string of the same length in its place.
struct BareWord {
  std::string_view word;
  std::string_view replacement;
  double value;
};

/// Where a bare word stood.
struct NotFinite {
  uint64_t offset;
  const BareWord* word;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr BareWord kBareWords[] = {
    {"-Infinity", " \"\\u221E\"", -kInfinity},
    {"Infinity", "\"\\u221E\"", kInfinity},
    {"NaN", " \"\"", kNaN},
};

/// Replaces bare Infinity, -Infinity and NaN outside strings; positions stay as they were.
std::vector<NotFinite> replace_bare_words(std::string& text) {
  std::vector<NotFinite> found;
  bool in_string = false;
  for (std::string::size_type i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (text[i] == '\\') ++i;
    } else if (text[i] == 'I' || text[i] == 'N' || text[i] == '-') {
      for (const BareWord& bare : kBareWords) {
        if (text.compare(i, bare.word.size(), bare.word) != 0) continue;
        text.replace(i, bare.word.size(), bare.replacement);
        found.push_back({i + bare.replacement.find('"'), &bare});
        i += bare.word.size() - 1;
        break;
      }
    }
  }
  return found;
}

/// Hands characters to the library and counts how many it took.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, uint64_t* taken) : at_(at), taken_(taken) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  uint64_t* taken_;
};

class Builder {
 public:
  Builder(std::string_view text, const Limits& limits, std::vector<NotFinite> not_finite)
      : text_(text), limits_(limits), not_finite_(std::move(not_finite)) {}

  uint64_t* taken() { return &taken_; }
  Value take_root() { return std::move(root_); }
  Diagnostics take_errors() { return std::move(errors_); }

  // The library's event interface.
  bool null() { return add(Value::null()); }
  bool boolean(bool value) { return add(Value::boolean(value)); }
  bool number_integer(Library::number_integer_t value) { return add(Value::signed_integer(value)); }
  bool number_unsigned(Library::number_unsigned_t value) { return add(Value::integer(value)); }
  bool number_float(Library::number_float_t value, const std::string& text) {
    return add(Value::real(value, text));
  }
  bool binary(Library::binary_t&) { return false; }
  bool string(std::string& value) {
    const uint64_t start = token_start();
    while (next_not_finite_ < not_finite_.size() && not_finite_[next_not_finite_].offset < start)
      ++next_not_finite_;
    if (next_not_finite_ == not_finite_.size() || not_finite_[next_not_finite_].offset != start) {
      return add(Value::string(std::move(value)));
    }
    const BareWord& bare = *not_finite_[next_not_finite_].word;
    return add(Value::real(bare.value, std::string(bare.word)));
  }
  bool start_object(std::size_t) { return open(Value::object()); }
  bool start_array(std::size_t) { return open(Value::array()); }
  bool key(std::string& value) {
    keys_.back() = std::move(value);
    end_ = taken_;
    return true;
  }
  bool end_object() {
    if (const std::string* twice = duplicate_key()) {
      return fail_at(ErrorCode::json_duplicate_key, stack_.back().offset(), {{"key", *twice}});
    }
    return close();
  }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const Library::exception&) {
    if (!errors_.empty()) return false;
    const uint64_t offset = position > 0 ? position - 1 : 0;
    return fail_at(ErrorCode::json_syntax, offset, {{"token", printable(token)}});
  }

 private:
  /// Where the value just announced begins: after the separators that follow the last event.
  uint64_t token_start() const {
    const auto at =
        text_.find_first_not_of(" \t\r\n,:", static_cast<std::string_view::size_type>(end_));
    return at == std::string_view::npos ? end_ : at;
  }

  bool fail_at(ErrorCode code, uint64_t offset, ErrorArgs args) {
    errors_.push_back({code, path(), std::move(args), position_of(text_, offset)});
    return false;
  }

  std::string path() const {
    std::string out;
    for (std::vector<Value>::size_type i = 0; i < stack_.size(); ++i) {
      const Value::Array* items = stack_[i].as_array();
      if (items != nullptr) {
        out = pointer_to(out, uint64_t{items->size()});
      } else if (!keys_[i].empty()) {
        out = pointer_to(out, keys_[i]);
      }
    }
    return out;
  }

  static std::string printable(std::string_view token) {
    std::string out;
    for (const char c : token.substr(0, 40))
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return out.empty() ? "the end of the text" : out;
  }

  bool count(Value& value) {
    value.set_offset(token_start());
    end_ = taken_;
    if (++values_ <= limits_.max_values) return true;
    return fail_at(ErrorCode::json_too_many, value.offset(), {{"limit", limits_.max_values}});
  }

  bool add(Value value) {
    if (!count(value)) return false;
    attach(std::move(value));
    return true;
  }

  void attach(Value value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().as_array() != nullptr) {
      stack_.back().push(std::move(value));
    } else {
      members_.back().push_back({keys_.back(), std::move(value)});
    }
  }

  bool open(Value container) {
    if (!count(container)) return false;
    if (stack_.size() >= limits_.max_depth) {
      return fail_at(ErrorCode::json_too_deep, container.offset(), {{"limit", limits_.max_depth}});
    }
    stack_.push_back(std::move(container));
    keys_.emplace_back();
    members_.emplace_back();
    return true;
  }

  bool close() {
    Value done = std::move(stack_.back());
    if (done.as_object() != nullptr) done = with_members(done, std::move(members_.back()));
    stack_.pop_back();
    keys_.pop_back();
    members_.pop_back();
    end_ = taken_;
    attach(std::move(done));
    return true;
  }

  static Value with_members(const Value& object, Value::Object members) {
    Value result = Value::object_of(std::move(members));
    result.set_offset(object.offset());
    return result;
  }

  const std::string* duplicate_key() const {
    std::vector<const std::string*> names;
    for (const Member& member : members_.back())
      names.push_back(&member.key);
    std::sort(names.begin(), names.end(), [](const auto* a, const auto* b) { return *a < *b; });
    const auto twice = std::adjacent_find(names.begin(), names.end(),
                                          [](const auto* a, const auto* b) { return *a == *b; });
    return twice == names.end() ? nullptr : *twice;
  }

  std::string_view text_;
  Limits limits_;
  /// In the order of the text; those before the next one have been met.
  std::vector<NotFinite> not_finite_;
  std::vector<NotFinite>::size_type next_not_finite_ = 0;
  uint64_t taken_ = 0;
  uint64_t end_ = 0;
  uint64_t values_ = 0;
  Value root_;
  std::vector<Value> stack_;
  std::vector<std::string> keys_;
  std::vector<Value::Object> members_;
  Diagnostics errors_;
};

std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

}  // namespace

Result<Value> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::json_too_large, "",
                {{"bytes", uint64_t{text.size()}}, {"limit", limits.max_bytes}});
  }
  std::string copy(without_byte_order_mark(text));
  if (copy.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::json_empty, "");
  std::vector<NotFinite> not_finite = replace_bare_words(copy);
  Builder builder(copy, limits, std::move(not_finite));
  const bool parsed =
      Library::sax_parse(CountingIterator(copy.data(), builder.taken()),
                         CountingIterator(copy.data() + copy.size(), builder.taken()), &builder);
  if (!parsed) return fail(builder.take_errors());
  return builder.take_root();
}

}  // namespace vramgauge::json

#include <algorithm>
#include <optional>

#include "import/engine_log_patterns.h"
#include "units/checked.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMaxSkipped = 128;
constexpr uint64_t kMaxText = 512;
constexpr uint64_t kMaxListed = 64;
constexpr uint64_t kMicros = 1'000'000;
constexpr uint64_t kGiB = uint64_t{1} << 30;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// A place in a line that moves on.
struct Cursor {
  std::string_view line;
  uint64_t at = 0;

  bool at_end() const { return at >= line.size(); }
  char peek() const { return at_end() ? '\0' : line[index_of(at)]; }
  void skip_blanks() {
    while (is_blank(peek()))
      ++at;
  }
  bool take(char c) {
    if (at_end() || peek() != c) return false;
    ++at;
    return true;
  }
  bool take(std::string_view word) {
    if (line.substr(index_of(std::min<uint64_t>(at, line.size()))).substr(0, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }
};

/// A printed number in millionths, and what its last place is worth.
struct Printed {
  uint64_t micros = 0;
  uint64_t step_micros = kMicros;
  bool is_negative = false;
};

/// Digits after the point, as millionths; more than six places are cut off.
void read_places(Cursor& cursor, Printed& number) {
  while (is_digit(cursor.peek())) {
    if (number.step_micros > 1) {
      number.step_micros /= 10;
      number.micros += static_cast<uint64_t>(cursor.peek() - '0') * number.step_micros;
    }
    ++cursor.at;
  }
}

std::optional<Printed> read_number(Cursor& cursor) {
  constexpr uint64_t kLargest = ~uint64_t{0} / kMicros / 16;
  Printed number;
  number.is_negative = cursor.take('-');
  if (!is_digit(cursor.peek())) return std::nullopt;
  uint64_t whole = 0;
  for (;;) {
    // A comma groups digits only where three follow.
    if (cursor.peek() == ',') {
      const std::string_view rest = cursor.line.substr(index_of(cursor.at + 1));
      if (rest.size() < 3 || !is_digit(rest[0]) || !is_digit(rest[1]) || !is_digit(rest[2])) break;
      ++cursor.at;
    }
    if (!is_digit(cursor.peek())) break;
    whole = whole * 10 + static_cast<uint64_t>(cursor.peek() - '0');
    if (whole > kLargest) return std::nullopt;
    ++cursor.at;
  }
  number.micros = whole * kMicros;
  if (cursor.peek() == '.' && cursor.at + 1 < cursor.line.size() &&
      is_digit(cursor.line[index_of(cursor.at + 1)])) {
    ++cursor.at;
    read_places(cursor, number);
  }
  return number;
}

/// Bytes of the unit that follows; engines mean 2^30 by GB. Nothing when there is none.
std::optional<uint64_t> read_unit(Cursor& cursor) {
  struct Unit {
    std::string_view word;
    uint64_t bytes;
  };
  constexpr Unit kUnits[] = {
      {"GiB", kGiB},      {"GB", kGiB},      {"MiB", 1U << 20U},   {"MB", 1U << 20U},
      {"KiB", 1U << 10U}, {"KB", 1U << 10U}, {"TiB", kGiB << 10U}, {"TB", kGiB << 10U},
      {"bytes", 1},       {"B", 1},          {"G", kGiB},          {"M", 1U << 20U},
  };
  cursor.skip_blanks();
  for (const Unit& unit : kUnits) {
    if (cursor.take(unit.word)) return unit.bytes;
  }
  return std::nullopt;
}

/// A number times what one of it is worth; false when it is too large.
bool set_value(const Printed& number, uint64_t worth, LogCapture& capture) {
  const auto value = (scaled(number.micros, worth * 2, kMicros) + uint64_t{1}) / uint64_t{2};
  if (!value.valid() || value.value_or(0) > static_cast<uint64_t>(kLargestLogValue)) return false;
  const auto magnitude = static_cast<int64_t>(value.value_or(0));
  capture.value = number.is_negative ? -magnitude : magnitude;
  capture.step = std::max<uint64_t>(1, scaled(number.step_micros, worth, kMicros).value_or(1));
  return true;
}

class Matcher {
 public:
  Matcher(std::string_view pattern, Cursor cursor, LogMatch& match)
      : pattern_(pattern), cursor_(cursor), match_(match) {}

  bool run() {
    while (next_ < pattern_.size()) {
      const char c = pattern_[next_];
      if (c == '{') {
        if (!take_part()) return false;
      } else if (!take_literal(c)) {
        return false;
      }
    }
    match_.end = cursor_.at;
    return true;
  }

 private:
  bool take_literal(char c) {
    ++next_;
    if (c == ' ') {
      cursor_.skip_blanks();
      return true;
    }
    if (c == '"') cursor_.take('\\');
    return cursor_.take(c);
  }

  bool take_part() {
    const auto close = pattern_.find('}', next_);
    const std::string_view part = pattern_.substr(next_ + 1, close - next_ - 1);
    next_ = close + 1;
    if (part == "*") return skip();
    if (part == "w") return take_device();
    return take_value(part[0], part.substr(2));
  }

  /// Goes on to the nearest place where the rest of the pattern matches.
  bool skip() {
    const std::string_view rest = pattern_.substr(next_);
    const uint64_t last = std::min<uint64_t>(cursor_.at + kMaxSkipped, cursor_.line.size());
    const auto num_captures = match_.captures.size();
    for (uint64_t at = cursor_.at; at <= last; ++at) {
      if (Matcher(rest, {cursor_.line, at}, match_).run()) {
        cursor_.at = match_.end;
        next_ = pattern_.size();
        return true;
      }
      match_.captures.resize(num_captures);
    }
    return false;
  }

  bool take_device() {
    constexpr uint64_t kMaxDevice = 32;
    cursor_.skip_blanks();
    const uint64_t begin = cursor_.at;
    while (is_word(cursor_.peek()))
      ++cursor_.at;
    const uint64_t size = cursor_.at - begin;
    match_.where = cursor_.line.substr(index_of(begin), index_of(size));
    return size > 0 && size <= kMaxDevice;
  }

  bool take_value(char kind, std::string_view target) {
    LogCapture capture;
    capture.target = target;
    if (kind == 'l') return take_list(capture);
    if (kind == 't' || kind == 'e') return take_text(kind == 'e', capture);
    cursor_.skip_blanks();
    const uint64_t begin = cursor_.at;
    const auto number = read_number(cursor_);
    if (!number) return false;
    capture.text = cursor_.line.substr(index_of(begin), index_of(cursor_.at - begin));
    return set_number(kind, *number, capture) && keep(capture);
  }

  bool set_number(char kind, const Printed& number, LogCapture& capture) {
    switch (kind) {
      case 'n': return number.step_micros == kMicros && set_value(number, 1, capture);
      case 'x': return set_value(number, kMicros, capture);
      case 'm': return set_value(number, uint64_t{1} << 20, capture);
      case 'g': return set_value(number, kGiB, capture);
      default: break;
    }
    const auto unit = read_unit(cursor_);
    return unit && set_value(number, *unit, capture);
  }

  bool take_list(LogCapture& capture) {
    capture.is_listed = true;
    for (; capture.index < kMaxListed; ++capture.index) {
      cursor_.skip_blanks();
      const auto number = read_number(cursor_);
      if (!number) break;
      if (!set_number('b', *number, capture)) return false;
      keep(capture);
    }
    return capture.index > 0;
  }

  bool take_text(bool is_rest, LogCapture& capture) {
    cursor_.skip_blanks();
    const char stop = next_ < pattern_.size() ? pattern_[next_] : '\0';
    const uint64_t begin = cursor_.at;
    while (!cursor_.at_end() && cursor_.at - begin < kMaxText) {
      const char c = cursor_.peek();
      const bool is_over = stop != '\0' ? c == stop : is_blank(c) || c == ',' || c == ')';
      if (!is_rest && is_over) break;
      ++cursor_.at;
    }
    capture.text = cursor_.line.substr(index_of(begin), index_of(cursor_.at - begin));
    while (!capture.text.empty() && (is_blank(capture.text.back()) || capture.text.back() == '\\'))
      capture.text.remove_suffix(1);
    return keep(capture);
  }

  bool keep(const LogCapture& capture) {
    match_.captures.push_back(capture);
    return true;
  }

  std::string_view pattern_;
  Cursor cursor_;
  LogMatch& match_;
  std::string_view::size_type next_ = 0;
};

}  // namespace

bool match_log_pattern(std::string_view pattern, std::string_view line, uint64_t at,
                       LogMatch& match) {
  match.captures.clear();
  match.where = {};
  return Matcher(pattern, {line, at}, match).run();
}

}  // namespace vramgauge

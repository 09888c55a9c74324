#include "units/name_pattern.h"

namespace vramgauge {

/// Recursive descent over the pattern's text; every part becomes code that can be copied, because
/// jumps are relative.
class NamePatternCompiler {
 public:
  using Code = NamePattern::Code;
  using CharSet = NamePattern::CharSet;
  using Instruction = NamePattern::Instruction;
  using Op = Instruction::Op;

  explicit NamePatternCompiler(std::string_view text) : text_(text) {}

  tl::expected<NamePattern, std::string> expression() {
    if (text_.size() > kMaxText) return tl::unexpected<std::string>("its length");
    NamePattern pattern;
    pattern.code_ = alternatives(0);
    if (!failed() && position_ < text_.size()) refuse(")");
    if (failed()) return tl::unexpected<std::string>(refused_);
    pattern.code_.emplace_back();
    return pattern;
  }

  tl::expected<NamePattern, std::string> file_name() {
    if (text_.size() > kMaxText) return tl::unexpected<std::string>("its length");
    NamePattern pattern;
    pattern.prefix_ = text_.substr(0, text_.find_first_of("*?["));
    while (!failed() && position_ < text_.size())
      append(pattern.code_, file_name_part());
    if (failed()) return tl::unexpected<std::string>(refused_);
    Code end{simple(Op::at_end)};
    append(pattern.code_, either(std::move(end), Code{one_of(only('.'))}));
    pattern.code_.emplace_back();
    return pattern;
  }

 private:
  static constexpr size_t kMaxText = 4096;
  static constexpr size_t kMaxCode = 8192;
  static constexpr uint64_t kMaxDepth = 16;
  static constexpr uint64_t kMaxCopies = 64;

  bool failed() const { return !refused_.empty(); }
  void refuse(std::string_view construct) {
    if (refused_.empty()) refused_ = construct;
  }
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool take(char wanted) {
    if (peek() != wanted || at_end()) return false;
    ++position_;
    return true;
  }

  static CharSet only(char c) { return CharSet().set(static_cast<unsigned char>(c)); }
  static CharSet between(char first, char last) {
    CharSet set;
    for (size_t c = static_cast<unsigned char>(first); c <= static_cast<unsigned char>(last); ++c)
      set.set(c);
    return set;
  }
  static CharSet anything() { return ~only('\n'); }
  static Instruction simple(Op op) { return Instruction{op, 1, 1, {}}; }
  static Instruction one_of(const CharSet& set) { return Instruction{Op::one_of, 1, 1, set}; }
  static Instruction jump(int64_t to) { return Instruction{Op::jump, to, to, {}}; }
  static Instruction split(int64_t first, int64_t second) {
    return Instruction{Op::split, first, second, {}};
  }
  static int64_t length(const Code& code) { return static_cast<int64_t>(code.size()); }

  void append(Code& code, const Code& more) {
    if (code.size() + more.size() > kMaxCode) return refuse("its length");
    code.insert(code.end(), more.begin(), more.end());
  }

  Code either(Code left, const Code& right) {
    Code code{split(1, length(left) + 2)};
    append(code, left);
    code.push_back(jump(length(right) + 1));
    append(code, right);
    return code;
  }

  Code any_number(const Code& body) {
    Code code{split(1, length(body) + 2)};
    append(code, body);
    code.push_back(jump(-length(body) - 1));
    return code;
  }

  Code optional(const Code& body) {
    Code code{split(1, length(body) + 1)};
    append(code, body);
    return code;
  }

  Code alternatives(uint64_t depth) {
    if (depth > kMaxDepth) refuse("groups inside groups");
    Code code = failed() ? Code() : sequence(depth);
    while (!failed() && take('|'))
      code = either(std::move(code), sequence(depth));
    return code;
  }

  Code sequence(uint64_t depth) {
    Code code;
    while (!failed() && !at_end() && peek() != '|' && peek() != ')')
      append(code, repeated(atom(depth)));
    return code;
  }

  Code repeated(Code body) {
    if (failed()) return body;
    if (take('*')) {
      body = any_number(body);
    } else if (take('+')) {
      Code code = body;
      append(code, any_number(body));
      body = std::move(code);
    } else if (take('?')) {
      body = optional(body);
    } else if (peek() == '{') {
      body = counted(body);
    } else {
      return body;
    }
    // A lazy quantifier accepts the same names; a possessive or stacked one does not.
    take('?');
    if (peek() == '*' || peek() == '+' || peek() == '{') refuse("a repeated repetition");
    return body;
  }

  std::optional<uint64_t> number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    uint64_t value = 0;
    while (peek() >= '0' && peek() <= '9' && value <= kMaxCopies)
      value = value * 10 + static_cast<uint64_t>(text_[position_++] - '0');
    return value;
  }

  /// {m}, {m,} and {m,n}.
  Code counted(const Code& body) {
    take('{');
    const uint64_t least = number().value_or(0);
    uint64_t most = least;
    bool has_most = true;
    if (take(',')) {
      const auto given = number();
      has_most = given.has_value();
      most = given.value_or(least);
    }
    if (!take('}') || least > most || most > kMaxCopies) {
      refuse("{");
      return body;
    }
    Code code;
    for (uint64_t i = 0; i < most && !failed(); ++i)
      append(code, i < least ? body : optional(body));
    if (!has_most) append(code, any_number(body));
    return code;
  }

  Code atom(uint64_t depth) {
    const char c = text_[position_++];
    switch (c) {
      case '(': return group(depth);
      case '[': return {one_of(char_class())};
      case '\\': return {escaped()};
      case '.': return {one_of(anything())};
      case '^': return {simple(Op::at_start)};
      case '$': return {simple(Op::at_end)};
      case '*':
      case '+':
      case '?':
      case '{': refuse(std::string_view(&c, 1)); return {};
      default: return {one_of(only(c))};
    }
  }

  Code group(uint64_t depth) {
    if (take('?') && !take(':')) {
      refuse("(?" + std::string(text_.substr(position_, 1)));
      return {};
    }
    Code code = alternatives(depth + 1);
    if (!failed() && !take(')')) refuse("(");
    return code;
  }

  /// The set of \d, \w, \s, or nothing.
  static std::optional<CharSet> named_set(char c) {
    const CharSet digits = between('0', '9');
    const CharSet words = digits | between('a', 'z') | between('A', 'Z') | only('_');
    const CharSet spaces = only(' ') | between('\t', '\r');
    switch (c) {
      case 'd': return digits;
      case 'D': return ~digits;
      case 'w': return words;
      case 'W': return ~words;
      case 's': return spaces;
      case 'S': return ~spaces;
      default: return std::nullopt;
    }
  }

  /// What a backslash makes of the next character; letters and digits mean more than is understood.
  CharSet escaped_set() {
    const char c = peek();
    if (at_end()) {
      refuse("\\");
      return {};
    }
    ++position_;
    if (const auto set = named_set(c)) return *set;
    const bool is_word = named_set('w')->test(static_cast<unsigned char>(c));
    if (is_word && c != '_') refuse("\\" + std::string(1, c));
    return only(c);
  }

  Instruction escaped() { return one_of(escaped_set()); }

  CharSet char_class() {
    CharSet set;
    const bool is_negated = take('^');
    bool is_first = true;
    while (!failed() && (is_first || peek() != ']')) {
      is_first = false;
      if (at_end()) {
        refuse("[");
        return set;
      }
      const char from = text_[position_++];
      if (from == '\\') {
        set |= escaped_set();
      } else if (peek() == '-' && position_ + 1 < text_.size() && text_[position_ + 1] != ']') {
        ++position_;
        if (peek() == '\\') refuse("a range that ends in \\");
        set |= between(from, text_[position_++]);
      } else {
        set |= only(from);
      }
    }
    take(']');
    return is_negated ? ~set : set;
  }

  Code file_name_part() {
    const char c = text_[position_++];
    if (c == '*') return any_number({one_of(anything())});
    if (c == '?') return {one_of(anything())};
    if (c != '[') return {one_of(only(c))};
    const bool is_negated = peek() == '!';
    if (is_negated) ++position_;
    const CharSet set = char_class();
    return {one_of(is_negated ? ~set : set)};
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string refused_;
};

/// All states that the pattern can be in after the characters so far.
class NamePattern::Run {
 public:
  explicit Run(const Code& code) : code_(code), marks_(code.size(), 0) {}

  bool matches(std::string_view name) {
    enter(0, 0, name.size());
    for (size_t i = 0; i < name.size() && !accepted_; ++i) {
      std::vector<size_t> states;
      states.swap(states_);
      ++step_;
      for (const size_t state : states) {
        if (code_[state].set.test(static_cast<unsigned char>(name[i])))
          enter(state + 1, i + 1, name.size());
      }
    }
    return accepted_;
  }

 private:
  /// Follows everything that consumes no character.
  void enter(size_t start, size_t position, size_t end) {
    std::vector<size_t> open{start};
    while (!open.empty()) {
      const size_t state = open.back();
      open.pop_back();
      if (marks_[state] == step_) continue;
      marks_[state] = step_;
      const Instruction& at = code_[state];
      const auto target = [state](int64_t by) {
        return static_cast<size_t>(static_cast<int64_t>(state) + by);
      };
      using Op = Instruction::Op;
      switch (at.op) {
        case Op::one_of: states_.push_back(state); break;
        case Op::accept: accepted_ = true; break;
        case Op::split: open.push_back(target(at.second)); [[fallthrough]];
        case Op::jump: open.push_back(target(at.first)); break;
        case Op::at_start:
          if (position == 0) open.push_back(state + 1);
          break;
        case Op::at_end:
          if (position == end) open.push_back(state + 1);
          break;
      }
    }
  }

  const Code& code_;
  /// The step in which a state was entered last.
  std::vector<uint64_t> marks_;
  std::vector<size_t> states_;
  uint64_t step_ = 1;
  bool accepted_ = false;
};

tl::expected<NamePattern, std::string> NamePattern::expression(std::string_view text) {
  return NamePatternCompiler(text).expression();
}

tl::expected<NamePattern, std::string> NamePattern::file_name(std::string_view text) {
  return NamePatternCompiler(text).file_name();
}

bool NamePattern::matches(std::string_view name) const {
  if (name.substr(0, prefix_.size()) != prefix_) return false;
  return Run(code_).matches(name);
}

}  // namespace vramgauge

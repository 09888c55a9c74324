#include "import/shell_words.h"

#include <algorithm>

#include "units/json.h"

namespace vramgauge {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// NAME=value: the length of the name, or 0.
std::string::size_type name_length(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return 0;
  const std::string_view name = word.substr(0, equals);
  const bool is_name = std::all_of(name.begin(), name.end(), is_name_character) &&
                       !(name.front() >= '0' && name.front() <= '9');
  return is_name ? equals : 0;
}

/// A here document that a line announces.
struct Announced {
  std::string end;
  bool strips_tabs = false;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<std::vector<ShellCommand>> read() {
    if (text_.size() > kMaxCommandBytes) return error("it is longer than 1 MiB");
    while (position_ < text_.size() && reason_.empty())
      step();
    end_word();
    end_command();
    if (reason_.empty() && num_words_ > kMaxCommandWords) reason_ = "it has too many words";
    if (!reason_.empty()) return error(reason_);
    return std::move(commands_);
  }

 private:
  tl::unexpected<Diagnostics> error(std::string_view reason) const {
    Diagnostics errors;
    errors.push_back({ErrorCode::command_unreadable,
                      "/text",
                      {{"reason", reason}},
                      json::position_of(text_, std::min<uint64_t>(position_, text_.size()))});
    return fail(std::move(errors));
  }

  bool at_end() const { return position_ >= text_.size(); }
  char peek(std::string_view::size_type ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (is_continuation()) return skip_line_end();
    if (c == '\n') return end_line();
    if (is_blank(c)) {
      end_word();
      ++position_;
    } else if (c == '\'') {
      read_single();
    } else if (c == '"') {
      read_double();
    } else if (c == '\\') {
      position_ += 1;
      if (!at_end()) add(text_[position_++]);
    } else if (c == '#' && !in_word_) {
      skip_comment();
    } else if (c == ';' || c == '|' || c == '&') {
      read_separator(c);
    } else if (c == '<' || c == '>') {
      read_redirection();
    } else {
      add(c);
      ++position_;
    }
  }

  /// A backslash at the end of a line; also what cmd and PowerShell have in its place.
  bool is_continuation() const {
    const char c = peek();
    if (c != '\\' && (in_word_ || (c != '^' && c != '`'))) return false;
    auto next = position_ + 1;
    while (next < text_.size() && is_blank(text_[next]))
      ++next;
    return next < text_.size() && text_[next] == '\n';
  }

  void skip_line_end() {
    end_word();
    position_ = std::min(text_.find('\n', position_), text_.size() - 1) + 1;
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void read_single() {
    const auto end = text_.find('\'', position_ + 1);
    if (end == std::string_view::npos) {
      reason_ = "a quote is not closed";
      return;
    }
    word_ += text_.substr(position_ + 1, end - position_ - 1);
    in_word_ = true;
    position_ = end + 1;
  }

  void read_double() {
    in_word_ = true;
    const auto begin = position_++;
    while (!at_end() && peek() != '"') {
      const char next = peek(1);
      const bool is_escape =
          peek() == '\\' && (next == '"' || next == '\\' || next == '$' || next == '`');
      if (is_escape) ++position_;
      if (peek() == '\\' && next == '\n') {
        position_ += 2;
        continue;
      }
      word_ += text_[position_++];
    }
    if (at_end()) {
      position_ = begin;
      reason_ = "a quote is not closed";
      return;
    }
    ++position_;
  }

  void skip_comment() { position_ = std::min(text_.find('\n', position_), text_.size()); }

  /// A single & before a redirection or between words runs a command beside others.
  void read_separator(char c) {
    if (c == '&' && peek(1) == '>') {
      ++position_;
      return read_redirection();
    }
    end_word();
    end_command();
    while (peek() == c)
      ++position_;
  }

  void read_redirection() {
    if (peek() == '<' && peek(1) == '<' && peek(2) != '<') return read_announcement();
    // The number of a stream stands before the sign.
    if (word_ == "1" || word_ == "2") clear_word();
    const bool is_output = peek() == '>';
    end_word();
    while (peek() == '<' || peek() == '>' || peek() == '&' || is_blank(peek()))
      ++position_;
    std::string target;
    while (!at_end() && !is_blank(peek()) && peek() != '\n' && peek() != '<' && peek() != ';')
      target += text_[position_++];
    if (is_output) output_ = target;
  }

  void read_announcement() {
    end_word();
    position_ += 2;
    Announced document;
    document.strips_tabs = peek() == '-';
    if (document.strips_tabs) ++position_;
    while (is_blank(peek()))
      ++position_;
    while (!at_end() && !is_blank(peek()) && peek() != '\n' && peek() != '>' && peek() != ';') {
      const char c = text_[position_++];
      if (c != '\'' && c != '"' && c != '\\') document.end += c;
    }
    if (!document.end.empty()) announced_.push_back(std::move(document));
  }

  void end_line() {
    end_word();
    ++position_;
    if (!announced_.empty()) {
      for (const Announced& document : announced_)
        read_document(document);
      announced_.clear();
      return end_command();
    }
    if (!next_line_is_flag()) end_command();
  }

  bool next_line_is_flag() const {
    auto next = position_;
    while (next < text_.size() && is_blank(text_[next]))
      ++next;
    if (next + 1 >= text_.size() || text_[next] != '-') return false;
    const char after = text_[next + 1];
    return is_name_character(after) ||
           (after == '-' && next + 2 < text_.size() && is_name_character(text_[next + 2]));
  }

  void read_document(const Announced& document) {
    std::string body;
    while (!at_end()) {
      const auto end = std::min(text_.find('\n', position_), text_.size());
      std::string_view line = text_.substr(position_, end - position_);
      position_ = std::min(end + 1, text_.size());
      while (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
      while (document.strips_tabs && !line.empty() && line.front() == '\t')
        line.remove_prefix(1);
      if (line == document.end) break;
      body += line;
      body += '\n';
    }
    command_.documents.push_back({output_, std::move(body)});
  }

  void clear_word() {
    word_.clear();
    in_word_ = false;
  }

  void end_word() {
    if (!in_word_) return;
    ++num_words_;
    const auto length = command_.words.empty() ? name_length(word_) : 0;
    if (length > 0) {
      command_.environment.emplace_back(word_.substr(0, length), word_.substr(length + 1));
    } else if (!command_.words.empty() || (word_ != "$" && word_ != ">")) {
      command_.words.push_back(std::move(word_));
    }
    clear_word();
  }

  void end_command() {
    const bool is_empty =
        command_.words.empty() && command_.environment.empty() && command_.documents.empty();
    if (!is_empty) commands_.push_back(std::move(command_));
    command_ = {};
    output_.clear();
  }

  std::string_view text_;
  std::string_view::size_type position_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::string output_;
  uint64_t num_words_ = 0;
  std::string reason_;
  std::vector<Announced> announced_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

Result<std::vector<ShellCommand>> shell_commands(std::string_view text) {
  return Scanner(text).read();
}

}  // namespace vramgauge

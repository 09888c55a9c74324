#include "import/yaml_subset.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace vramgauge {
namespace {

constexpr uint64_t kMaxDepth = 32;
constexpr uint64_t kMaxLines = 5000;
/// Longest text in brackets or quotes that goes over several lines.
constexpr uint64_t kMaxFlowBytes = uint64_t{1} << 14;

struct Line {
  uint64_t indent = 0;
  /// Without indent, comment and blanks at the end.
  std::string_view text;
  /// As it stands in the file, for texts of several lines.
  std::string_view whole;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Cuts a comment off: a # after a blank, outside quotes.
std::string_view without_comment(std::string_view text) {
  char quote = '\0';
  for (std::string_view::size_type i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_start = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t';
    if (quote != '\0') {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = '\0';
    } else if ((c == '"' || c == '\'') && (is_start || text[i - 1] == '[' || text[i - 1] == ',')) {
      quote = c;
    } else if (c == '#' && is_start) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty() && lines.size() < kMaxLines) {
    const auto end = std::min(text.find('\n'), text.size());
    Line line;
    line.whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.text = trimmed(without_comment(line.whole));
    line.indent = std::min(line.whole.find_first_not_of(' '), line.whole.size());
    lines.push_back(line);
  }
  return lines;
}

/// A quoted text at the front, taken off; nothing when the quote is not closed.
std::optional<std::string> take_quoted(std::string_view& text) {
  const char quote = text.front();
  std::string out;
  for (std::string_view::size_type i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == '\'') {
      out += text[++i];
    } else if (c == '\\' && quote == '"' && i + 1 < text.size()) {
      const char escaped = text[++i];
      out += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    } else if (c == quote) {
      text.remove_prefix(i + 1);
      return out;
    } else {
      out += c;
    }
  }
  return std::nullopt;
}

bool is_quote(char c) { return c == '"' || c == '\''; }

/// Lists and mappings in brackets.
class Flow {
 public:
  explicit Flow(std::string_view text) : rest_(text) {}

  json::Value value(uint64_t depth) {
    skip();
    if (rest_.empty() || depth > kMaxDepth) return take_rest();
    if (rest_.front() == '[') return list(depth);
    if (rest_.front() == '{') return mapping(depth);
    return json::Value::string(scalar(",]}"));
  }

 private:
  void skip() {
    const auto first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }

  json::Value take_rest() {
    rest_ = {};
    return json::Value::null();
  }

  std::string scalar(std::string_view ends) {
    if (is_quote(rest_.front())) {
      if (auto quoted = take_quoted(rest_)) return std::move(*quoted);
    }
    const auto end = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view text = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return std::string(text);
  }

  /// Goes behind a comma; false behind the closing bracket and at the end.
  bool next(char closing) {
    skip();
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == closing) return false;
    skip();
    if (!rest_.empty() && rest_.front() == closing) {
      rest_.remove_prefix(1);
      return false;
    }
    return !rest_.empty();
  }

  json::Value list(uint64_t depth) {
    json::Value out = json::Value::array();
    while (next(']'))
      out.push(value(depth + 1));
    return out;
  }

  json::Value mapping(uint64_t depth) {
    json::Value out = json::Value::object();
    while (next('}')) {
      const std::string key = scalar(":,}");
      skip();
      if (!rest_.empty() && rest_.front() == ':') {
        rest_.remove_prefix(1);
        out.set(key, value(depth + 1));
      } else {
        out.set(key, json::Value::null());
      }
    }
    return out;
  }

  std::string_view rest_;
};

/// Position of the colon that ends a key, or npos.
std::string_view::size_type key_end(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.front() == '{' || text.front() == '[')
    return std::string_view::npos;
  std::string_view::size_type from = 0;
  if (is_quote(text.front())) {
    std::string_view rest = text;
    if (!take_quoted(rest)) return std::string_view::npos;
    from = text.size() - rest.size();
  }
  for (auto colon = text.find(':', from); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const bool is_end = colon + 1 == text.size() || text[colon + 1] == ' ';
    if (is_end) {
      const bool is_plain =
          text.substr(from, colon - from).find_first_of("'\"{[") == std::string_view::npos;
      return is_plain ? colon : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

std::string key_text(std::string_view key) {
  key = trimmed(key);
  if (!key.empty() && is_quote(key.front())) {
    if (auto quoted = take_quoted(key)) return std::move(*quoted);
  }
  return std::string(key);
}

bool is_item(std::string_view text) {
  return !text.empty() && text.front() == '-' && (text.size() == 1 || text[1] == ' ');
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(lines_of(text)) {}

  json::Value documents() {
    json::Value out = json::Value::array();
    while (skip_empty()) {
      const auto before = next_;
      out.push(block(lines_[next_].indent, 0));
      if (next_ == before) ++next_;
    }
    return out;
  }

 private:
  using Index = std::vector<Line>::size_type;

  /// Goes to the next line with something on it; a mark between documents is nothing.
  bool skip_empty() {
    while (next_ < lines_.size() && (lines_[next_].text.empty() || lines_[next_].text == "---" ||
                                     lines_[next_].text == "..."))
      ++next_;
    return next_ < lines_.size();
  }

  json::Value block(uint64_t indent, uint64_t depth) {
    if (depth > kMaxDepth) {
      next_ = lines_.size();
      return json::Value::null();
    }
    const std::string_view text = lines_[next_].text;
    if (is_item(text)) return list(indent, depth);
    if (key_end(text) != std::string_view::npos) return mapping(indent, depth);
    ++next_;
    return scalar(text, indent);
  }

  json::Value list(uint64_t indent, uint64_t depth) {
    json::Value out = json::Value::array();
    while (skip_empty() && lines_[next_].indent == indent && is_item(lines_[next_].text)) {
      Line& line = lines_[next_];
      const std::string_view after = line.text.substr(1);
      const std::string_view content = trimmed(after);
      if (content.empty()) {
        ++next_;
        out.push(below(indent, depth));
        continue;
      }
      if (is_item(content) || key_end(content) != std::string_view::npos) {
        // The item's own block begins on this line, behind the dash.
        line.indent += 1 + (after.size() - content.size());
        line.text = content;
        out.push(block(line.indent, depth + 1));
      } else {
        ++next_;
        out.push(scalar(content, indent));
      }
    }
    return out;
  }

  json::Value mapping(uint64_t indent, uint64_t depth) {
    json::Value out = json::Value::object();
    while (skip_empty() && lines_[next_].indent == indent) {
      const std::string_view text = lines_[next_].text;
      const auto colon = key_end(text);
      if (colon == std::string_view::npos || is_item(text)) break;
      const std::string key = key_text(text.substr(0, colon));
      const std::string_view content = trimmed(text.substr(colon + 1));
      ++next_;
      out.set(key, content.empty() ? below(indent, depth) : scalar(content, indent));
    }
    return out;
  }

  /// What stands below a key or dash: deeper, or a list at the key's own depth.
  json::Value below(uint64_t indent, uint64_t depth) {
    if (!skip_empty()) return json::Value::null();
    const Line& line = lines_[next_];
    const bool is_list = line.indent == indent && is_item(line.text);
    if (line.indent <= indent && !is_list) return json::Value::null();
    return block(line.indent, depth + 1);
  }

  json::Value scalar(std::string_view text, uint64_t indent) {
    const char first = text.front();
    if (first == '|' || first == '>') return json::Value::string(lines_below(indent, first == '|'));
    if (first == '[' || first == '{') return flow(text);
    if (is_quote(first)) return json::Value::string(quoted(text));
    // A plain text may go on deeper.
    std::string out(text);
    while (next_ < lines_.size() && !lines_[next_].text.empty() && lines_[next_].indent > indent) {
      if (is_item(lines_[next_].text) || key_end(lines_[next_].text) != std::string_view::npos)
        break;
      out += " ";
      out += lines_[next_++].text;
    }
    return json::Value::string(std::move(out));
  }

  std::string lines_below(uint64_t indent, bool keeps_lines) {
    std::string out;
    while (next_ < lines_.size()) {
      const Line& line = lines_[next_];
      const std::string_view whole = trimmed(line.whole);
      if (!whole.empty() && line.indent <= indent) break;
      ++next_;
      out += whole;
      out += keeps_lines ? '\n' : ' ';
    }
    return out;
  }

  std::string quoted(std::string_view text) {
    std::string whole(text);
    while (true) {
      std::string_view rest = whole;
      if (auto out = take_quoted(rest)) return std::move(*out);
      if (next_ >= lines_.size() || whole.size() > kMaxFlowBytes) return whole;
      whole += " ";
      whole += trimmed(lines_[next_++].whole);
    }
  }

  /// Text in brackets, which may go over several lines.
  json::Value flow(std::string_view text) {
    std::string whole(text);
    while (open_brackets(whole) > 0 && next_ < lines_.size() && whole.size() < kMaxFlowBytes) {
      whole += "\n";
      whole += lines_[next_++].text;
    }
    return Flow(whole).value(0);
  }

  static int64_t open_brackets(std::string_view text) {
    int64_t open = 0;
    char quote = '\0';
    for (std::string_view::size_type i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != '\0') {
        if (c == '\\' && quote == '"') ++i;
        if (c == quote) quote = '\0';
      } else if (is_quote(c)) {
        quote = c;
      } else if (c == '[' || c == '{') {
        ++open;
      } else if (c == ']' || c == '}') {
        --open;
      }
    }
    return open;
  }

  std::vector<Line> lines_;
  Index next_ = 0;
};

}  // namespace

json::Value read_yaml(std::string_view text) { return Reader(text).documents(); }

}  // namespace vramgauge

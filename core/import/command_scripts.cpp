#include "import/command_scripts.h"

#include <algorithm>

#include "import/yaml_subset.h"

namespace vramgauge {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr uint64_t kMaxParameters = 500;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == kNone) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

bool is_name_character(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void add(CommandSource& source, std::string_view name, std::string_view value) {
  if (source.parameters.size() < kMaxParameters)
    source.parameters.emplace_back(lower_case(name), std::string(unquoted(trimmed(value))));
}

/// The word at the front, lower case; the rest stays.
std::string take_word(std::string_view& text) {
  text = trimmed(text);
  std::string word = lower_case(text.substr(0, text.find_first_of(" \t")));
  text.remove_prefix(word.size());
  return word;
}

void read_modelfile(CommandSource& source, std::string_view text) {
  bool in_text = false;
  while (!text.empty()) {
    std::string_view line = trimmed(take_part(text, '\n'));
    // Texts in triple quotes go over several lines.
    const auto quotes = line.find("\"\"\"");
    const bool toggles = quotes != kNone && line.find("\"\"\"", quotes + 3) == kNone;
    const bool was_in_text = in_text;
    if (toggles) in_text = !in_text;
    if (was_in_text || line.empty() || line.front() == '#') continue;
    const std::string instruction = take_word(line);
    if (instruction == "parameter") {
      const std::string name = take_word(line);
      add(source, name, line);
    } else if (instruction == "from") {
      add(source, instruction, line);
    } else if (std::all_of(instruction.begin(), instruction.end(), is_name_character)) {
      add(source, instruction, "");
    }
  }
}

/// Instructions that only a Dockerfile has.
bool is_dockerfile(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = trimmed(take_part(text, '\n'));
    const std::string instruction = take_word(line);
    for (const std::string_view known : {"run", "cmd", "entrypoint", "workdir", "copy", "expose"}) {
      if (instruction == known) return true;
    }
  }
  return false;
}

bool is_modelfile(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = trimmed(take_part(rest, '\n'));
    if (line.empty() || line.front() == '#') continue;
    return take_word(line) == "from" && line.find(" import ") == kNone && !is_dockerfile(text);
  }
  return false;
}

/// The end of a value in a call: a comma or bracket outside brackets and quotes.
std::string_view::size_type value_end(std::string_view text) {
  int64_t depth = 0;
  char quote = '\0';
  for (std::string_view::size_type i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return i;
    } else if (depth == 0 && (c == ',' || c == '\n' || c == '#')) {
      return i;
    }
  }
  return text.size();
}

/// name = "text" before a call that takes the name.
std::string assigned_text(std::string_view script, std::string_view name) {
  for (auto at = script.find(name); at != kNone; at = script.find(name, at + 1)) {
    const bool is_whole = at == 0 || !is_name_character(script[at - 1]);
    std::string_view rest = trimmed(script.substr(at + name.size()));
    if (!is_whole || rest.empty() || rest.front() != '=') continue;
    rest = trimmed(rest.substr(1));
    const std::string_view value = trimmed(rest.substr(0, value_end(rest)));
    if (unquoted(value).size() < value.size()) return std::string(unquoted(value));
  }
  return {};
}

void read_model_call(CommandSource& source, std::string_view script, std::string_view arguments) {
  const std::string_view first = trimmed(arguments.substr(0, value_end(arguments)));
  if (first.find('=') != kNone) return;
  const bool is_text = unquoted(first).size() < first.size();
  add(source, "model", is_text ? std::string(first) : assigned_text(script, first));
}

/// Every name=value inside brackets.
void read_arguments(CommandSource& source, std::string_view script) {
  int64_t depth = 0;
  for (std::string_view::size_type i = 0; i < script.size(); ++i) {
    const char c = script[i];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    const bool is_assignment = c == '=' && depth > 0 && i > 0 && is_name_character(script[i - 1]) &&
                               script.substr(i + 1, 1) != "=";
    if (!is_assignment) continue;
    auto begin = i;
    while (begin > 0 && is_name_character(script[begin - 1]))
      --begin;
    constexpr std::string_view::size_type kMaxValue = 256;
    const std::string_view rest = script.substr(i + 1, kMaxValue);
    add(source, script.substr(begin, i - begin), rest.substr(0, value_end(rest)));
  }
}

/// "prompts = [...] * 4" gives the number of requests.
void read_batch(CommandSource& source, std::string_view script) {
  const auto times = script.find("] * ");
  if (times == kNone) return;
  const std::string_view rest = script.substr(times + 4);
  const auto end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (end > 0) add(source, "batch_size", rest.substr(0, end));
}

void add_options(CommandSource& source, const json::Value& value, const std::string& prefix,
                 uint64_t depth) {
  constexpr uint64_t kMaxDepth = 4;
  const auto* members = value.as_object();
  if (members == nullptr || depth > kMaxDepth) return;
  for (const json::Member& member : *members) {
    const std::string name = prefix + member.key;
    if (member.value.as_object() != nullptr) {
      add_options(source, member.value, name + ".", depth + 1);
    } else {
      const std::string* text = member.value.as_string();
      add(source, name, text == nullptr ? std::string_view() : std::string_view(*text));
    }
  }
}

}  // namespace

std::optional<CommandSource> read_script(std::string_view text) {
  CommandSource source;
  if (is_modelfile(text)) {
    source.engine = CommandEngine::ollama;
    source.program = "Modelfile";
    read_modelfile(source, text);
    return source;
  }
  constexpr std::string_view kCall = "ForCausalLM.from_pretrained(";
  const auto call = text.find(kCall);
  if (call == kNone) return std::nullopt;
  source.engine = CommandEngine::transformers;
  source.program = "generate()";
  read_model_call(source, text, text.substr(call + kCall.size()));
  read_arguments(source, text);
  read_batch(source, text);
  return source;
}

void read_modelfiles(CommandSource& source) {
  for (const HereDocument& document : source.documents) {
    if (is_modelfile(document.text)) read_modelfile(source, document.text);
  }
}

void read_option_files(CommandSource& source) {
  for (const HereDocument& document : source.documents) {
    const json::Value documents = read_yaml(document.text);
    for (const json::Value& each : *documents.as_array())
      add_options(source, each, "", 0);
  }
}

}  // namespace vramgauge

#include "import/command_containers.h"

#include <algorithm>

#include "import/shell_words.h"
#include "import/yaml_subset.h"

namespace vramgauge {
namespace {

constexpr auto kNone = std::string_view::npos;
/// More containers than any file has.
constexpr uint64_t kMaxContainers = 64;

constexpr std::string_view kKeys[] = {"command", "args",       "entrypoint",
                                      "image",   "containers", "services"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == kNone ? std::string_view() : text.substr(first);
}

/// Whether a line has one of the keys at its beginning, perhaps behind a dash.
bool has_key(std::string_view line) {
  line = trimmed(line);
  if (line.substr(0, 2) == "- ") line = trimmed(line.substr(2));
  for (const std::string_view key : kKeys) {
    if (line.substr(0, key.size()) == key && line.substr(key.size(), 1) == ":") return true;
  }
  return false;
}

bool looks_like_yaml(std::string_view text) {
  const std::string_view start = trimmed(text);
  if (start.substr(0, 1) == "[" || start.substr(0, 1) == "{" || start.substr(0, 3) == "- -")
    return true;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (has_key(text.substr(0, end))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// A list of words, or a text that is split as a shell does.
void add_words(std::vector<std::string>& words, const json::Value* value) {
  if (value == nullptr) return;
  if (const std::string* text = value->as_string()) {
    const auto commands = shell_commands(*text);
    if (!commands) return;
    for (const ShellCommand& command : *commands)
      words.insert(words.end(), command.words.begin(), command.words.end());
  }
  if (value->as_array() == nullptr) return;
  for (const json::Value& item : *value->as_array()) {
    if (item.as_string() != nullptr) words.push_back(*item.as_string());
  }
}

std::string text_of(const json::Value* value) {
  return value == nullptr || value->as_string() == nullptr ? std::string() : *value->as_string();
}

/// NAME=value texts, a mapping, or Kubernetes' list of names and values.
void add_environment(ContainerCommand& container, const json::Value* value) {
  if (value == nullptr) return;
  if (const auto* members = value->as_object()) {
    for (const json::Member& member : *members)
      container.environment.emplace_back(member.key, text_of(&member.value));
  }
  if (value->as_array() == nullptr) return;
  for (const json::Value& item : *value->as_array()) {
    if (const std::string* text = item.as_string()) {
      const auto equals = std::min(text->find('='), text->size());
      container.environment.emplace_back(text->substr(0, equals),
                                         text->substr(std::min(equals + 1, text->size())));
    } else if (item.find("name") != nullptr) {
      container.environment.emplace_back(text_of(item.find("name")), text_of(item.find("value")));
    }
  }
}

void add_container(const json::Value& value, std::vector<ContainerCommand>& out) {
  ContainerCommand container;
  container.image = text_of(value.find("image"));
  for (const std::string_view key : {"entrypoint", "command", "args"})
    add_words(container.words, value.find(key));
  for (const std::string_view key : {"environment", "env"})
    add_environment(container, value.find(key));
  if (!container.words.empty() || !container.image.empty()) out.push_back(std::move(container));
}

void collect(const json::Value& value, std::vector<ContainerCommand>& out) {
  if (out.size() >= kMaxContainers) return;
  if (const auto* members = value.as_object()) {
    add_container(value, out);
    for (const json::Member& member : *members) {
      if (member.key != "command" && member.key != "args" && member.key != "entrypoint")
        collect(member.value, out);
    }
  }
  if (const auto* items = value.as_array()) {
    for (const json::Value& item : *items)
      collect(item, out);
  }
}

/// ENTRYPOINT [...] and CMD [...] of a Dockerfile, as one command.
ContainerCommand dockerfile_command(std::string_view text) {
  ContainerCommand container;
  for (const std::string_view instruction : {"ENTRYPOINT [", "CMD ["}) {
    const auto at = text.find(instruction);
    if (at == kNone || (at > 0 && text[at - 1] != '\n')) continue;
    const json::Value list = read_yaml(text.substr(at + instruction.size() - 1));
    if (!list.as_array()->empty()) add_words(container.words, &list.as_array()->front());
  }
  return container;
}

}  // namespace

std::vector<ContainerCommand> container_commands(std::string_view text) {
  std::vector<ContainerCommand> out;
  if (!looks_like_yaml(text)) {
    ContainerCommand container = dockerfile_command(text);
    if (!container.words.empty()) out.push_back(std::move(container));
    return out;
  }
  const json::Value documents = read_yaml(text);
  collect(documents, out);
  if (out.empty() && documents.as_array() != nullptr && !documents.as_array()->empty()) {
    ContainerCommand bare;
    add_words(bare.words, &documents.as_array()->front());
    if (!bare.words.empty()) out.push_back(std::move(bare));
  }
  return out;
}

}  // namespace vramgauge

#include "import/command_source.h"

#include <algorithm>
#include <optional>

#include "import/command_containers.h"
#include "import/command_images.h"
#include "import/command_scripts.h"

namespace vramgauge {
namespace {

constexpr auto kNone = std::string_view::npos;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  if (slash != kNone) path.remove_prefix(slash + 1);
  constexpr std::string_view kExe = ".exe";
  if (path.size() > kExe.size() && path.substr(path.size() - kExe.size()) == kExe)
    path.remove_suffix(kExe.size());
  return path;
}

/// A program by the word that names it.
struct Program {
  std::string_view word;
  /// A second word that it needs, or that may be left out where it begins with a question mark.
  std::string_view verb;
  CommandEngine engine;
};

constexpr Program kPrograms[] = {
    {"vllm", "serve", CommandEngine::vllm},
    {"vllm.entrypoints.openai.api_server", "", CommandEngine::vllm},
    {"vllm.entrypoints.api_server", "", CommandEngine::vllm},
    {"sglang", "serve", CommandEngine::sglang},
    {"sglang.launch_server", "", CommandEngine::sglang},
    {"sgl_jax.launch_server", "", CommandEngine::sglang},
    {"sglang_router.launch_server", "", CommandEngine::sglang},
    {"trtllm-serve", "?serve", CommandEngine::tensorrt_llm},
    {"tensorrt_llm.commands.serve", "?serve", CommandEngine::tensorrt_llm},
    {"llama-server", "", CommandEngine::llama_cpp},
    {"llama-cli", "", CommandEngine::llama_cpp},
    {"llama-completion", "", CommandEngine::llama_cpp},
    {"llama-bench", "", CommandEngine::llama_cpp},
    {"llama-perplexity", "", CommandEngine::llama_cpp},
    {"llama-batched-bench", "", CommandEngine::llama_cpp},
    {"llama-mtmd-cli", "", CommandEngine::llama_cpp},
    {"./server", "", CommandEngine::llama_cpp},
    {"./main", "", CommandEngine::llama_cpp},
    {"ollama", "run", CommandEngine::ollama},
    {"ollama", "serve", CommandEngine::ollama},
    {"ollama", "create", CommandEngine::ollama},
    {"ollama", "pull", CommandEngine::ollama},
};

using Words = std::vector<std::string>;

/// Where the arguments of a program begin, and what it is.
struct Found {
  CommandEngine engine;
  std::string program;
  Words::size_type arguments;
};

bool is_program(const Program& program, std::string_view word) {
  if (starts_with(program.word, "./")) return word == program.word;
  return base_name(word) == program.word;
}

std::optional<Found> find_program(const Words& words, Words::size_type from) {
  for (auto i = from; i < words.size(); ++i) {
    for (const Program& program : kPrograms) {
      if (!is_program(program, words[i])) continue;
      const std::string name(base_name(words[i]));
      if (program.verb.empty()) return Found{program.engine, name, i + 1};
      const bool is_optional = program.verb.front() == '?';
      const std::string_view verb = program.verb.substr(is_optional ? 1 : 0);
      const bool has_verb = i + 1 < words.size() && words[i + 1] == verb;
      if (is_optional) return Found{program.engine, name, i + (has_verb ? 2 : 1)};
      if (has_verb) return Found{program.engine, name + " " + std::string(verb), i + 2};
    }
  }
  return std::nullopt;
}

void add_variable(CommandSource& source, std::string_view text) {
  const auto equals = text.find('=');
  if (equals == kNone) return;
  source.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

/// Where the image of "docker run" stands, with the variables before it put into `source`.
Words::size_type image_of(const Words& words, Words::size_type from, CommandSource& source) {
  auto i = from;
  while (i < words.size() && words[i].size() > 1 && words[i].front() == '-') {
    const std::string& option = words[i];
    const bool has_value = docker_option_has_value(option) && i + 1 < words.size();
    if ((option == "-e" || option == "--env") && has_value) add_variable(source, words[i + 1]);
    if (starts_with(option, "--env=")) add_variable(source, option.substr(6));
    i += has_value ? 2 : 1;
  }
  return i;
}

std::optional<Words::size_type> container_run(const Words& words) {
  for (Words::size_type i = 0; i + 1 < words.size(); ++i) {
    const std::string_view tool = base_name(words[i]);
    if ((tool == "docker" || tool == "podman" || tool == "nerdctl") && words[i + 1] == "run")
      return i + 2;
  }
  return std::nullopt;
}

/// Fills in the program that an image runs by itself.
bool use_image(CommandSource& source, std::string_view image, const Words& words,
               Words::size_type arguments) {
  const auto engine = engine_of_image(image);
  if (!engine) return false;
  source.engine = *engine;
  source.program = std::string(program_of_image(*engine));
  const bool has_verb = arguments < words.size() && words[arguments] == "serve";
  source.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(arguments + has_verb),
                          words.end());
  return true;
}

bool use_program(CommandSource& source, const Words& words, Words::size_type from) {
  const auto found = find_program(words, from);
  if (!found) return false;
  source.engine = found->engine;
  source.program = found->program;
  source.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(found->arguments),
                          words.end());
  return true;
}

bool use_words(CommandSource& source, const Words& words, std::string_view image) {
  if (image.empty()) {
    if (const auto run = container_run(words)) {
      const auto at = image_of(words, *run, source);
      if (at >= words.size()) return false;
      const bool is_found =
          use_program(source, words, at + 1) || use_image(source, words[at], words, at + 1);
      source.version = version_of(words[at], source.engine);
      return is_found;
    }
    return use_program(source, words, 0);
  }
  const bool is_found = use_program(source, words, 0) || use_image(source, image, words, 0);
  source.version = version_of(image, source.engine);
  return is_found;
}

/// The engine whose flags these are, when one has more of them than every other.
bool guess_engine(CommandSource& source, const Words& words) {
  uint64_t best = 0;
  bool is_tie = true;
  for (const CommandEngine engine : {CommandEngine::vllm, CommandEngine::sglang,
                                     CommandEngine::tensorrt_llm, CommandEngine::llama_cpp}) {
    uint64_t num_known = 0;
    for (const std::string& word : words) {
      const std::string_view name = std::string_view(word).substr(0, word.find('='));
      if (starts_with(name, "-") && find_flag(engine_flags(engine), name).row != nullptr)
        ++num_known;
    }
    if (num_known > best) {
      source.engine = engine;
      is_tie = false;
    } else if (num_known == best) {
      is_tie = true;
    }
    best = std::max(best, num_known);
  }
  source.arguments = words;
  return !is_tie;
}

/// Variables that are set for all commands of a text.
void take_settings(CommandSource& source, const ShellCommand& command) {
  if (command.words.empty()) {
    source.environment.insert(source.environment.end(), command.environment.begin(),
                              command.environment.end());
    return;
  }
  const std::string& first = command.words.front();
  if (first != "export" && first != "set" && first != "setx") return;
  for (auto word = command.words.begin() + 1; word != command.words.end(); ++word)
    add_variable(source, *word);
}

/// Environment=NAME=value of a systemd unit, as NAME=value.
void unwrap_units(CommandSource& source) {
  for (auto& [name, value] : source.environment) {
    const auto equals = value.find('=');
    if (name != "Environment" || equals == kNone) continue;
    name = value.substr(0, equals);
    value.erase(0, equals + 1);
  }
}

using Variables = std::vector<std::pair<std::string, std::string>>;
/// Longest value that takes a variable's place.
constexpr std::string::size_type kMaxValueBytes = 4096;

/// The value of $NAME, ${NAME} or ${NAME:-default} where that is the whole of a text.
void expand(const Variables& variables, std::string& text) {
  std::string_view name = text;
  if (name.size() < 2 || name.front() != '$') return;
  name.remove_prefix(1);
  std::string_view otherwise;
  if (name.front() == '{' && name.back() == '}') {
    name = name.substr(1, name.size() - 2);
    const auto mark = name.find(":-");
    if (mark != kNone) {
      otherwise = name.substr(mark + 2);
      name = name.substr(0, mark);
    }
  }
  constexpr Variables::size_type kMaxVariables = 200;
  for (Variables::size_type i = 0; i < std::min(variables.size(), kMaxVariables); ++i) {
    const auto& [known, value] = variables[i];
    if (known != name || value.size() > kMaxValueBytes) continue;
    text = value;
    return;
  }
  if (!otherwise.empty()) text = std::string(otherwise);
}

void expand_all(CommandSource& source) {
  for (std::string& argument : source.arguments) {
    const auto equals = argument.front() == '-' ? argument.find('=') : kNone;
    if (equals == kNone) {
      expand(source.environment, argument);
    } else {
      std::string value = argument.substr(equals + 1);
      expand(source.environment, value);
      argument.replace(equals + 1, kNone, value);
    }
  }
}

Result<CommandSource> finish(CommandSource source) {
  unwrap_units(source);
  auto& arguments = source.arguments;
  arguments.erase(std::remove(arguments.begin(), arguments.end(), std::string()), arguments.end());
  expand_all(source);
  if (source.engine == CommandEngine::ollama) read_modelfiles(source);
  return source;
}

/// Ollama's server has the variables and another command the model, so all of them count.
void add_command(std::optional<CommandSource>& found, CommandSource source) {
  if (!found) {
    found = std::move(source);
    return;
  }
  if (source.engine != CommandEngine::ollama) return;
  found->environment.insert(found->environment.end(), source.environment.begin(),
                            source.environment.end());
  if (found->arguments.empty()) {
    found->arguments = std::move(source.arguments);
    found->program = std::move(source.program);
  }
}

std::optional<CommandSource> in_shell(const std::vector<ShellCommand>& commands,
                                      std::string_view image) {
  CommandSource shared;
  std::optional<CommandSource> found;
  for (const ShellCommand& command : commands) {
    take_settings(shared, command);
    shared.documents.insert(shared.documents.end(), command.documents.begin(),
                            command.documents.end());
    if (found && found->engine != CommandEngine::ollama) continue;
    CommandSource source;
    source.environment = command.environment;
    Words words = command.words;
    for (std::string& word : words)
      expand(shared.environment, word);
    if (use_words(source, words, image)) add_command(found, std::move(source));
  }
  if (!found) return std::nullopt;
  found->environment.insert(found->environment.begin(), shared.environment.begin(),
                            shared.environment.end());
  found->documents = std::move(shared.documents);
  return found;
}

/// sh -c and a text among the words of a container.
std::optional<CommandSource> in_inner_shell(const ContainerCommand& container) {
  for (const std::string& word : container.words) {
    if (word.find_first_of(" \n") == std::string::npos) continue;
    const auto commands = shell_commands(word);
    if (!commands) continue;
    if (auto found = in_shell(*commands, container.image)) return found;
  }
  return std::nullopt;
}

std::optional<CommandSource> in_container(const ContainerCommand& container) {
  CommandSource source;
  const bool is_shell =
      !container.words.empty() &&
      std::find(container.words.begin(), container.words.end(), "-c") != container.words.end();
  std::optional<CommandSource> inner;
  if (is_shell) inner = in_inner_shell(container);
  if (inner) {
    source = std::move(*inner);
  } else if (!use_words(source, container.words, container.image) &&
             !guess_engine(source, container.words)) {
    return std::nullopt;
  }
  source.environment.insert(source.environment.end(), container.environment.begin(),
                            container.environment.end());
  return source;
}

}  // namespace

Result<CommandSource> find_command(std::string_view text) {
  if (text.size() > kMaxCommandBytes)
    return fail(ErrorCode::command_unreadable, "/text", {{"reason", "it is longer than 1 MiB"}});
  if (auto script = read_script(text)) return finish(std::move(*script));
  for (const ContainerCommand& container : container_commands(text)) {
    if (auto found = in_container(container)) return finish(std::move(*found));
  }
  const auto commands = shell_commands(text);
  if (!commands) return fail(commands.error());
  if (auto found = in_shell(*commands, "")) return finish(std::move(*found));
  for (const ShellCommand& command : *commands) {
    CommandSource source;
    source.environment = command.environment;
    if (guess_engine(source, command.words)) return finish(std::move(source));
  }
  return fail(ErrorCode::command_not_found, "/text");
}

}  // namespace vramgauge

#include "command_lines.h"

#include <memory>
#include <optional>

#include "scenario_options.h"

namespace vramgauge::tools {
namespace {

std::string text_at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

std::string command_text(const json::Value& result) {
  std::string out;
  for (const json::Value& line : *result.find("lines")->as_array())
    out += text_at(line, "text") + "\n";
  std::string fields;
  for (const json::Value& field : *result.find("not_carried")->as_array())
    fields += (fields.empty() ? "" : ", ") + *field.as_string();
  if (!fields.empty()) out += "# Not said by it: " + fields + "\n";
  return out;
}

/// "unknown: --a, --b 3" for a list that is not empty.
std::string flags_text(const json::Value& result, const char* list, const std::string& title) {
  std::string out;
  for (const json::Value& item : *result.find(list)->as_array()) {
    const std::string value = text_at(item, "value");
    out += (out.empty() ? title + ": " : ", ") + text_at(item, "flag") +
           (value.empty() ? "" : " " + value);
  }
  return out.empty() ? out : out + "\n";
}

std::string remarks_text(const json::Value& result) {
  return flags_text(result, "unknown", "not known") +
         flags_text(result, "not_modelled", "not modelled");
}

std::string parsed_text(const json::Value& result) {
  std::string out = "model: " + text_at(*result.find("model"), "text") + "\n";
  for (const json::Member& member : *result.find("scenario_patch")->as_object()) {
    const std::string* text = member.value.as_string();
    out += member.key + ": " + (text == nullptr ? json::write(member.value) : *text) + "\n";
  }
  return out + remarks_text(result) + flags_text(result, "ignored", "without effect on memory");
}

struct CommandOptions {
  ScenarioSource source;
  std::string launcher;
  std::string file;
  bool as_json = false;
};

/// A model of the catalogue by its own name: a command line needs the hub's.
void name_model(Program& program, json::Value& scenario) {
  const json::Value* model = scenario.find("model");
  if (model == nullptr || model->as_string() == nullptr) return;
  const json::Value envelope = program.call("model", request_with("id", *model));
  if (is_ok(envelope)) scenario.set("model", *envelope.find("result")->find("id"));
}

int run_command(const CommandOptions& options) {
  Program program;
  int exit_code = kDone;
  auto scenario = read_scenario(program, options.source, exit_code);
  if (!scenario) return exit_code;
  name_model(program, *scenario);
  json::Value request = request_with("scenario", std::move(*scenario));
  request.set("launcher", options.launcher);
  return finish(program.call("command", request), options.as_json, command_text);
}

std::optional<json::Value> parse_file(Program& program, const std::string& path) {
  std::optional<std::string> text = read_input(path);
  if (!text) return std::nullopt;
  return program.call("parse_command", request_with("text", json::Value::string(std::move(*text))));
}

int run_parse_command(const CommandOptions& options) {
  Program program;
  const auto envelope = parse_file(program, options.file);
  if (!envelope) return usage("cannot read " + options.file);
  return finish(*envelope, options.as_json, parsed_text);
}

}  // namespace

bool add_command_file(Program& program, const std::string& path, json::Value& scenario,
                      int& exit_code) {
  const auto envelope = parse_file(program, path);
  if (!envelope) {
    exit_code = usage("cannot read " + path);
    return false;
  }
  const json::Value* result = report(*envelope);
  if (result == nullptr) {
    exit_code = kCannotTell;
    return false;
  }
  print(stderr, remarks_text(*result));
  for (const json::Member& member : *result->find("scenario_patch")->as_object())
    scenario.set(member.key, member.value);
  return true;
}

void add_command_line_commands(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CommandOptions>();
  CLI::App* write = app.add_subcommand("command", "the engine's command line for a scenario");
  add_scenario_options(*write, options->source);
  write->add_option("--launcher", options->launcher, "ollama, which starts llama.cpp");
  write->add_flag("--json", options->as_json, "the facade's answer as JSON");
  write->callback([options, &exit_code] { exit_code = run_command(*options); });

  CLI::App* parse = app.add_subcommand(
      "parse-command",
      "the scenario of a command line: vllm, sglang, trtllm-serve, llama.cpp, ollama; also in "
      "docker run, Compose files and Kubernetes manifests");
  parse->add_option("file", options->file, "file with the command, or - for standard input")
      ->required();
  parse->add_flag("--json", options->as_json, "the facade's answer as JSON");
  parse->callback([options, &exit_code] { exit_code = run_parse_command(*options); });
}

}  // namespace vramgauge::tools

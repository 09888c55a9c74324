#include "program.h"

#include <cstdio>

#include "catalogue_data.h"
#include "command_lines.h"
#include "model_files.h"
#include "text.h"

namespace vramgauge::tools {
namespace {

void merge(json::Value& target, const json::Value& source) {
  if (source.as_object() == nullptr) return;
  for (const json::Member& member : *source.as_object())
    target.set(member.key, member.value);
}

json::Value parse_own(const std::string& text) {
  json::Limits limits;
  limits.max_bytes = kMaxInputBytes;
  return json::parse(text, limits).value_or(json::Value());
}

/// JSON of a file that the user named, or an exit code.
std::optional<json::Value> read_json(const std::string& path, int& exit_code) {
  const std::optional<std::string> text = read_input(path);
  if (!text) {
    exit_code = usage("cannot read " + path);
    return std::nullopt;
  }
  Result<json::Value> parsed = json::parse(*text);
  if (parsed) return std::move(*parsed);
  for (const Diagnostic& error : parsed.error())
    exit_code = usage(path + ": " + message_of(error));
  return std::nullopt;
}

/// Puts what a model's files say into a scenario; false with an exit code when they say nothing.
bool add_model_files(const Program& program, const std::vector<std::string>& files,
                     json::Value& scenario, int& exit_code) {
  const std::optional<json::Value> envelope = read_files(program, files, exit_code);
  if (!envelope) return false;
  exit_code = kCannotTell;
  // The estimate repeats the warnings of the model that it is given.
  if (is_ok(*envelope)) {
    merge(scenario, *envelope->find("result")->find("scenario_patch"));
    return true;
  }
  report(*envelope);
  return false;
}

/// Puts a measured machine's first GPU into the catalogue and the scenario.
bool add_hardware(Program& program, const std::string& path, json::Value& scenario,
                  int& exit_code) {
  const std::optional<json::Value> probe = read_json(path, exit_code);
  if (!probe) return false;
  const json::Value* gpus = probe->find("gpus");
  const bool has_gpu = gpus != nullptr && gpus->as_array() != nullptr && !gpus->as_array()->empty();
  const json::Value* id = has_gpu ? gpus->as_array()->front().find("id") : nullptr;
  if (id == nullptr || id->as_string() == nullptr ||
      !program.add_to_catalogue(request_with("gpus", *gpus))) {
    exit_code = usage(path + " is not what vramgauge probe --json wrote");
    return false;
  }
  scenario.set("gpu", *id);
  return true;
}

bool add_link(Program& program, const std::string& link, json::Value& scenario, int& exit_code) {
  const json::Value envelope =
      program.call("link_decode", request_with("link", json::Value::string(link)));
  const json::Value* decoded = report(envelope);
  exit_code = kCannotTell;
  if (decoded == nullptr || decoded->find("scenario") == nullptr) return false;
  merge(scenario, *decoded->find("scenario"));
  return true;
}

bool add_scenario_file(const std::string& path, json::Value& scenario, int& exit_code) {
  const std::optional<json::Value> given = read_json(path, exit_code);
  if (given) merge(scenario, *given);
  return given.has_value();
}

bool add_config_file(const std::string& path, json::Value& scenario, int& exit_code) {
  const std::optional<std::string> text = read_input(path);
  if (!text) {
    exit_code = usage("cannot read " + path);
    return false;
  }
  scenario.set("model_config", json::Value::string(*text));
  return true;
}

}  // namespace

void print(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

int usage(const std::string& message) {
  print(stderr, message + "\n");
  return kUsage;
}

std::optional<std::string> read_input(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  char buffer[65536];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kMaxInputBytes) break;
  }
  const bool complete = std::feof(file) != 0;
  if (file != stdin) std::fclose(file);
  if (!complete) return std::nullopt;
  return text;
}

bool write_file(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_written;
}

Program::Program() : catalogue_(unpack_catalogue()) { session_.load_catalogue(catalogue_); }

bool Program::add_to_catalogue(const json::Value& document) {
  return is_ok(parse_own(session_.load_catalogue(json::write(document))));
}

std::string Program::call_text(const std::string& method, std::string_view request) {
  return session_.call(method, request);
}

json::Value Program::call(const std::string& method, const json::Value& request) {
  return parse_own(call_text(method, json::write(request)));
}

bool is_ok(const json::Value& envelope) {
  const json::Value* ok = envelope.find("ok");
  return ok != nullptr && ok->as_boolean() != nullptr && *ok->as_boolean();
}

const json::Value* report(const json::Value& envelope) {
  if (const json::Value* warnings = envelope.find("warnings"))
    print(stderr, diagnostics_text(*warnings, "warning"));
  if (const json::Value* errors = envelope.find("errors"))
    print(stderr, diagnostics_text(*errors, "error"));
  return is_ok(envelope) ? envelope.find("result") : nullptr;
}

int finish(const json::Value& envelope, bool as_json, std::string (*to_text)(const json::Value&)) {
  if (as_json) {
    print(stdout, json::write(envelope) + "\n");
    return is_ok(envelope) ? kDone : kCannotTell;
  }
  const json::Value* result = report(envelope);
  if (result == nullptr) return kCannotTell;
  print(stdout, to_text(*result));
  return kDone;
}

json::Value request_with(const char* key, json::Value value) {
  json::Value request = json::Value::object();
  request.set(key, std::move(value));
  return request;
}

std::optional<json::Value> read_files(const Program& program, const std::vector<std::string>& files,
                                      int& exit_code) {
  const ReadModel read = read_model(files, program.catalogue());
  if (!read.unreadable.empty()) {
    exit_code = usage("cannot read " + read.unreadable);
    return std::nullopt;
  }
  return parse_own(read.envelope);
}

std::optional<json::Value> read_scenario(Program& program, const ScenarioSource& source,
                                         int& exit_code) {
  json::Value scenario = json::Value::object();
  if (!source.link.empty() && !add_link(program, source.link, scenario, exit_code))
    return std::nullopt;
  if (!source.file.empty() && !add_scenario_file(source.file, scenario, exit_code))
    return std::nullopt;
  if (!source.command_file.empty() &&
      !add_command_file(program, source.command_file, scenario, exit_code))
    return std::nullopt;
  if (!source.hardware_file.empty() &&
      !add_hardware(program, source.hardware_file, scenario, exit_code))
    return std::nullopt;
  if (!source.model_files.empty() &&
      !add_model_files(program, source.model_files, scenario, exit_code))
    return std::nullopt;
  for (const auto& [key, value] : source.fields)
    scenario.set(key, json::Value::string(value));
  if (!source.config_file.empty() && !add_config_file(source.config_file, scenario, exit_code))
    return std::nullopt;
  exit_code = kDone;
  return scenario;
}

}  // namespace vramgauge::tools

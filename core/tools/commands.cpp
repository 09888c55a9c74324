#include "commands.h"

#include <cstdio>
#include <optional>
#include <string_view>

#include "api/session.h"
#include "catalogue_data.h"
#include "model_files.h"
#include "text.h"
#include "units/json.h"

namespace vramgauge::tools {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{64} << 20;

void print(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

int usage(const std::string& message) {
  print(stderr, message + "\n");
  return kUsage;
}

/// A whole file, or standard input for "-"; nothing when it cannot be read or is too large.
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

/// A session over the catalogue inside the program.
class Program {
 public:
  Program() : catalogue_(unpack_catalogue()) { session_.load_catalogue(catalogue_); }

  const std::string& catalogue() const { return catalogue_; }

  std::string call_text(const std::string& method, const json::Value& request) {
    return session_.call(method, json::write(request));
  }
  std::string call_text(const std::string& method, std::string_view request) {
    return session_.call(method, request);
  }
  json::Value call(const std::string& method, const json::Value& request) {
    json::Limits limits;
    limits.max_bytes = kMaxInputBytes;
    return json::parse(call_text(method, request), limits).value_or(json::Value());
  }

 private:
  std::string catalogue_;
  api::Session session_;
};

bool is_ok(const json::Value& envelope) {
  const json::Value* ok = envelope.find("ok");
  return ok != nullptr && ok->as_boolean() != nullptr && *ok->as_boolean();
}

/// Prints warnings and errors to the error stream; returns the result or nothing.
const json::Value* report(const json::Value& envelope) {
  if (const json::Value* warnings = envelope.find("warnings"))
    print(stderr, diagnostics_text(*warnings, "warning"));
  if (const json::Value* errors = envelope.find("errors"))
    print(stderr, diagnostics_text(*errors, "error"));
  return is_ok(envelope) ? envelope.find("result") : nullptr;
}

json::Value request_with(const char* key, json::Value value) {
  json::Value request = json::Value::object();
  request.set(key, std::move(value));
  return request;
}

void merge(json::Value& target, const json::Value& source) {
  if (source.as_object() == nullptr) return;
  for (const json::Member& member : *source.as_object())
    target.set(member.key, member.value);
}

/// The envelope of a model's files, or an exit code.
std::optional<json::Value> read_files(const Program& program, const std::vector<std::string>& files,
                                      int& exit_code) {
  const ReadModel read = read_model(files, program.catalogue());
  if (!read.unreadable.empty()) {
    exit_code = usage("cannot read " + read.unreadable);
    return std::nullopt;
  }
  json::Limits limits;
  limits.max_bytes = kMaxInputBytes;
  return json::parse(read.envelope, limits).value_or(json::Value());
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

/// The scenario as given, or an exit code.
std::optional<json::Value> read_scenario(Program& program, const ScenarioSource& source,
                                         int& exit_code) {
  json::Value scenario = json::Value::object();
  if (!source.link.empty()) {
    const json::Value envelope =
        program.call("link_decode", request_with("link", json::Value::string(source.link)));
    const json::Value* decoded = report(envelope);
    exit_code = kCannotTell;
    if (decoded == nullptr || decoded->find("scenario") == nullptr) return std::nullopt;
    merge(scenario, *decoded->find("scenario"));
  }
  if (!source.file.empty()) {
    const std::optional<std::string> text = read_input(source.file);
    exit_code = usage("cannot read " + source.file);
    if (!text) return std::nullopt;
    Result<json::Value> parsed = json::parse(*text);
    if (!parsed) {
      for (const Diagnostic& error : parsed.error())
        usage(source.file + ": " + message_of(error));
      return std::nullopt;
    }
    merge(scenario, *parsed);
  }
  if (!source.model_files.empty() &&
      !add_model_files(program, source.model_files, scenario, exit_code))
    return std::nullopt;
  for (const auto& [key, value] : source.fields)
    scenario.set(key, json::Value::string(value));
  if (!source.config_file.empty()) {
    const std::optional<std::string> text = read_input(source.config_file);
    exit_code = text ? exit_code : usage("cannot read " + source.config_file);
    if (!text) return std::nullopt;
    scenario.set("model_config", json::Value::string(*text));
  }
  exit_code = kDone;
  return scenario;
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

}  // namespace

int run_estimate(const ScenarioSource& source, bool as_json) {
  Program program;
  int exit_code = kDone;
  std::optional<json::Value> scenario = read_scenario(program, source, exit_code);
  if (!scenario) return exit_code;
  return finish(program.call("estimate", request_with("scenario", std::move(*scenario))), as_json,
                estimate_text);
}

int run_fit(const ScenarioSource& source, const std::string& launcher, bool as_json) {
  Program program;
  int exit_code = kDone;
  std::optional<json::Value> scenario = read_scenario(program, source, exit_code);
  if (!scenario) return exit_code;
  json::Value request = request_with("scenario", std::move(*scenario));
  request.set("launcher", json::Value::string(launcher));
  return finish(program.call("fit", request), as_json, fit_text);
}

int run_link(const ScenarioSource& source, bool decode) {
  Program program;
  int exit_code = kDone;
  std::optional<json::Value> scenario = read_scenario(program, source, exit_code);
  if (!scenario) return exit_code;
  if (decode) {
    print(stdout, json::write(*scenario) + "\n");
    return kDone;
  }
  const json::Value envelope =
      program.call("link_encode", request_with("scenario", std::move(*scenario)));
  const json::Value* result = report(envelope);
  const json::Value* fragment = result == nullptr ? nullptr : result->find("fragment");
  if (fragment == nullptr || fragment->as_string() == nullptr) return kCannotTell;
  print(stdout, *fragment->as_string() + "\n");
  return kDone;
}

int run_catalogue(const std::string& kind, const std::string& query, const std::string& limit,
                  bool as_json) {
  Program program;
  json::Value request = request_with("kind", json::Value::string(kind));
  request.set("query", json::Value::string(query));
  if (!limit.empty()) request.set("limit", json::Value::string(limit));
  return finish(program.call("catalogue", request), as_json, catalogue_text);
}

int run_import(const std::vector<std::string>& files, const std::string& spec_file, bool as_json) {
  Program program;
  int exit_code = kDone;
  const std::optional<json::Value> envelope = read_files(program, files, exit_code);
  if (!envelope) return exit_code;
  const json::Value* result = is_ok(*envelope) ? envelope->find("result") : nullptr;
  if (result != nullptr && !spec_file.empty()) {
    const json::Value* spec = result->find("scenario_patch")->find("model_config");
    if (!write_file(spec_file, *spec->as_string() + "\n"))
      return usage("cannot write " + spec_file);
  }
  return finish(*envelope, as_json, model_text);
}

int run_call(const std::string& method, const std::string& request) {
  const std::optional<std::string> text =
      request == "-" ? read_input("-") : std::optional<std::string>(request);
  if (!text) return usage("cannot read standard input");
  Program program;
  const std::string envelope = program.call_text(method, std::string_view(*text));
  print(stdout, envelope + "\n");
  return envelope.rfind("{\"ok\":true", 0) == 0 ? kDone : kCannotTell;
}

}  // namespace vramgauge::tools

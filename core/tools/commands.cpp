#include "commands.h"

#include <optional>

#include "program.h"
#include "text.h"

namespace vramgauge::tools {

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

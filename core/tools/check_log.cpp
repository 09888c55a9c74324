#include "check_log.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "check_log_text.h"
#include "import/engine_log_json.h"
#include "program.h"
#include "scenario_options.h"

namespace vramgauge::tools {
namespace {

/// The log of a file or of standard input; nothing when it cannot be read.
std::optional<EngineLog> read_log(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  EngineLogReader reader;
  char buffer[65536];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    reader.feed({buffer, got});
  const bool is_complete = std::ferror(file) == 0;
  if (file != stdin) std::fclose(file);
  if (!is_complete) return std::nullopt;
  return reader.finish();
}

/// The file's name without folders and ending.
std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of("/\\") + 1);
  return name.substr(0, name.rfind('.'));
}

/// Writes a document as one line; true when there is nothing to write.
bool write_line(const std::string& path, const json::Value& document) {
  if (path.empty()) return true;
  const std::string line = json::write(document) + "\n";
  if (path != "-") return write_file(path, line);
  print(stdout, line);
  return true;
}

int write_files(const CheckLogOptions& options, const json::Value& result) {
  json::Value observation = *result.find("observation");
  observation.set("id", options.file == "-" ? "log" : stem_of(options.file));
  if (!write_line(options.observation_file, observation))
    return usage("cannot write " + options.observation_file);
  if (!write_line(options.calibration_file, *result.find("calibration")))
    return usage("cannot write " + options.calibration_file);
  return kDone;
}

}  // namespace

int run_check_log(const CheckLogOptions& options) {
  const auto log = read_log(options.file);
  if (!log) return usage("cannot read " + options.file);
  Program program;
  int exit_code = kDone;
  auto scenario = read_scenario(program, options.source, exit_code);
  if (!scenario) return exit_code;
  json::Value request = request_with("log", write_engine_log(*log));
  request.set("scenario", std::move(*scenario));
  const json::Value envelope = program.call("check_log", request);
  if (is_ok(envelope)) exit_code = write_files(options, *envelope.find("result"));
  if (exit_code != kDone) return exit_code;
  const bool is_printed = options.observation_file == "-" || options.calibration_file == "-";
  return is_printed ? kDone : finish(envelope, options.as_json, log_check_text);
}

void add_check_log_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CheckLogOptions>();
  CLI::App* command = app.add_subcommand(
      "check-log", "a start-up log beside what is predicted for it, term by term");
  command->add_option("file", options->file, "the engine's log, or - for standard input")
      ->required();
  add_scenario_options(*command, options->source);
  command->add_option("--observation", options->observation_file,
                      "file for the log as a row that accuracy reads, or -");
  command->add_option("--calibration-file", options->calibration_file,
                      "file for what to move the estimate's terms by, or -");
  command->add_flag("--json", options->as_json, "the facade's answer as JSON");
  command->callback([options, &exit_code] { exit_code = run_check_log(*options); });
}

}  // namespace vramgauge::tools

// vramgauge: will this model, served this way, fit on these GPUs?
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "accuracy.h"
#include "api/describe.h"
#include "check_log.h"
#include "command_lines.h"
#include "commands.h"
#include "plan_commands.h"
#include "scenario_options.h"
#include "validate_options.h"

int main(int argc, char** argv) {
  namespace tools = vramgauge::tools;
  CLI::App app{
      "Will this model, served this way, fit on these GPUs, and how much traffic will it hold?",
      "vramgauge"};
  app.set_version_flag("--version", std::string(vramgauge::api::version()));
  app.require_subcommand(1);
  bool as_json = false;
  int exit_code = tools::kDone;
  tools::add_command_line_commands(app, exit_code);
  tools::add_check_log_command(app, exit_code);

  tools::ScenarioSource source;
  CLI::App* estimate =
      app.add_subcommand("estimate", "memory per device, term by term, and the verdict");
  tools::add_scenario_options(*estimate, source);
  estimate->add_flag("--json", as_json, "the facade's answer as JSON");
  estimate->callback([&] { exit_code = tools::run_estimate(source, as_json); });

  std::string launcher;
  CLI::App* fit = app.add_subcommand(
      "fit", "what llama.cpp chooses by itself: context, layers, experts that are not given");
  tools::add_scenario_options(*fit, source);
  fit->add_option("--launcher", launcher, "ollama or lm_studio, which start it in their own way");
  fit->add_flag("--json", as_json, "the facade's answer as JSON");
  fit->callback([&] { exit_code = tools::run_fit(source, launcher, as_json); });

  tools::add_plan_commands(app, source, as_json, exit_code);

  bool decode = false;
  CLI::App* link = app.add_subcommand("link", "the link of a scenario");
  tools::add_scenario_options(*link, source);
  link->add_flag("--decode", decode, "print what a link says as JSON");
  link->callback([&] { exit_code = tools::run_link(source, decode); });

  std::string kind;
  std::string query;
  std::string limit;
  CLI::App* catalog =
      app.add_subcommand("catalog", "lists of models, gpus, formats, cache_types, engines");
  catalog->add_option("kind", kind, "models, gpus, formats, cache_types or engines")->required();
  catalog->add_option("query", query, "words to look for");
  catalog->add_option("--limit", limit, "most entries to list");
  catalog->add_flag("--json", as_json, "the facade's answer as JSON");
  catalog->callback([&] { exit_code = tools::run_catalogue(kind, query, limit, as_json); });

  std::vector<std::string> files;
  std::string spec_file;
  CLI::App* import = app.add_subcommand(
      "import", "what a model's files say: GGUF, safetensors, an index, config.json");
  import->add_option("files", files, "the files, a folder of them, or -")->required();
  import->add_option("--save", spec_file, "file for the model as JSON, for --model-file");
  import->add_flag("--json", as_json, "the facade's answer as JSON");
  import->callback([&] { exit_code = tools::run_import(files, spec_file, as_json);
});

tools::add_device_commands(app, exit_code);

std::string method;
std::string request = "{}";
CLI::App* call = app.add_subcommand("call", "any method of the facade, JSON in, JSON out");
call->add_option("method", method, "see core/api/README.md")->required();
call->add_option("request", request, "JSON, or - for standard input");
call->callback([&] { exit_code = tools::run_call(method, request); });

tools::AccuracySource accuracy_source;
CLI::App* accuracy =
    app.add_subcommand("accuracy", "predictions beside what engines reported, by quantity");
accuracy->add_option("files", accuracy_source.files, "truth files, gzipped or not")->required();
accuracy->add_option("--headers", accuracy_source.header_folders,
                     "folder with the headers of the models that the files name");
accuracy->add_option(
    "--configs", accuracy_source.config_folders,
    "folder with configurations (org__name.json) of models that the catalogue lacks");
accuracy->add_option("--engine-version", accuracy_source.engine_versions,
                     "whose rules apply: a build of llama.cpp (b6975), a release of vLLM (0.19.0)");
accuracy->add_option("--engine-file", accuracy_source.engine_file,
                     "file with the engine's rules by build, instead of the catalogue");
accuracy->add_option("--worst", accuracy_source.num_worst, "most rows to list per quantity");
accuracy->add_flag("--json", as_json, "the comparison as JSON");
accuracy->callback([&] { exit_code = tools::run_accuracy(accuracy_source, as_json); });

try {
  app.parse(argc, argv);
} catch (const CLI::ParseError& error) {
  const int status = app.exit(error);
  return status == 0 ? tools::kDone : tools::kUsage;
}
return exit_code;
}

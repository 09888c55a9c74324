#include "validate_options.h"

#include <memory>

#include "calibrate_command.h"
#include "probe_command.h"
#include "scenario_options.h"
#include "serve_command.h"
#include "validate_command.h"

namespace vramgauge::tools {
namespace {

void add_probe(CLI::App& app, int& exit_code) {
  struct Options {
    bool only_looks = false;
    bool as_json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* probe = app.add_subcommand("probe", "what this machine's GPUs really have");
  probe->add_flag("--look-only", options->only_looks, "create no context and allocate nothing");
  probe->add_flag("--json", options->as_json, "as JSON, which --hardware and the page read");
  probe->callback(
      [options, &exit_code] { exit_code = run_probe(options->only_looks, options->as_json); });
}

void add_validate(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* validate = app.add_subcommand(
      "validate",
      "a scenario against this machine: exit code 0 fits, 1 does not, 2 tight, 3 cannot tell");
  add_scenario_options(*validate, options->source);
  validate->add_flag("--allocate", options->allocates,
                     "really take what is predicted, touch it, measure, and give it back");
  validate
      ->add_option("--margin-gib", options->margin_gib, "stays free on each GPU while allocating")
      ->check(CLI::Range(0.0, 1024.0))
      ->capture_default_str();
  validate->add_option("--timeout-s", options->timeout_s, "most seconds to allocate")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  validate->add_flag("--json", options->as_json, "as JSON");
  validate->callback([options, &exit_code] { exit_code = run_validate(*options); });
}

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* serve = app.add_subcommand(
      "serve", "answers over HTTP: POST /estimate, /solve, /validate and GET /probe");
  serve->add_option("--host", options->host, "address to listen on")->capture_default_str();
  serve->add_option("--port", options->port, "0 = any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  serve->add_option("--allow-origin", options->origins,
                    "page that may ask, such as https://example.org; may be repeated");
  serve->add_option("--threads", options->num_threads, "requests that are answered at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  serve
      ->add_option("--timeout-s", options->time_s,
                   "most seconds for a request, and again for its answer")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  serve->callback([options, &exit_code] { exit_code = run_serve(*options); });
}

void add_calibrate(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "what a running engine states, or what a prefill takes on the device itself");
  calibrate
      ->add_option(
          "from", options->from,
          "http://127.0.0.1:PORT of vLLM, SGLang or llama-server; files with what /metrics "
          "or /props answered, or -; or the word device")
      ->required();
  calibrate->add_option("--observation", options->observation_file,
                        "file for the figures as a row that accuracy reads, or -");
  calibrate->add_option("--calibration-file", options->calibration_file,
                        "file for what to correct in estimates from now on, or -");
  add_scenario_flags(*calibrate, options->source);
  PrefillShape& shape = options->shape;
  calibrate->add_option("--device", shape.device, "which device")->check(CLI::Range(0, 1023));
  calibrate->add_option("--tokens", shape.tokens, "tokens prefilled at once")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  calibrate->add_option("--hidden-size", shape.hidden_size, "width of the model")
      ->check(CLI::Range(1, 1 << 17))
      ->capture_default_str();
  calibrate->add_option("--intermediate-size", shape.intermediate_size, "width of the feed-forward")
      ->check(CLI::Range(1, 1 << 19))
      ->capture_default_str();
  calibrate->add_flag("--json", options->as_json, "errors as JSON too");
  calibrate->callback([options, &exit_code] { exit_code = run_calibrate(*options); });
}

}  // namespace

void add_device_commands(CLI::App& app, int& exit_code) {
  add_calibrate(app, exit_code);
  add_probe(app, exit_code);
  add_serve(app, exit_code);
  add_validate(app, exit_code);
}

}  // namespace vramgauge::tools

#include "validate_options.h"

#include <memory>

#include "probe_command.h"

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

}  // namespace

void add_device_commands(CLI::App& app, int& exit_code) { add_probe(app, exit_code); }

}  // namespace vramgauge::tools

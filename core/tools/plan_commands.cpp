#include "plan_commands.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "plan_text.h"
#include "program.h"
#include "scenario_options.h"
#include "units/decimal.h"

namespace vramgauge::tools {
namespace {

/// How an option is put into the request.
enum class Kind { text, number, json };

struct PlanOption {
  const char* flag;
  const char* key;
  Kind kind;
  const char* help;
};

struct PlanCommand {
  const char* name;
  const char* help;
  std::vector<PlanOption> options;
  std::string (*to_text)(const json::Value&);
};

const PlanOption kAccept = {"--accept", "accept", Kind::text,
                            "tight: the estimate must fit (default); fits: its upper bound too"};

const std::vector<PlanCommand>& plan_commands() {
  static const std::vector<PlanCommand> kCommands = {
      {"solve",
       "the largest or best value that fits, and the next one that does not",
       {{"--for", "for", Kind::text,
         "num_requests (default), context_tokens, cached_tokens, prefill_budget, gpu_count, "
         "weight_format, cache_type, gpu_layers, cpu_moe_layers"},
        kAccept},
       solve_text},
      {"advise", "what to change, by effect, and the cheapest sets of it", {kAccept}, advise_text},
      {"search",
       "every GPU, model or format, or all of them",
       {{"--over", "over", Kind::text, "gpus (default), models, formats, all"},
        {"--query", "query", Kind::text, "words of the names to look at"},
        {"--vendor", "vendor", Kind::text, "maker of the GPUs"},
        {"--min-bits", "min_bits", Kind::number, "narrowest weights, bits per parameter"},
        {"--max-bits", "max_bits", Kind::number, "widest weights, bits per parameter"},
        {"--verdict", "verdict", Kind::text, "any (default), tight: fits at least tightly, fits"},
        {"--sort", "sort", Kind::text,
         "margin (default), needed, usable, bits, parameters, requests"},
        {"--descending", "descending", Kind::json, "true: largest first"},
        {"--limit", "limit", Kind::number, "most rows"},
        kAccept},
       search_text},
      {"sweep",
       "verdicts over one or two fields",
       {{"--x", "x", Kind::json,
         "{\"field\", \"values\"} or {\"field\", \"from\", \"to\", \"steps\"}"},
        {"--y", "y", Kind::json, "the same for the second field"},
        {"--terms", "terms", Kind::json, "true: bytes of every term as well"}},
       sweep_text},
      {"traffic",
       "live tokens of a traffic, and the replicas that hold them",
       {{"--requests-per-s", "requests_per_s", Kind::number, "arrivals per second"},
        {"--duration-s", "duration_s", Kind::number, "seconds that a request takes"},
        {"--live-requests", "live_requests", Kind::number, "requests at once, in place of both"},
        {"--prompt", "prompt_tokens", Kind::json, "{\"mean\", \"p99\"} of prompts"},
        {"--output", "output_tokens", Kind::json, "{\"mean\", \"p99\"} of outputs"},
        {"--lengths", "lengths", Kind::json, "[[prompt, output], [prompt, output, count], ...]"},
        kAccept},
       facts_text},
      {"speed",
       "tokens per second at best: an upper bound from bandwidth and peak",
       {{"--prompt-tokens", "prompt_tokens", Kind::number, "default: the context"}},
       facts_text},
  };
  return kCommands;
}

std::optional<json::Value> value_of(Kind kind, const std::string& text) {
  if (kind == Kind::text) return json::Value::string(text);
  if (kind == Kind::json) {
    auto parsed = json::parse(text);
    return parsed ? std::optional<json::Value>(std::move(*parsed)) : std::nullopt;
  }
  if (const auto count = parse_count(text)) return json::Value::integer(*count);
  const auto decimal = Decimal::parse(text);
  return decimal ? std::optional<json::Value>(json::Value::decimal(*decimal)) : std::nullopt;
}

/// What was typed, by key of the request.
using Typed = std::vector<std::pair<const PlanOption*, std::string>>;

int run(const PlanCommand& command, const ScenarioSource& source, const Typed& typed,
        bool as_json) {
  Program program;
  int exit_code = kDone;
  std::optional<json::Value> scenario = read_scenario(program, source, exit_code);
  if (!scenario) return exit_code;
  json::Value request = request_with("scenario", std::move(*scenario));
  for (const auto& [option, text] : typed) {
    auto value = value_of(option->kind, text);
    if (!value) return usage(std::string(option->flag) + " cannot be read: " + text);
    request.set(option->key, std::move(*value));
  }
  return finish(program.call(command.name, request), as_json, command.to_text);
}

}  // namespace

void add_plan_commands(CLI::App& app, ScenarioSource& source, bool& as_json, int& exit_code) {
  for (const PlanCommand& command : plan_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    add_scenario_options(*sub, source);
    const auto typed = std::make_shared<Typed>();
    for (const PlanOption& option : command.options) {
      sub->add_option_function<std::string>(
          option.flag,
          [typed, &option](const std::string& text) { typed->emplace_back(&option, text); },
          option.help);
    }
    sub->add_flag("--json", as_json, "the facade's answer as JSON");
    sub->callback([&, typed] { exit_code = run(command, source, *typed, as_json); });
  }
}

}  // namespace vramgauge::tools

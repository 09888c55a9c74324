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
enum class Kind { text, number, list, json };

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
  };
  return kCommands;
}

std::optional<json::Value> value_of(Kind kind, const std::string& text) {
  if (kind == Kind::text) return json::Value::string(text);
  if (kind == Kind::json) {
    auto parsed = json::parse(text);
    return parsed ? std::optional<json::Value>(std::move(*parsed)) : std::nullopt;
  }
  if (kind == Kind::number) {
    if (const auto count = parse_count(text)) return json::Value::integer(*count);
    const auto decimal = Decimal::parse(text);
    return decimal ? std::optional<json::Value>(json::Value::decimal(*decimal)) : std::nullopt;
  }
  json::Value list = json::Value::array();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    list.push(json::Value::string(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return list;
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

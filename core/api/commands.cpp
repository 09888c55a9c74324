#include "api/commands.h"

#include "import/command_line.h"
#include "report/command_line.h"

namespace vramgauge::api {
namespace {

json::Value words_json(const std::vector<std::string_view>& words) {
  json::Value list = json::Value::array();
  for (const std::string_view word : words)
    list.push(json::Value::string(std::string(word)));
  return list;
}

json::Value flags_json(const std::vector<GivenFlag>& flags) {
  json::Value list = json::Value::array();
  for (const GivenFlag& given : flags) {
    json::Value out = json::Value::object();
    out.set("flag", given.flag);
    out.set("value", given.value);
    list.push(std::move(out));
  }
  return list;
}

json::Value model_json(const ModelName& model) {
  json::Value candidates = json::Value::array();
  for (const std::string& candidate : model.candidates)
    candidates.push(json::Value::string(candidate));
  json::Value out = json::Value::object();
  out.set("text", model.text);
  out.set("candidates", std::move(candidates));
  return out;
}

std::string_view launcher_of(CommandEngine engine) {
  return engine == CommandEngine::ollama ? "ollama" : "";
}

/// Every field that the command decides, in the order of the table of fields.
json::Value patch_json(const ParsedCommand& command) {
  json::Value patch = json::Value::object();
  patch.set("engine", command.scenario.engine);
  for (const Field& field : scenario_fields()) {
    for (const std::string_view key : command.fields) {
      if (key == field.key) patch.set(field.key, field_json(command.scenario, field));
    }
  }
  return patch;
}

}  // namespace

Answer write_command(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const json::Value* given = reader.raw("scenario");
  const std::string launcher = reader.string("launcher").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  Result<Scenario> scenario =
      given == nullptr ? Result<Scenario>(Scenario{}) : read_scenario(*given, "/scenario");
  if (!scenario) return fail(std::move(scenario.error()));
  Result<WrittenCommand> written = write_command_line(*scenario, launcher);
  if (!written) return fail(std::move(written.error()));
  json::Value lines = json::Value::array();
  for (const CommandText& line : written->lines) {
    json::Value out = json::Value::object();
    out.set("program", line.program);
    out.set("text", line.text);
    lines.push(std::move(out));
  }
  json::Value out = json::Value::object();
  out.set("engine", engine_flags(written->engine).id);
  out.set("lines", std::move(lines));
  out.set("not_carried", words_json(written->not_carried));
  return unknown_keys(reader, errors, {std::move(out), std::move(written->notes)});
}

Answer parse_command(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string text = reader.string("text").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  Result<ParsedCommand> parsed = parse_command_line(text);
  if (!parsed) return fail(std::move(parsed.error()));
  json::Value out = json::Value::object();
  out.set("engine", parsed->scenario.engine);
  out.set("launcher", launcher_of(parsed->engine));
  out.set("program", parsed->program);
  out.set("model", model_json(parsed->model));
  if (!parsed->draft.text.empty()) out.set("draft_model", model_json(parsed->draft));
  out.set("scenario_patch", patch_json(*parsed));
  out.set("unknown", flags_json(parsed->unknown));
  out.set("ignored", flags_json(parsed->ignored));
  out.set("not_modelled", flags_json(parsed->not_modelled));
  return unknown_keys(reader, errors, {std::move(out), std::move(parsed->warnings)});
}

}  // namespace vramgauge::api

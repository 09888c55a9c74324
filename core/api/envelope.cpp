#include "api/envelope.h"

#include <utility>

namespace vramgauge::api {
namespace {

json::Value arg_json(const ErrorArg& arg) {
  if (const auto* text = std::get_if<std::string>(&arg.value)) return json::Value::string(*text);
  const auto* number = std::get_if<uint64_t>(&arg.value);
  return number == nullptr ? json::Value::null() : json::Value::integer(*number);
}

json::Value diagnostics_json(const Diagnostics& diagnostics) {
  json::Value list = json::Value::array();
  for (const Diagnostic& diagnostic : diagnostics)
    list.push(diagnostic_json(diagnostic));
  return list;
}

}  // namespace

json::Value diagnostic_json(const Diagnostic& diagnostic) {
  json::Value out = json::Value::object();
  out.set("code", error_info(diagnostic.code).name);
  out.set("path", diagnostic.path);
  if (diagnostic.at) {
    json::Value at = json::Value::object();
    at.set("line", diagnostic.at->line);
    at.set("column", diagnostic.at->column);
    out.set("at", std::move(at));
  }
  json::Value args = json::Value::object();
  for (const ErrorArg& arg : diagnostic.args)
    args.set(arg.name, arg_json(arg));
  out.set("args", std::move(args));
  out.set("message", message_of(diagnostic));
  out.set("hint", hint_of(diagnostic));
  return out;
}

Answer unknown_keys(json::ObjectReader& reader, Diagnostics& errors, Answer answer) {
  for (const std::string& key : reader.unread_keys()) {
    reader.error(ErrorCode::api_unknown_key, key, {{"key", key}});
  }
  if (!errors.empty()) return fail(std::move(errors));
  return answer;
}

std::string write_envelope(Answer answer) {
  json::Value out = json::Value::object();
  out.set("ok", json::Value::boolean(answer.result.has_value()));
  if (answer.result) {
    out.set("result", std::move(*answer.result));
  } else {
    out.set("errors", diagnostics_json(answer.result.error()));
  }
  out.set("warnings", diagnostics_json(answer.warnings));
  return json::write(out);
}

}  // namespace vramgauge::api

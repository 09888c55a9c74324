#include "api/tools.h"

#include "api/commands.h"
#include "import/engine_log_json.h"

namespace vramgauge::api {

namespace {

/// {"text"} -> {"log"}: a start-up log as check_log takes it.
Answer read_log(const json::Value& request) {
  Diagnostics errors;
  json::ObjectReader reader(request, "", errors);
  const std::string text = reader.string("text").value_or("");
  if (!errors.empty()) return fail(std::move(errors));
  EngineLogReader log_reader;
  log_reader.feed(text);
  json::Value out = json::Value::object();
  out.set("log", write_engine_log(log_reader.finish()));
  return unknown_keys(reader, errors, std::move(out));
}

}  // namespace

Answer call_tool(std::string_view method, const json::Value& request) {
  if (request.as_object() == nullptr) return fail(ErrorCode::api_request_not_object, "");
  if (method == "command") return write_command(request);
  if (method == "parse_command") return parse_command(request);
  if (method == "read_log") return read_log(request);
  return fail(ErrorCode::api_unknown_method, "", {{"method", method.substr(0, 80)}});
}

std::string Tools::call(std::string_view method, std::string_view request) const {
  json::Limits limits;
  limits.max_bytes = kMaxRequestBytes;
  Result<json::Value> parsed = json::parse(request, limits);
  if (!parsed) return write_envelope(fail(std::move(parsed.error())));
  return write_envelope(call_tool(method, *parsed));
}

}  // namespace vramgauge::api

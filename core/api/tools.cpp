#include "api/tools.h"

#include "api/commands.h"

namespace vramgauge::api {

Answer call_tool(std::string_view method, const json::Value& request) {
  if (request.as_object() == nullptr) return fail(ErrorCode::api_request_not_object, "");
  if (method == "command") return write_command(request);
  if (method == "parse_command") return parse_command(request);
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

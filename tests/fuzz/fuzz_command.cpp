// A command line from anywhere; what is understood of it is written again, and that is read.
#include "api/tools.h"
#include "fuzz_session.h"

using namespace vramgauge;

namespace {

json::Value ask(std::string_view method, std::string_view key, json::Value value) {
  json::Value request = json::Value::object();
  request.set(key, std::move(value));
  return fuzz::checked_reply(api::Tools().call(method, json::write(request)));
}

/// The commands of a reply, one below the other.
std::string lines_of(const json::Value& reply) {
  std::string text;
  const json::Value* result = reply.find("result");
  if (result == nullptr) return text;
  for (const json::Value& line : *result->find("lines")->as_array())
    text += *line.find("text")->as_string() + "\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(fuzz::as_text(data, size));
  const json::Value parsed = ask("parse_command", "text", json::Value::string(text));
  const json::Value* result = parsed.find("result");
  if (result == nullptr) return 0;
  const json::Value written = ask("command", "scenario", *result->find("scenario_patch"));
  const std::string again = lines_of(written);
  if (!again.empty()) ask("parse_command", "text", json::Value::string(again));
  return 0;
}

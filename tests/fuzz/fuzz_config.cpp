// A model's config.json as anyone may paste it; what is read is estimated too.
#include "fuzz_session.h"

using namespace vramgauge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  api::Session& session = fuzz::session_with_catalogue();
  json::Value request = json::Value::object();
  request.set("text", json::Value::string(std::string(fuzz::as_text(data, size))));
  const json::Value reply = fuzz::checked_call(session, "import", json::write(request));

  const json::Value* result = reply.find("result");
  const json::Value* patch = result == nullptr ? nullptr : result->find("scenario_patch");
  if (patch == nullptr) return 0;
  json::Value estimate = json::Value::object();
  estimate.set("scenario", *patch);
  fuzz::checked_call(session, "estimate", json::write(estimate));
  return 0;
}

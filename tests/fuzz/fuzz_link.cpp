// A link from anywhere; what is understood of it is written again and read back to the same
// scenario.
#include <cstdio>
#include <cstdlib>

#include "fuzz_session.h"

using namespace vramgauge;

namespace {

json::Value request_of(std::string_view key, json::Value value) {
  json::Value request = json::Value::object();
  request.set(key, std::move(value));
  return request;
}

/// The result's member, or nothing where the call failed.
const json::Value* result_of(const json::Value& reply, std::string_view key) {
  const json::Value* result = reply.find("result");
  return result == nullptr ? nullptr : result->find(key);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  api::Session& session = fuzz::session_with_catalogue();
  const std::string link(fuzz::as_text(data, size));
  const json::Value decoded = fuzz::checked_call(
      session, "link_decode", json::write(request_of("link", json::Value::string(link))));
  const json::Value* scenario = result_of(decoded, "scenario");
  if (scenario == nullptr) return 0;

  const json::Value encoded =
      fuzz::checked_call(session, "link_encode", json::write(request_of("scenario", *scenario)));
  const json::Value* fragment = result_of(encoded, "fragment");
  if (fragment == nullptr) return 0;

  const json::Value again = fuzz::checked_call(
      session, "link_decode",
      json::write(request_of("link", json::Value::string(*fragment->as_string()))));
  const json::Value encoded_again = fuzz::checked_call(
      session, "link_encode", json::write(request_of("scenario", *result_of(again, "scenario"))));
  if (*result_of(encoded_again, "fragment")->as_string() != *fragment->as_string()) {
    std::fprintf(stderr, "a link changes when it is read and written: %s\n",
                 fragment->as_string()->c_str());
    std::abort();
  }
  return 0;
}

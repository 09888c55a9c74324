#include "fuzz_session.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace vramgauge::fuzz {

namespace {

[[noreturn]] void broken_contract(std::string_view what, std::string_view reply) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(reply.size()), reply.data());
  std::abort();
}

bool has_text(const json::Value& diagnostic, std::string_view key) {
  const json::Value* value = diagnostic.find(key);
  return value != nullptr && value->as_string() != nullptr && !value->as_string()->empty();
}

void check_failure(const json::Value& envelope, std::string_view reply) {
  const json::Value* errors = envelope.find("errors");
  if (errors == nullptr || errors->as_array() == nullptr || errors->as_array()->empty()) {
    broken_contract("a failure without errors", reply);
  }
  for (const json::Value& error : *errors->as_array()) {
    if (!has_text(error, "code") || !has_text(error, "message") || !has_text(error, "hint")) {
      broken_contract("an error without code, message or hint", reply);
    }
    if (*error.find("code")->as_string() == "api.internal")
      broken_contract("internal error", reply);
  }
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

json::Value checked_reply(std::string_view reply) {
  const json::Limits limits{
      .max_bytes = uint64_t{1} << 30, .max_depth = 80, .max_values = 50'000'000};
  Result<json::Value> envelope = json::parse(reply, limits);
  if (!envelope.has_value()) broken_contract("not JSON", reply);
  const json::Value* ok = envelope->find("ok");
  if (ok == nullptr || ok->as_boolean() == nullptr) broken_contract("not an envelope", reply);
  if (!*ok->as_boolean()) check_failure(*envelope, reply);
  return std::move(*envelope);
}

json::Value checked_call(api::Session& session, std::string_view method, std::string_view request) {
  return checked_reply(session.call(method, request));
}

api::Session& session_with_catalogue() {
  static api::Session* const kSession = [] {
    auto* session = new api::Session();
    const std::string document = read_file(VRAMGAUGE_CATALOGUE_DOCUMENT);
    const json::Value reply = checked_reply(session->load_catalogue(document));
    if (!*reply.find("ok")->as_boolean())
      broken_contract("the catalogue is refused", json::write(reply));
    return session;
  }();
  return *kSession;
}

}  // namespace vramgauge::fuzz

// The core for JavaScript: text in, text out.
#include <string>

#include <emscripten/bind.h>

#include "api/session.h"

namespace {

using vramgauge::api::Session;

std::string load_catalogue(Session& session, const std::string& document) {
  return session.load_catalogue(document);
}

std::string call(Session& session, const std::string& method, const std::string& request) {
  return session.call(method, request);
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge) {
  emscripten::class_<Session>("Session")
      .constructor<>()
      .function("load_catalogue", &load_catalogue)
      .function("call", &call);
}

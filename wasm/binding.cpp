// The core for JavaScript, without the readers of foreign formats: text in, text out.
#include <string>

#include <emscripten/bind.h>

#include "api/session.h"

namespace {

using vramgauge::api::Session;

class MainSession : public Session {
 public:
  MainSession() : Session(nullptr) {}
};

std::string load_catalogue(MainSession& session, const std::string& document) {
  return session.load_catalogue(document);
}

std::string call(MainSession& session, const std::string& method, const std::string& request) {
  return session.call(method, request);
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge) {
  emscripten::class_<MainSession>("Session")
      .constructor<>()
      .function("load_catalogue", &load_catalogue)
      .function("call", &call);
}

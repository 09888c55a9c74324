// The core for JavaScript, without the readers of foreign formats: text in, text out.
// VRAMGAUGE_PARTS says which engines the module has.
#include <string>

#include <emscripten/bind.h>

#include "api/parts.h"
#include "api/session.h"

namespace {

using vramgauge::api::Session;

class ModuleSession : public Session {
 public:
  ModuleSession() : Session(vramgauge::api::VRAMGAUGE_PARTS()) {}
};

std::string load_catalogue(ModuleSession& session, const std::string& document) {
  return session.load_catalogue(document);
}

std::string call(ModuleSession& session, const std::string& method, const std::string& request) {
  return session.call(method, request);
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge) {
  emscripten::class_<ModuleSession>("Session")
      .constructor<>()
      .function("load_catalogue", &load_catalogue)
      .function("call", &call);
}

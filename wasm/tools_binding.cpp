// Methods without a catalogue for JavaScript: what the main module asks for with api.tools_needed.
#include <string>

#include <emscripten/bind.h>

#include "api/tools.h"

namespace {

using vramgauge::api::Tools;

std::string call(const Tools& tools, const std::string& method, const std::string& request) {
  return tools.call(method, request);
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge_tools) {
  emscripten::class_<Tools>("Tools").constructor<>().function("call", &call);
}

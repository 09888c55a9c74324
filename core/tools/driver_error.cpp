#include "driver_error.h"

namespace vramgauge::tools {

json::Value diagnostic_json(const DriverError& error) {
  json::Value out = json::Value::object();
  out.set("code", error.code);
  out.set("path", "");
  out.set("args", json::Value::object());
  out.set("message", error.message);
  out.set("hint", error.hint);
  return out;
}

json::Value error_envelope(const DriverError& error) {
  json::Value out = json::Value::object();
  out.set("ok", json::Value::boolean(false));
  out.set("errors", json::Value::array({diagnostic_json(error)}));
  out.set("warnings", json::Value::array());
  return out;
}

}  // namespace vramgauge::tools

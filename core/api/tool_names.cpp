#include "api/tools.h"

namespace vramgauge::api {

// In a file of its own: a session without these methods has to know their names.
bool is_tool(std::string_view method) {
  return method == "command" || method == "parse_command" || method == "read_log";
}

}  // namespace vramgauge::api

// Asks a running engine on this machine.
#pragma once

#include <optional>
#include <string>

#include "import/engine_log.h"

namespace vramgauge::tools {

/// Where an engine answers.
struct Endpoint {
  std::string host;
  int port = 0;
};

/// "http://127.0.0.1:8000", "http://localhost:8000/metrics", "http://[::1]:8080"; nothing for any
/// other text, and for any address that is not this machine's own.
std::optional<Endpoint> parse_endpoint(const std::string& url);

/// Adds what the engine's endpoints state to `log`; an error, or nothing.
std::string ask_endpoint(const Endpoint& endpoint, EngineLog& log);

}  // namespace vramgauge::tools

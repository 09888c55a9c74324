// vramgauge serve
#pragma once

#include <string>
#include <vector>

namespace vramgauge::tools {

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 8471;
  std::vector<std::string> origins;
  int num_threads = 16;
  /// For a request, and again for its answer, in seconds.
  int time_s = 10;
};

/// Answers POST /estimate, /solve and /validate and GET /probe until a signal ends it. Requests and
/// answers are the facade's; an answer that is an error has status 422, a machine without a driver
/// 503.
int run_serve(const ServeOptions& options);

}  // namespace vramgauge::tools

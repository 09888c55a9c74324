// HTTP for vramgauge serve and calibrate, in a library of its own (vramgauge_http.so, beside the
// program): the HTTP library brings six others along, and the program must start without them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vramgauge::tools {

struct HttpAnswer {
  int status = 200;
  /// JSON.
  std::string body;
};

/// What is served, and its limits. Requests that break one never reach the handler.
struct HttpOptions {
  std::string host = "127.0.0.1";
  /// 0 = any free port.
  int port = 0;
  std::vector<std::string> get_paths;
  std::vector<std::string> post_paths;
  /// Origins of pages that may ask; a request that names any other origin is refused.
  std::vector<std::string> origins;
  std::size_t max_body_bytes = std::size_t{1} << 20;
  /// For a request, and again for its answer.
  int time_s = 10;
  int num_threads = 16;
  /// Connections that wait for a thread; more are not accepted until one is done.
  std::size_t max_waiting = 1024;
};

/// Answers a path; called from several threads.
using HttpHandler = std::function<HttpAnswer(const std::string& path, const std::string& body)>;

/// The functions of the library.
struct Http {
  /// Serves until SIGINT or SIGTERM; `on_ready` is told the port. Returns an error, or nothing.
  std::string (*serve)(const HttpOptions& options, const HttpHandler& handler,
                       const std::function<void(int port)>& on_ready) = nullptr;
  /// The body of http://host:port/path; an error in `error`.
  std::string (*get)(const std::string& host, int port, const std::string& path,
                     std::string& error) = nullptr;
};

/// The name under which the library gives its functions: `const Http* vramgauge_http()`.
inline constexpr const char* kHttpFunction = "vramgauge_http";

/// The library, opened; null, with the reason in `error`, where it or what it needs is missing.
const Http* open_http(std::string& error);

}  // namespace vramgauge::tools

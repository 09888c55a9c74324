#include "calibrate_endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "calibrate_metrics.h"
#include "serve_http.h"
#include "units/decimal.h"

namespace vramgauge::tools {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr uint64_t kMaxPort = 65535;

/// 127.0.0.0/8, ::1 and localhost, which is taken as 127.0.0.1 without asking anybody.
std::string loopback_address(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  if (host == "::1") return host;
  in_addr address = {};
  const bool is_own = inet_pton(AF_INET, host.c_str(), &address) == 1 &&
                      ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
  return is_own ? host : std::string();
}

}  // namespace

std::optional<Endpoint> parse_endpoint(const std::string& url) {
  if (url.rfind(kScheme, 0) != 0) return std::nullopt;
  std::string rest = url.substr(kScheme.size());
  rest = rest.substr(0, rest.find('/'));
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = rest.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const auto port = parse_count(rest.substr(colon + 1));
  host = loopback_address(host);
  if (host.empty() || !port || *port == 0 || *port > kMaxPort) return std::nullopt;
  return Endpoint{host, static_cast<int>(*port)};
}

std::string ask_endpoint(const Endpoint& endpoint, EngineLog& log) {
  std::string error;
  const Http* http = open_http(error);
  if (http == nullptr) return "HTTP is not available here: " + error;
  bool is_known = false;
  std::string first_error;
  for (const char* path : {"/metrics", "/props"}) {
    std::string refused;
    const std::string answer = http->get(endpoint.host, endpoint.port, path, refused);
    if (refused.empty())
      is_known = read_engine_answer(answer, log) || is_known;
    else if (first_error.empty())
      first_error = std::string(path) + ": " + refused;
    // Only llama-server has the second.
    if (is_known && log.engine != LogEngine::llama_cpp) break;
  }
  if (is_known) return std::string();
  return first_error.empty() ? "No known engine answers there" : first_error;
}

}  // namespace vramgauge::tools

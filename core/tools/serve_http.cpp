// The library with HTTP in it: limits first, then the handler.
#include "serve_http.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve_queue.h"
#include "serve_stream.h"

namespace vramgauge::tools {
namespace {

/// For the request line, headers and the framing of a body.
constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
constexpr int kBacklog = 1024;
constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20;
constexpr int kClientTimeS = 10;
constexpr const char* kJson = "application/json";

/// {"ok": false, ...} for what never reaches the facade. The texts are fixed, so nothing is
/// escaped.
void refuse(httplib::Response& response, int status, std::string_view code,
            std::string_view message) {
  response.status = status;
  std::string body = R"({"ok":false,"errors":[{"code":")";
  body.append(code).append(R"(","path":"","args":{},"message":")").append(message);
  body.append(R"(","hint":""}],"warnings":[]})");
  response.set_content(body, kJson);
}

/// "localhost:8471" without the port, "[::1]:8471" without port and brackets.
std::string host_of(const std::string& header) {
  if (!header.empty() && header[0] == '[') return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

bool is_loopback(const std::string& host) {
  in_addr address = {};
  const bool is_address = inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || host == "::1" ||
         (is_address && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

/// The server with each connection's bytes and time counted.
class LimitedServer : public httplib::Server {
 public:
  explicit LimitedServer(const HttpOptions& options) : options_(options) {}

  /// The library waits with five connections at most; more may arrive at once.
  void widen_backlog() const { ::listen(svr_sock_, kBacklog); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    LimitedStream stream(socket, options_.max_body_bytes + kHeaderBytes,
                         std::chrono::seconds(options_.time_s));
    bool is_closed = false;
    const bool is_done = process_request(stream, true, is_closed, nullptr);
    stream.finish();
    ::close(socket);
    return is_done;
  }

  const HttpOptions& options_;
};

/// Checks what every request must meet, and hands the rest on.
class Gate {
 public:
  Gate(const HttpOptions& options, const HttpHandler& handler)
      : options_(options), handler_(handler) {}

  /// Refuses pages and names that are not meant, before anything is read.
  httplib::Server::HandlerResponse enter(const httplib::Request& request,
                                         httplib::Response& response) const {
    using Handled = httplib::Server::HandlerResponse;
    // A page elsewhere may make a browser look a name of its own up as this machine.
    if (is_loopback(options_.host) && !is_loopback(host_of(request.get_header_value("Host")))) {
      refuse(response, 403, "serve.host", "This name is not served");
      return Handled::Handled;
    }
    const std::string origin = request.get_header_value("Origin");
    if (origin.empty()) return Handled::Unhandled;
    if (std::find(options_.origins.begin(), options_.origins.end(), origin) ==
        options_.origins.end()) {
      refuse(response, 403, "serve.origin", "This origin is not on the list of --allow-origin");
      return Handled::Handled;
    }
    response.set_header("Access-Control-Allow-Origin", origin);
    response.set_header("Vary", "Origin");
    return Handled::Unhandled;
  }

  void preflight(httplib::Response& response, const char* method) const {
    response.set_header("Access-Control-Allow-Methods", method);
    response.set_header("Access-Control-Allow-Headers", "Content-Type");
    response.set_header("Access-Control-Allow-Private-Network", "true");
    response.status = 204;
  }

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& read) const {
    // A form or plain text may be sent by any page without asking; JSON may not.
    if (request.get_header_value("Content-Type").rfind(kJson, 0) != 0)
      return refuse(response, 415, "serve.content_type", "Content-Type must be application/json");
    std::string body;
    const bool is_whole = read([&](const char* data, std::size_t size) {
      if (body.size() + size > options_.max_body_bytes) return false;
      body.append(data, size);
      return true;
    });
    if (!is_whole) return refuse(response, 413, "serve.too_large", "The request is too large");
    answer(request.path, body, response);
  }

  void answer(const std::string& path, const std::string& body, httplib::Response& response) const {
    const HttpAnswer answered = handler_(path, body);
    response.status = answered.status;
    response.set_content(answered.body, kJson);
  }

 private:
  const HttpOptions& options_;
  const HttpHandler& handler_;
};

void add_paths(LimitedServer& server, const HttpOptions& options, const Gate& gate) {
  server.set_pre_routing_handler(
      [&gate](const httplib::Request& request, httplib::Response& response) {
        return gate.enter(request, response);
      });
  for (const std::string& path : options.get_paths) {
    server.Get(path, [&gate](const httplib::Request& request, httplib::Response& response) {
      gate.answer(request.path, std::string(), response);
    });
    server.Options(path, [&gate](const httplib::Request&, httplib::Response& response) {
      gate.preflight(response, "GET");
    });
  }
  for (const std::string& path : options.post_paths) {
    server.Post(
        path, [&gate](const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& read) { gate.post(request, response, read); });
    server.Options(path, [&gate](const httplib::Request&, httplib::Response& response) {
      gate.preflight(response, "POST");
    });
  }
  server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    refuse(
        response, response.status, "serve.refused",
        response.status == 404 ? "There is no such path and method" : "The request is malformed");
  });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
        refuse(response, 500, "serve.failed", "The request could not be answered");
      });
}

/// Enough open files for every connection that may wait.
void raise_open_files(std::size_t wanted) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Stops a server when the process is asked to end. Signals are taken here and nowhere else, so the
/// threads of the server are started after this.
class SignalWatch {
 public:
  explicit SignalWatch(LimitedServer& server) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
      sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    thread_ = std::thread([&server, signals] {
      int signal = 0;
      sigwait(&signals, &signal);
      server.stop();
    });
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() {
    // A server that ended by itself wakes its watch.
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

 private:
  std::thread thread_;
};

std::string serve(const HttpOptions& options, const HttpHandler& handler,
                  const std::function<void(int)>& on_ready) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_open_files(options.max_waiting + static_cast<std::size_t>(options.num_threads) + 64);
  LimitedServer server(options);
  const Gate gate(options, handler);
  add_paths(server, options, gate);
  server.set_payload_max_length(options.max_body_bytes);
  // The library would share the port with another server.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [&options] {
    return new BoundedQueue(options.num_threads, options.max_waiting);
  };
  const int port = options.port != 0 && server.bind_to_port(options.host, options.port)
                       ? options.port
                   : options.port == 0 ? server.bind_to_any_port(options.host)
                                       : -1;
  if (port <= 0) return "cannot listen on " + options.host + ":" + std::to_string(options.port);
  server.widen_backlog();
  SignalWatch watch(server);
  on_ready(port);
  return server.listen_after_bind() ? std::string() : std::string("the server ended");
}

std::string get(const std::string& host, int port, const std::string& path, std::string& error) {
  httplib::Client client(host, port);
  client.set_connection_timeout(kClientTimeS);
  client.set_read_timeout(kClientTimeS);
  std::string body;
  const httplib::Result result = client.Get(path, [&body](const char* data, std::size_t size) {
    body.append(data, size);
    return body.size() <= kMaxAnswerBytes;
  });
  if (!result)
    error = "no answer (" + httplib::to_string(result.error()) + ")";
  else if (result->status != 200)
    error = "answered with status " + std::to_string(result->status);
  return error.empty() ? body : std::string();
}

}  // namespace
}  // namespace vramgauge::tools

extern "C" const vramgauge::tools::Http* vramgauge_http();
extern "C" const vramgauge::tools::Http* vramgauge_http() {
  static const vramgauge::tools::Http kHttp = {vramgauge::tools::serve, vramgauge::tools::get};
  return &kHttp;
}

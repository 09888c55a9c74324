#include "serve_command.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "probe_command.h"
#include "probe_json.h"
#include "serve_http.h"
#include "validate.h"

namespace vramgauge::tools {
namespace {

constexpr int kUnprocessable = 422;
constexpr int kUnavailable = 503;
/// A session keeps the models that it was asked about; after so many answers it starts afresh.
constexpr uint64_t kAnswersPerSession = 64;
constexpr std::size_t kMaxSessions = 4;
constexpr std::size_t kMaxRequestBytes = std::size_t{1} << 20;

/// A program and how often it has answered.
struct Worker {
  Program program;
  uint64_t num_answers = 0;
};

/// Sessions, each used by one thread at a time.
class Workers {
 public:
  explicit Workers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      idle_.push_back(std::make_unique<Worker>());
  }

  template <typename Answer>
  HttpAnswer with_one(const Answer& answer) {
    std::unique_ptr<Worker> worker = take();
    HttpAnswer answered = answer(worker->program);
    if (++worker->num_answers % kAnswersPerSession == 0)
      worker->program.add_to_catalogue(request_with("gpus", json::Value::array()));
    give(std::move(worker));
    return answered;
  }

 private:
  std::unique_ptr<Worker> take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !idle_.empty(); });
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  void give(std::unique_ptr<Worker> worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(worker));
    changed_.notify_one();
  }

  std::vector<std::unique_ptr<Worker>> idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

HttpAnswer answer_of(const json::Value& envelope) {
  return {is_ok(envelope) ? 200 : kUnprocessable, json::write(envelope)};
}

/// The scenario of {"scenario": {...}}, empty when it is left out; nothing for any other request.
std::optional<json::Value> scenario_in(const json::Value& request) {
  if (request.as_object() == nullptr) return std::nullopt;
  json::Value scenario = json::Value::object();
  for (const json::Member& given : *request.as_object()) {
    if (given.key != "scenario") return std::nullopt;
    if (given.value.as_object() != nullptr)
      scenario = given.value;
    else if (!given.value.is_null())
      return std::nullopt;
  }
  return scenario;
}

/// What is served. The driver is opened once; without one, only the machine's own paths say so.
class Service {
 public:
  Service()
      : drivers_(Drivers::open()),
        workers_(std::min<std::size_t>(kMaxSessions,
                                       std::max(1U, std::thread::hardware_concurrency()))) {}

  HttpAnswer answer(const std::string& path, const std::string& body) {
    if (path == "/probe") return probe();
    if (path == "/validate") return validate(body);
    return workers_.with_one([&](Program& program) {
      const std::string envelope = program.call_text(path.substr(1), body);
      const bool is_result = envelope.rfind("{\"ok\":true", 0) == 0;
      return HttpAnswer{is_result ? 200 : kUnprocessable, envelope};
    });
  }

 private:
  HttpAnswer without_driver() const {
    return {kUnavailable, json::write(error_envelope(drivers_.error()))};
  }

  HttpAnswer probe() {
    if (!drivers_) return without_driver();
    return workers_.with_one([&](Program& program) {
      return answer_of(probe_answer(program, *drivers_, ProbeDepth::look));
    });
  }

  /// {"scenario": {...}}, as for estimate.
  HttpAnswer validate(const std::string& body) {
    json::Limits limits;
    limits.max_bytes = kMaxRequestBytes;
    const auto request = json::parse(body, limits);
    const auto scenario = request ? scenario_in(*request) : std::nullopt;
    // What is wrong with a request, the facade says.
    if (!scenario) return answer("/estimate", body);
    if (!drivers_) return without_driver();
    return workers_.with_one([&](Program& program) {
      const json::Value machine = probe_answer(program, *drivers_, ProbeDepth::look);
      if (!is_ok(machine)) return answer_of(machine);
      return answer_of(validate_scenario(program, *scenario, member(machine, "result")));
    });
  }

  DriverResult<Drivers> drivers_;
  Workers workers_;
};

}  // namespace

int run_serve(const ServeOptions& options) {
  std::string error;
  const Http* http = open_http(error);
  if (http == nullptr) {
    print(stderr, "HTTP is not available here: " + error + "\n");
    return kCannotTell;
  }
  HttpOptions served;
  served.host = options.host;
  served.port = options.port;
  served.origins = options.origins;
  served.num_threads = options.num_threads;
  served.time_s = options.time_s;
  served.max_body_bytes = kMaxRequestBytes;
  served.get_paths = {"/probe"};
  served.post_paths = {"/estimate", "/solve", "/validate"};
  Service service;
  error = http->serve(
      served,
      [&service](const std::string& path, const std::string& body) {
        return service.answer(path, body);
      },
      [&options](int port) {
        print(stdout, "Listening on http://" + options.host + ":" + std::to_string(port) + "\n");
        std::fflush(stdout);
      });
  if (error.empty()) return kDone;
  print(stderr, error + "\n");
  return kCannotTell;
}

}  // namespace vramgauge::tools

// Times of the planner: sweeps, searches over the whole catalogue, solving. Printed, never
// asserted. plan_bench.mjs asks the page's modules the same (plan_requests.json).
#include <string>

#include <benchmark/benchmark.h>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

api::Session& session() {
  static api::Session loaded;
  static const std::string envelope =
      loaded.load_catalogue(testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  return loaded;
}

void ask(benchmark::State& state, const std::string& method, const std::string& request) {
  const std::string first = session().call(method, request);
  if (first.rfind("{\"ok\":true", 0) != 0) state.SkipWithError(first.substr(0, 200).c_str());
  for (auto _ : state)
    benchmark::DoNotOptimize(session().call(method, request));
}

/// One benchmark per entry of plan_requests.json.
const bool kAreRegistered = [] {
  const auto requests =
      json::parse(testing::read_file(std::string(VRAMGAUGE_TEST_DIR) + "/plan_requests.json"));
  for (const json::Value& entry : *requests->as_array()) {
    const std::string method = *entry.find("method")->as_string();
    const std::string request = json::write(*entry.find("request"));
    benchmark::RegisterBenchmark(
        entry.find("name")->as_string()->c_str(),
        [method, request](benchmark::State& state) { ask(state, method, request); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace vramgauge

// Times of the steps that the page and searches repeat. Printed, never asserted.
#include <benchmark/benchmark.h>

#include "api/session.h"
#include "engine/generic.h"
#include "import/spec_json.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

std::string catalogue_text() {
  return testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json");
}

CacheLayout plain_cache(uint64_t layers) {
  CacheSegment segment;
  segment.layers = layers;
  segment.entry_bytes = 4096;
  CacheLayout layout;
  layout.segments.push_back(segment);
  return layout;
}

struct GenericCase {
  Scenario scenario;
  CacheLayout cache = plain_cache(60);
  GenericModel model;
  HardwareSpec hardware = custom_hardware(GiB(80));
  GenericConstants constants;

  GenericCase() {
    model.weights = GiB(40);
    model.cache = &cache;
    const Decimal factor = scenario.overhead_factor;
    constants.overhead_factor = {factor, factor, factor};
  }
};

/// The rule of thumb, without JSON.
void EstimateGeneric(benchmark::State& state) {
  const GenericCase one;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        estimate_generic(one.scenario, one.model, one.hardware, one.constants));
}
BENCHMARK(EstimateGeneric);

/// Its inverse answers: two searches over it.
void AnswersGeneric(benchmark::State& state) {
  const GenericCase one;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        generic_answers(one.scenario, one.model, one.constants, one.hardware.usable));
}
BENCHMARK(AnswersGeneric);

/// One call across the facade: JSON in, JSON out.
void EstimateCall(benchmark::State& state) {
  api::Session session;
  session.load_catalogue(catalogue_text());
  for (auto _ : state)
    benchmark::DoNotOptimize(session.call("estimate", R"({"scenario":{}})"));
}
BENCHMARK(EstimateCall);

void LoadCatalogue(benchmark::State& state) {
  const std::string text = catalogue_text();
  for (auto _ : state) {
    api::Session session;
    benchmark::DoNotOptimize(session.load_catalogue(text));
  }
}
BENCHMARK(LoadCatalogue)->Unit(benchmark::kMillisecond);

/// Every model of the catalogue, read as it is written there.
void ReadAllModels(benchmark::State& state) {
  const Result<json::Value> document =
      json::parse(catalogue_text(), {uint64_t{64} << 20, 64, 10'000'000});
  for (auto _ : state) {
    for (const json::Value& model : *document->find("models")->as_array()) {
      benchmark::DoNotOptimize(read_spec(*model.find("config")));
    }
  }
}
BENCHMARK(ReadAllModels)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramgauge

#include "accuracy_vllm_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accuracy_engines.h"

namespace vramgauge::tools {
namespace {

PredictedReal real(const Total& total) {
  return {gib(total.bytes), gib(total.low), gib(total.high)};
}

PredictedReal difference(const Total& with, const Total& without) {
  return {gib(with.bytes) - gib(without.bytes), gib(with.low) - gib(without.low),
          gib(with.high) - gib(without.high)};
}

PredictedReal sum(const PredictedReal& one, const PredictedReal& other) {
  return {one.value + other.value, one.low + other.low, one.high + other.high};
}

PredictedReal weights_of(const Breakdown& breakdown) {
  for (const Term& term : breakdown.devices.front().terms) {
    if (term.id == TermId::weights) return {gib(term.bytes), gib(term.low), gib(term.high)};
  }
  return {};
}

/// A figure of the pool at the estimate and at both ends of the band.
template <typename Read>
PredictedReal banded(const VllmEstimate& estimate, Read read) {
  return {static_cast<double>(read(estimate.pool)), static_cast<double>(read(estimate.pool_least)),
          static_cast<double>(read(estimate.pool_most))};
}

double concurrency(const VllmKvPool& pool) {
  return static_cast<double>(pool.concurrency_hundredths()) / 100;
}

}  // namespace

Predictable<VllmFigures> vllm_figures(const VllmInputs& inputs, const VllmProfile& profile) {
  const auto estimate = predictable(estimate_vllm(inputs, profile));
  if (!estimate) return because(estimate.error());
  VllmInputs eager = inputs;
  eager.flags.is_eager = true;
  const auto without_graphs = predictable(estimate_vllm(eager, profile));
  if (!without_graphs) return because(without_graphs.error());
  const VllmStage& stage = estimate->stages.front();
  const VllmStage& bare = without_graphs->stages.front();
  VllmFigures figures;
  figures.weights = weights_of(estimate->breakdown);
  figures.activation = {gib(stage.activation.peak), gib(stage.activation.low),
                        gib(stage.activation.high)};
  // "Peak activation" of later logs holds the graphs' estimate (v1/worker/gpu_worker.py,
  // peak_activation_memory).
  if (estimate->deducts_graphs)
    figures.activation = sum(figures.activation, difference(stage.runtime, bare.runtime));
  figures.non_torch = real(bare.runtime);
  figures.graphs = estimate->deducts_graphs
                       ? difference(stage.runtime, bare.runtime)
                       : difference(estimate->outside, without_graphs->outside);
  figures.pool = {gib(stage.pool), gib(stage.pool_least), gib(stage.pool_most)};
  figures.tokens = banded(*estimate, [](const VllmKvPool& pool) { return pool.token_line; });
  figures.blocks = banded(*estimate, [](const VllmKvPool& pool) { return pool.num_blocks; });
  figures.concurrency = banded(*estimate, concurrency);
  figures.budget = without_band(gib(estimate->requested));
  figures.verdict = estimate->breakdown.verdict.state;
  return figures;
}

FigureRule figure_rule(const std::string& quantity, double truth, double card_gib) {
  const double size = std::fabs(truth);
  const bool is_campaign = card_gib == 0;
  if (quantity == "weights_gib") return {"GiB", 0.015 * size, "1.5 %"};
  if (quantity == "kv_gib" && is_campaign) return {"GiB", 0.04 * size, "4 %"};
  if (quantity == "kv_gib") {
    return {"GiB", std::max(0.06 * size, 0.01 * card_gib),
            "6 % of the pool or 1 % of the card; width of the card"};
  }
  if (quantity == "activation_gib") return {"GiB", 0.6, "0.6 GiB"};
  if (quantity == "non_torch_gib") return {"GiB", 0.1, "0.1 GiB"};
  if (quantity == "tokens") return {"tokens", -1, ""};
  if (quantity == "blocks") return {"blocks", -1, ""};
  if (quantity == "concurrency") return {"x", -1, ""};
  return {"GiB", -1, ""};
}

}  // namespace vramgauge::tools

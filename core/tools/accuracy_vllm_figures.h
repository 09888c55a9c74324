// What an estimate of vLLM says in the words of its log lines.
#pragma once

#include <string>

#include "accuracy_models.h"
#include "accuracy_score.h"
#include "engine/vllm.h"

namespace vramgauge::tools {

/// Half of the last place of figures with two decimals.
inline constexpr double kPrintedHundredths = 0.005;

/// Figures of the first worker, with their bands.
struct VllmFigures {
  PredictedReal weights;
  PredictedReal activation;
  PredictedReal non_torch;
  /// The pool of CUDA graphs, whether the version takes it off the cache or not.
  PredictedReal graphs;
  PredictedReal pool;
  PredictedReal tokens;
  PredictedReal blocks;
  PredictedReal concurrency;
  PredictedReal budget;
  VerdictState verdict = VerdictState::does_not_fit;
};

Predictable<VllmFigures> vllm_figures(const VllmInputs& inputs, const VllmProfile& profile);

/// What a figure is judged by: the acceptance of this project.
struct FigureRule {
  std::string unit;
  /// Largest error with which a row is within.
  double allowed = -1;
  std::string text;
};

/// `card_gib` 0 = rows of the H100 campaign, which ask for more.
FigureRule figure_rule(const std::string& quantity, double truth, double card_gib);

}  // namespace vramgauge::tools

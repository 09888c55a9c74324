#include "accuracy_score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "units/index.h"

namespace vramgauge::tools {
namespace {

/// Error of a prediction in percent of the truth; a truth of 0 that is missed counts as 100.
double error_pct(double truth, double predicted) {
  if (truth == predicted) return 0;
  if (truth == 0) return 100;
  return 100 * (predicted - truth) / std::fabs(truth);
}

/// The smallest value that a share of the sorted values does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

bool is_worse(const Miss& a, const Miss& b) {
  return std::fabs(a.error_pct) > std::fabs(b.error_pct);
}

/// Adds a row to those of its reason.
void list(std::vector<Unpredicted>& reasons, const RowName& row, const std::string& reason) {
  auto found = std::find_if(reasons.begin(), reasons.end(),
                            [&reason](const Unpredicted& each) { return each.reason == reason; });
  if (found == reasons.end()) found = reasons.insert(reasons.end(), {reason, {}});
  found->lines.push_back(row.line);
}

}  // namespace

Scores::Quantity& Scores::find(std::string_view name) {
  for (Quantity& quantity : quantities_) {
    if (quantity.score.name == name) return quantity;
  }
  quantities_.emplace_back();
  quantities_.back().score.name = name;
  return quantities_.back();
}

void Scores::add(std::string_view name, const RowName& row, uint64_t truth,
                 const Predicted& predicted) {
  add_real(name, row, static_cast<double>(truth),
           {static_cast<double>(predicted.value), static_cast<double>(predicted.low),
            static_cast<double>(predicted.high)},
           {});
}

void Scores::add_real(std::string_view name, const RowName& row, double truth,
                      const PredictedReal& predicted, const Judging& judging) {
  Quantity& quantity = find(name);
  QuantityScore& score = quantity.score;
  const double error = error_pct(truth, predicted.value);
  const double distance = std::fabs(predicted.value - truth);
  const bool is_exact = distance <= judging.rounding;
  ++score.rows;
  score.exact += is_exact ? 1U : 0U;
  score.within += judging.allowed >= 0 && distance <= judging.allowed ? 1U : 0U;
  const bool is_in_band =
      predicted.low - judging.rounding <= truth && truth <= predicted.high + judging.rounding;
  score.in_band += is_in_band ? 1U : 0U;
  score.under_pct = std::max(score.under_pct, -error);
  score.max_abs = std::max(score.max_abs, distance);
  quantity.sum_abs += distance;
  quantity.errors_pct.push_back(std::fabs(error));
  const double whole = judging.width_of > 0 ? judging.width_of : std::fabs(predicted.value);
  quantity.widths_pct.push_back(whole == 0 ? 0 : 100 * (predicted.high - predicted.low) / whole);
  if (!is_exact) quantity.misses.push_back({row, truth, predicted.value, error});
}

void Scores::add_verdict(std::string_view name, const RowName& row, bool is_right, bool is_tight,
                         std::string truth, std::string predicted) {
  QuantityScore& score = find(name).score;
  ++score.rows;
  score.is_verdict = true;
  score.right += is_right ? 1U : 0U;
  score.tight += is_tight ? 1U : 0U;
  if (!is_right) score.wrong.push_back({row, std::move(truth), std::move(predicted)});
}

void Scores::describe(std::string_view name, std::string unit, std::string rule) {
  QuantityScore& score = find(name).score;
  score.unit = std::move(unit);
  score.rule = std::move(rule);
}

void Scores::add_unpredicted(std::string_view name, const RowName& row, const std::string& reason) {
  QuantityScore& score = find(name).score;
  ++score.rows;
  ++score.unpredicted;
  list(score.unpredicted_rows, row, reason);
}

void Scores::leave_out(const RowName& row, const std::string& reason) {
  list(left_out_, row, reason);
}

std::vector<QuantityScore> Scores::summary(uint64_t num_worst) const {
  std::vector<QuantityScore> scores;
  for (Quantity quantity : quantities_) {
    QuantityScore& score = quantity.score;
    std::sort(quantity.errors_pct.begin(), quantity.errors_pct.end());
    std::sort(quantity.widths_pct.begin(), quantity.widths_pct.end());
    const auto predicted = static_cast<double>(quantity.errors_pct.size());
    if (predicted > 0) {
      score.mean_pct =
          std::accumulate(quantity.errors_pct.begin(), quantity.errors_pct.end(), 0.0) / predicted;
      score.mean_abs = quantity.sum_abs / predicted;
    }
    score.median_pct = quantile(quantity.errors_pct, 0.5);
    score.p90_pct = quantile(quantity.errors_pct, 0.9);
    score.p99_pct = quantile(quantity.errors_pct, 0.99);
    score.max_pct = quantile(quantity.errors_pct, 1);
    score.band_pct = score.rows == 0 ? 0
                                     : 100 * static_cast<double>(score.in_band) /
                                           static_cast<double>(score.rows);
    score.band_width_pct = quantile(quantity.widths_pct, 0.5);
    std::stable_sort(quantity.misses.begin(), quantity.misses.end(), is_worse);
    if (quantity.misses.size() > num_worst) quantity.misses.resize(index_of(num_worst));
    score.worst = std::move(quantity.misses);
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace vramgauge::tools

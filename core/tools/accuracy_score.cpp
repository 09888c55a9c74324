#include "accuracy_score.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace vramgauge::tools {
namespace {

/// Error of a prediction in percent of the truth; a truth of 0 that is missed counts as 100.
double error_pct(uint64_t truth, uint64_t predicted) {
  if (truth == predicted) return 0;
  if (truth == 0) return 100;
  return 100 * (static_cast<double>(predicted) - static_cast<double>(truth)) /
         static_cast<double>(truth);
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

json::Value percent(double value) { return json::Value::real(value, fmt::format("{:.6f}", value)); }

json::Value miss_json(const Miss& miss) {
  json::Value value = json::Value::object();
  value.set("line", miss.row.line);
  value.set("row", miss.row.text);
  value.set("truth", miss.truth);
  value.set("predicted", miss.predicted);
  value.set("error_pct", percent(miss.error_pct));
  return value;
}

json::Value unpredicted_json(const Unpredicted& rows) {
  json::Value lines = json::Value::array();
  for (const uint64_t line : rows.lines)
    lines.push(json::Value::integer(line));
  json::Value value = json::Value::object();
  value.set("reason", rows.reason);
  value.set("lines", std::move(lines));
  return value;
}

json::Value score_json(const QuantityScore& score) {
  json::Value value = json::Value::object();
  value.set("rows", score.rows);
  value.set("exact", score.exact);
  value.set("unpredicted", score.unpredicted);
  value.set("median_pct", percent(score.median_pct));
  value.set("p90_pct", percent(score.p90_pct));
  value.set("p99_pct", percent(score.p99_pct));
  value.set("max_pct", percent(score.max_pct));
  value.set("under_pct", percent(score.under_pct));
  value.set("band_pct", percent(score.band_pct));
  value.set("band_width_pct", percent(score.band_width_pct));
  json::Value worst = json::Value::array();
  for (const Miss& miss : score.worst)
    worst.push(miss_json(miss));
  value.set("worst", std::move(worst));
  json::Value unpredicted = json::Value::array();
  for (const Unpredicted& rows : score.unpredicted_rows)
    unpredicted.push(unpredicted_json(rows));
  value.set("unpredicted_rows", std::move(unpredicted));
  return value;
}

std::string miss_text(const Miss& miss) {
  return fmt::format("    line {}: {}: {}, {} predicted, {:+.3f} %\n", miss.row.line, miss.row.text,
                     miss.truth, miss.predicted, miss.error_pct);
}

/// The reason once, with all lines it holds for.
std::string unpredicted_text(const Unpredicted& rows) {
  std::string text = fmt::format("    {} rows: {}; lines", rows.lines.size(), rows.reason);
  for (const uint64_t line : rows.lines)
    text += fmt::format(" {}", line);
  return text + "\n";
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
  Quantity& quantity = find(name);
  const double error = error_pct(truth, predicted.value);
  ++quantity.score.rows;
  quantity.score.exact += predicted.value == truth ? 1U : 0U;
  quantity.score.in_band += predicted.low <= truth && truth <= predicted.high ? 1U : 0U;
  quantity.score.under_pct = std::max(quantity.score.under_pct, -error);
  quantity.errors_pct.push_back(std::fabs(error));
  const double width = static_cast<double>(predicted.high - predicted.low);
  quantity.widths_pct.push_back(
      predicted.value == 0 ? 0 : 100 * width / static_cast<double>(predicted.value));
  if (error != 0) quantity.misses.push_back({row, truth, predicted.value, error});
}

void Scores::add_unpredicted(std::string_view name, const RowName& row, const std::string& reason) {
  QuantityScore& score = find(name).score;
  ++score.rows;
  ++score.unpredicted;
  auto& rows = score.unpredicted_rows;
  auto found = std::find_if(rows.begin(), rows.end(),
                            [&reason](const Unpredicted& each) { return each.reason == reason; });
  if (found == rows.end()) found = rows.insert(rows.end(), {reason, {}});
  found->lines.push_back(row.line);
}

std::vector<QuantityScore> Scores::summary(uint64_t num_worst) const {
  std::vector<QuantityScore> scores;
  for (Quantity quantity : quantities_) {
    QuantityScore& score = quantity.score;
    std::sort(quantity.errors_pct.begin(), quantity.errors_pct.end());
    std::sort(quantity.widths_pct.begin(), quantity.widths_pct.end());
    score.median_pct = quantile(quantity.errors_pct, 0.5);
    score.p90_pct = quantile(quantity.errors_pct, 0.9);
    score.p99_pct = quantile(quantity.errors_pct, 0.99);
    score.max_pct = quantile(quantity.errors_pct, 1);
    score.band_pct = score.rows == 0 ? 0
                                     : 100 * static_cast<double>(score.in_band) /
                                           static_cast<double>(score.rows);
    score.band_width_pct = quantile(quantity.widths_pct, 0.5);
    std::stable_sort(quantity.misses.begin(), quantity.misses.end(), is_worse);
    if (quantity.misses.size() > num_worst) quantity.misses.resize(num_worst);
    score.worst = std::move(quantity.misses);
    scores.push_back(std::move(score));
  }
  return scores;
}

json::Value scores_json(const std::vector<QuantityScore>& scores) {
  json::Value value = json::Value::object();
  for (const QuantityScore& score : scores)
    value.set(score.name, score_json(score));
  return value;
}

std::string scores_text(const std::vector<QuantityScore>& scores) {
  std::string text = fmt::format("{:<20}{:>8}{:>8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
                                 "quantity", "rows", "exact", "unpredicted", "median %", "p90 %",
                                 "p99 %", "max %", "band %", "width %");
  for (const QuantityScore& score : scores) {
    text += fmt::format(
        "{:<20}{:>8}{:>8}{:>12}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.2f}{:>10.2f}\n",
        score.name, score.rows, score.exact, score.unpredicted, score.median_pct, score.p90_pct,
        score.p99_pct, score.max_pct, score.band_pct, score.band_width_pct);
  }
  for (const QuantityScore& score : scores) {
    if (!score.unpredicted_rows.empty()) text += score.name + ", not predicted:\n";
    for (const Unpredicted& rows : score.unpredicted_rows)
      text += unpredicted_text(rows);
    if (!score.worst.empty()) text += score.name + ", worst rows:\n";
    for (const Miss& miss : score.worst)
      text += miss_text(miss);
  }
  return text;
}

}  // namespace vramgauge::tools

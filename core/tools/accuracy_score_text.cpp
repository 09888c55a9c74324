// Scores as JSON and as text.
#include <cmath>

#include <fmt/format.h>

#include "accuracy_score.h"

namespace vramgauge::tools {
namespace {

/// The largest whole number that a double holds exactly.
constexpr double kLargestWhole = 9007199254740992.0;

json::Value real(double value) { return json::Value::real(value, fmt::format("{:.6f}", value)); }

double share_pct(uint64_t part, uint64_t rows) {
  return rows == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(rows);
}

/// Whole numbers stay whole.
json::Value figure(double value, const std::string& unit) {
  const bool is_whole = unit.empty() && value >= 0 && value <= kLargestWhole;
  return is_whole ? json::Value::integer(static_cast<uint64_t>(value)) : real(value);
}

std::string figure_text(double value, const std::string& unit) {
  return unit.empty() ? fmt::format("{:.0f}", value) : fmt::format("{:.3f} {}", value, unit);
}

json::Value named(const RowName& row) {
  json::Value value = json::Value::object();
  value.set("line", row.line);
  value.set("row", row.text);
  return value;
}

json::Value miss_json(const Miss& miss, const std::string& unit) {
  json::Value value = named(miss.row);
  value.set("truth", figure(miss.truth, unit));
  value.set("predicted", figure(miss.predicted, unit));
  value.set("error_pct", real(miss.error_pct));
  return value;
}

json::Value wrong_json(const WrongVerdict& wrong) {
  json::Value value = named(wrong.row);
  value.set("truth", wrong.truth);
  value.set("predicted", wrong.predicted);
  return value;
}

void set_verdicts(json::Value& value, const QuantityScore& score) {
  value.set("right", score.right);
  value.set("tight", score.tight);
  value.set("unpredicted", score.unpredicted);
  value.set("right_pct", real(share_pct(score.right, score.rows)));
  value.set("tight_pct", real(share_pct(score.tight, score.rows)));
  json::Value wrong = json::Value::array();
  for (const WrongVerdict& each : score.wrong)
    wrong.push(wrong_json(each));
  value.set("wrong", std::move(wrong));
}

void set_errors(json::Value& value, const QuantityScore& score) {
  value.set("exact", score.exact);
  value.set("unpredicted", score.unpredicted);
  if (!score.unit.empty()) value.set("unit", score.unit);
  if (!score.rule.empty()) {
    value.set("rule", score.rule);
    value.set("within", score.within);
    value.set("within_pct", real(share_pct(score.within, score.rows)));
  }
  value.set("median_pct", real(score.median_pct));
  value.set("p90_pct", real(score.p90_pct));
  value.set("p99_pct", real(score.p99_pct));
  value.set("max_pct", real(score.max_pct));
  value.set("mean_pct", real(score.mean_pct));
  value.set("mean_abs", real(score.mean_abs));
  value.set("max_abs", real(score.max_abs));
  value.set("under_pct", real(score.under_pct));
  value.set("band_pct", real(score.band_pct));
  value.set("band_width_pct", real(score.band_width_pct));
  json::Value worst = json::Value::array();
  for (const Miss& miss : score.worst)
    worst.push(miss_json(miss, score.unit));
  value.set("worst", std::move(worst));
}

json::Value score_json(const QuantityScore& score) {
  json::Value value = json::Value::object();
  value.set("rows", score.rows);
  if (score.is_verdict)
    set_verdicts(value, score);
  else
    set_errors(value, score);
  value.set("unpredicted_rows", reasons_json(score.unpredicted_rows));
  return value;
}

std::string whole_numbers_text(const std::vector<QuantityScore>& scores) {
  std::string text;
  for (const QuantityScore& score : scores) {
    if (score.is_verdict || !score.unit.empty()) continue;
    if (text.empty()) {
      text = fmt::format("{:<20}{:>8}{:>8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "quantity",
                         "rows", "exact", "unpredicted", "median %", "p90 %", "p99 %", "max %",
                         "band %", "width %");
    }
    text += fmt::format(
        "{:<20}{:>8}{:>8}{:>12}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.2f}{:>10.2f}\n",
        score.name, score.rows, score.exact, score.unpredicted, score.median_pct, score.p90_pct,
        score.p99_pct, score.max_pct, score.band_pct, score.band_width_pct);
  }
  return text;
}

std::string figures_text(const std::vector<QuantityScore>& scores) {
  std::string text;
  for (const QuantityScore& score : scores) {
    if (score.is_verdict || score.unit.empty()) continue;
    if (text.empty()) {
      text = fmt::format("{:<34}{:>6}{:>7}{:>12}{:>10}{:>9}{:>10}{:>10}{:>9}{:>8}{:>8}  {}\n",
                         "quantity", "rows", "exact", "unpredicted", "mean %", "max %", "mean abs",
                         "max abs", "within %", "band %", "width %", "unit; within");
    }
    const std::string within =
        score.rule.empty() ? "-" : fmt::format("{:.1f}", share_pct(score.within, score.rows));
    text += fmt::format(
        "{:<34}{:>6}{:>7}{:>12}{:>10.3f}{:>9.3f}{:>10.3f}{:>10.3f}{:>9}{:>8.1f}{:>8.2f}  {}\n",
        score.name, score.rows, score.exact, score.unpredicted, score.mean_pct, score.max_pct,
        score.mean_abs, score.max_abs, within, score.band_pct, score.band_width_pct,
        score.rule.empty() ? score.unit : score.unit + "; " + score.rule);
  }
  return text;
}

std::string verdicts_text(const QuantityScore& score) {
  std::string text =
      fmt::format("{}: {} rows, {} right ({:.1f} %), {} tight ({:.1f} %), {} not predicted\n",
                  score.name, score.rows, score.right, share_pct(score.right, score.rows),
                  score.tight, share_pct(score.tight, score.rows), score.unpredicted);
  for (const WrongVerdict& wrong : score.wrong) {
    text += fmt::format("    line {}: {}: {}, predicted: {}\n", wrong.row.line, wrong.row.text,
                        wrong.truth, wrong.predicted);
  }
  return text;
}

std::string unpredicted_text(const QuantityScore& score) {
  if (score.unpredicted_rows.empty()) return {};
  return score.name + ", not predicted:\n" + reasons_text(score.unpredicted_rows);
}

std::string worst_text(const QuantityScore& score) {
  std::string text;
  if (!score.worst.empty()) text += score.name + ", worst rows:\n";
  for (const Miss& miss : score.worst) {
    text += fmt::format("    line {}: {}: {}, {} predicted, {:+.3f} %\n", miss.row.line,
                        miss.row.text, figure_text(miss.truth, score.unit),
                        figure_text(miss.predicted, score.unit), miss.error_pct);
  }
  return text;
}

}  // namespace

json::Value reasons_json(const std::vector<Unpredicted>& reasons) {
  json::Value list = json::Value::array();
  for (const Unpredicted& rows : reasons) {
    json::Value lines = json::Value::array();
    for (const uint64_t line : rows.lines)
      lines.push(json::Value::integer(line));
    json::Value value = json::Value::object();
    value.set("reason", rows.reason);
    value.set("lines", std::move(lines));
    list.push(std::move(value));
  }
  return list;
}

std::string reasons_text(const std::vector<Unpredicted>& reasons) {
  std::string text;
  for (const Unpredicted& rows : reasons) {
    text += fmt::format("    {} rows: {}; lines", rows.lines.size(), rows.reason);
    for (const uint64_t line : rows.lines)
      text += fmt::format(" {}", line);
    text += "\n";
  }
  return text;
}

json::Value scores_json(const std::vector<QuantityScore>& scores) {
  json::Value value = json::Value::object();
  for (const QuantityScore& score : scores)
    value.set(score.name, score_json(score));
  return value;
}

std::string scores_text(const std::vector<QuantityScore>& scores) {
  std::string text = whole_numbers_text(scores) + figures_text(scores);
  for (const QuantityScore& score : scores) {
    if (score.is_verdict) text += verdicts_text(score);
    text += unpredicted_text(score) + worst_text(score);
  }
  return text;
}

}  // namespace vramgauge::tools

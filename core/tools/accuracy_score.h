// How predictions compare with what engines report, quantity by quantity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/json.h"

namespace vramgauge::tools {

/// A prediction with its bounds.
struct Predicted {
  uint64_t value = 0;
  uint64_t low = 0;
  uint64_t high = 0;
};

/// A prediction that is meant to be exact.
constexpr Predicted exactly(uint64_t value) { return {value, value, value}; }

/// A prediction in a unit that logs print, such as GiB, with its bounds.
struct PredictedReal {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// A prediction without a band.
constexpr PredictedReal without_band(double value) { return {value, value, value}; }

/// How a figure of a log is judged.
struct Judging {
  /// Half of the last printed place: a truth that is met to that is exact, and in the band when it
  /// is that near.
  double rounding = 0;
  /// Largest error with which the row counts as within; below 0 = none is set.
  double allowed = -1;
  /// What the band's width is a share of; 0 = the prediction.
  double width_of = 0;
};

/// One row of a truth file as a user finds it again.
struct RowName {
  uint64_t line = 0;
  std::string text;
};

/// One prediction that is off.
struct Miss {
  RowName row;
  double truth = 0;
  double predicted = 0;
  /// Signed; below zero = predicted too little.
  double error_pct = 0;
};

/// Rows that were not predicted for one reason.
struct Unpredicted {
  std::string reason;
  std::vector<uint64_t> lines;
};

/// A verdict that is not what happened.
struct WrongVerdict {
  RowName row;
  std::string truth;
  std::string predicted;
};

/// All rows of one quantity.
struct QuantityScore {
  std::string name;
  /// Empty for whole numbers; "GiB", "x" and so on for what logs print with decimals.
  std::string unit;
  /// What "within" asks for; empty when it asks for nothing.
  std::string rule;
  /// A verdict has neither errors nor a band.
  bool is_verdict = false;
  uint64_t rows = 0;
  uint64_t exact = 0;
  uint64_t unpredicted = 0;
  uint64_t in_band = 0;
  uint64_t within = 0;
  /// Verdicts that are right, and those (right or not) that say "tight".
  uint64_t right = 0;
  uint64_t tight = 0;
  std::vector<WrongVerdict> wrong;
  /// Of predicted rows; errors without sign.
  double mean_pct = 0;
  double mean_abs = 0;
  double max_abs = 0;
  double median_pct = 0;
  double p90_pct = 0;
  double p99_pct = 0;
  double max_pct = 0;
  /// Largest error of a prediction that is too small, as a positive number.
  double under_pct = 0;
  /// Share of all rows whose truth lies inside the band, in percent.
  double band_pct = 0;
  /// Median width of the band, in percent of the prediction or of what its rows name.
  double band_width_pct = 0;
  std::vector<Miss> worst;
  /// Every row without a prediction.
  std::vector<Unpredicted> unpredicted_rows;
};

/// Collects rows and sums them up.
class Scores {
 public:
  void add(std::string_view quantity, const RowName& row, uint64_t truth, const Predicted& value);
  void add_real(std::string_view quantity, const RowName& row, double truth,
                const PredictedReal& value, const Judging& judging);
  void add_verdict(std::string_view quantity, const RowName& row, bool is_right, bool is_tight,
                   std::string truth, std::string predicted);
  void add_unpredicted(std::string_view quantity, const RowName& row, const std::string& reason);
  /// Names the unit of a quantity and what its rows are within; for add_real and add_verdict.
  void describe(std::string_view quantity, std::string unit, std::string rule);

  /// A row that is not to be predicted at all: it is listed and counts nowhere.
  void leave_out(const RowName& row, const std::string& reason);
  const std::vector<Unpredicted>& left_out() const { return left_out_; }

  /// In the order in which quantities came; at most `num_worst` misses each, the worst first.
  std::vector<QuantityScore> summary(uint64_t num_worst) const;

 private:
  struct Quantity {
    QuantityScore score;
    double sum_abs = 0;
    std::vector<double> errors_pct;
    std::vector<double> widths_pct;
    std::vector<Miss> misses;
  };

  Quantity& find(std::string_view name);

  std::vector<Quantity> quantities_;
  std::vector<Unpredicted> left_out_;
};

/// Rows by reason, as JSON: [{"reason", "lines"}].
json::Value reasons_json(const std::vector<Unpredicted>& reasons);
json::Value scores_json(const std::vector<QuantityScore>& scores);
std::string reasons_text(const std::vector<Unpredicted>& reasons);
std::string scores_text(const std::vector<QuantityScore>& scores);

}  // namespace vramgauge::tools

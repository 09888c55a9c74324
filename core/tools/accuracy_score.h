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

/// One row of a truth file as a user finds it again.
struct RowName {
  uint64_t line = 0;
  std::string text;
};

/// One prediction that is off.
struct Miss {
  RowName row;
  uint64_t truth = 0;
  uint64_t predicted = 0;
  /// Signed; below zero = predicted too little.
  double error_pct = 0;
};

/// Rows that were not predicted for one reason.
struct Unpredicted {
  std::string reason;
  std::vector<uint64_t> lines;
};

/// All rows of one quantity.
struct QuantityScore {
  std::string name;
  uint64_t rows = 0;
  uint64_t exact = 0;
  uint64_t unpredicted = 0;
  uint64_t in_band = 0;
  /// Of predicted rows.
  double median_pct = 0;
  double p90_pct = 0;
  double p99_pct = 0;
  double max_pct = 0;
  /// Largest error of a prediction that is too small, as a positive number.
  double under_pct = 0;
  /// Share of all rows whose truth lies inside the band, in percent.
  double band_pct = 0;
  /// Median width of the band over the prediction, in percent.
  double band_width_pct = 0;
  std::vector<Miss> worst;
  /// Every row without a prediction.
  std::vector<Unpredicted> unpredicted_rows;
};

/// Collects rows and sums them up.
class Scores {
 public:
  void add(std::string_view quantity, const RowName& row, uint64_t truth, const Predicted& value);
  void add_unpredicted(std::string_view quantity, const RowName& row, const std::string& reason);

  /// In the order in which quantities came; at most `num_worst` misses each, the worst first.
  std::vector<QuantityScore> summary(uint64_t num_worst) const;

 private:
  struct Quantity {
    QuantityScore score;
    std::vector<double> errors_pct;
    std::vector<double> widths_pct;
    std::vector<Miss> misses;
  };

  Quantity& find(std::string_view name);

  std::vector<Quantity> quantities_;
};

json::Value scores_json(const std::vector<QuantityScore>& scores);
std::string scores_text(const std::vector<QuantityScore>& scores);

}  // namespace vramgauge::tools

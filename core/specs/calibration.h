// What a start-up log corrects: by how much each term of a GPU is moved, as a scenario carries it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "specs/breakdown.h"
#include "units/error.h"

namespace vramgauge {

/// Bytes that are added to terms of every GPU.
class Calibration {
 public:
  /// Reads "activations=+0.42,runtime=-0.11": GiB per GPU by the id of a term, at most six places;
  /// an empty text corrects nothing. Errors, at "/calibration": value.unreadable,
  /// value.not_a_choice (terms are weights, activations, runtime), calibration.exact_term
  /// (kv_cache).
  static Result<Calibration> parse(std::string_view text);

  bool is_empty() const;
  /// Nothing when the term stays as it is predicted.
  std::optional<int64_t> added_bytes(TermId id) const;
  /// Bytes are kept to a ten-thousandth of a GiB, as `text` gives them.
  void add(TermId id, int64_t bytes);
  /// As it is read; four places at most.
  std::string text() const;

 private:
  static constexpr std::size_t kNumTerms = 4;
  std::array<std::optional<int64_t>, kNumTerms> added_;
};

/// Moves terms of a GPU as far as they are corrected. What was measured is known to a hundredth of
/// a GiB, as logs print it; that is the band then. Errors, at "/calibration":
/// calibration.exact_term for what is exact already, value.out_of_range below zero.
Result<void> calibrate(std::initializer_list<std::pair<TermId, Total*>> terms,
                       const Calibration& calibration);

}  // namespace vramgauge

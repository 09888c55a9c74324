// A truth file of comma-separated values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramgauge::tools {

/// Rows of named columns. Cells may be quoted; a missing cell is empty.
class TruthTable {
 public:
  /// Nothing when the text has no header line.
  static std::optional<TruthTable> parse(std::string_view text);

  uint64_t size() const { return rows_.size(); }
  bool has(std::string_view column) const;
  /// Empty when there is no such row, column or cell.
  std::string_view cell(uint64_t row, std::string_view column) const;
  /// The same as a number; an empty cell is 0, nothing for anything else that is no number.
  std::optional<uint64_t> number(uint64_t row, std::string_view column) const;
  std::optional<int64_t> integer(uint64_t row, std::string_view column) const;
  /// A number with decimals; nothing for an empty cell and for what is no finite number.
  std::optional<double> real(uint64_t row, std::string_view column) const;
  /// Lines of a file are counted from 1, and the first holds the columns.
  static uint64_t line_of(uint64_t row) { return row + 2; }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A decimal integer that fills the text.
std::optional<int64_t> parse_integer(std::string_view text);
/// The parts between separators; none of an empty text.
std::vector<std::string_view> split_text(std::string_view text, char separator);

}  // namespace vramgauge::tools

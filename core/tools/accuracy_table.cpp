#include "accuracy_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "units/index.h"

namespace vramgauge::tools {
namespace {

/// Cells of one line. Quotes enclose a cell, doubled ones stand for themselves.
std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[i++];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

std::optional<TruthTable> TruthTable::parse(std::string_view text) {
  TruthTable table;
  const std::string_view header = next_line(text);
  if (header.empty()) return std::nullopt;
  table.columns_ = split_cells(header);
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!line.empty()) table.rows_.push_back(split_cells(line));
  }
  return table;
}

bool TruthTable::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::string_view TruthTable::cell(uint64_t row, std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  const auto index = static_cast<std::size_t>(found - columns_.begin());
  if (row >= rows_.size() || index >= rows_[index_of(row)].size()) return {};
  return rows_[index_of(row)][index];
}

std::optional<int64_t> TruthTable::integer(uint64_t row, std::string_view column) const {
  const std::string_view text = cell(row, column);
  return text.empty() ? 0 : parse_integer(text);
}

std::optional<double> TruthTable::real(uint64_t row, std::string_view column) const {
  const std::string text(cell(row, column));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size() && std::isfinite(value);
  return is_number ? std::optional<double>(value) : std::nullopt;
}

std::optional<uint64_t> TruthTable::number(uint64_t row, std::string_view column) const {
  const auto value = integer(row, column);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace vramgauge::tools

// Lists in texts, separated by commas.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace vramgauge {

/// The parts of a list; none of an empty text.
inline std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

/// Whether a word is one of the parts.
inline bool lists(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (text.substr(0, comma) == word) return true;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return false;
}

}  // namespace vramgauge

#include "report/product.h"

namespace vramgauge {

std::string grouped_digits(uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::string::size_type>(at), 1, ',');
  }
  return digits;
}

Product& Product::add(const std::string& name, const std::string& value) {
  if (!formula_.empty()) {
    formula_ += kTimes;
    numbers_ += kTimes;
  }
  formula_ += name;
  numbers_ += value;
  return *this;
}

}  // namespace vramgauge

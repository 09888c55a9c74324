// Products as formula and numbers side by side.
#pragma once

#include <string>
#include <string_view>

#include "specs/breakdown.h"
#include "units/checked.h"
#include "units/decimal.h"

namespace vramgauge {

/// The sign between factors.
inline constexpr std::string_view kTimes = " \xC3\x97 ";

/// Digits in groups of three.
std::string grouped_digits(uint64_t value);

/// A product under construction: the formula beside the same with numbers.
class Product {
 public:
  Product& times(std::string_view name, uint64_t value) {
    return add(std::string(name), grouped_digits(value));
  }
  Product& times(uint64_t value) { return add(grouped_digits(value), grouped_digits(value)); }
  Product& times(std::string_view name, Decimal value) {
    return add(std::string(name), value.text());
  }
  Product& bytes(std::string_view name, uint64_t value) {
    return add(std::string(name), grouped_digits(value) + " B");
  }

  ArithmeticLine line(std::string label, CheckedU64 result) const {
    return {std::move(label), formula_, numbers_, result.value_or(0)};
  }

 private:
  Product& add(const std::string& name, const std::string& value);

  std::string formula_;
  std::string numbers_;
};

}  // namespace vramgauge

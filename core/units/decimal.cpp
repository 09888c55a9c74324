#include "units/decimal.h"

#include <cmath>

namespace vramgauge {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Power of 1024 that a suffix stands for, or nothing.
std::optional<uint64_t> suffix_factor(char c) {
  switch (c) {
    case 'k':
    case 'K': return uint64_t{1} << 10;
    case 'm':
    case 'M': return uint64_t{1} << 20;
    case 'g':
    case 'G': return uint64_t{1} << 30;
    case 't':
    case 'T': return uint64_t{1} << 40;
    default: return std::nullopt;
  }
}

CheckedU64 digits(std::string_view text) {
  CheckedU64 value(uint64_t{0});
  for (const char c : text) {
    if (c == ',' || c == '_') continue;
    if (!is_digit(c)) return CheckedU64::poisoned();
    value = value * uint64_t{10} + CheckedU64(static_cast<uint64_t>(c - '0'));
  }
  return value;
}

}  // namespace

std::optional<Decimal> Decimal::from_double(double value) {
  constexpr double kMaxValue = 1e12;
  if (!std::isfinite(value) || value < 0 || value > kMaxValue) return std::nullopt;
  return from_micros(static_cast<uint64_t>(std::llround(value * static_cast<double>(kScale))));
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  text = trimmed(text);
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() && part.empty()) return std::nullopt;
  if (part.size() > 6 || part.find_first_of(",_") != std::string_view::npos) return std::nullopt;
  CheckedU64 micros = digits(whole);
  for (int place = 0; place < 6; ++place) {
    micros *= uint64_t{10};
    if (part.empty()) continue;
    micros += digits(part.substr(0, 1));
    part.remove_prefix(1);
  }
  if (!micros.valid()) return std::nullopt;
  return from_micros(micros.value_or(0));
}

std::string Decimal::text() const {
  std::string out = std::to_string(micros_ / kScale);
  std::string part = std::to_string(kScale + micros_ % kScale).substr(1);
  part.erase(part.find_last_not_of('0') + 1);
  return part.empty() ? out : out + "." + part;
}

std::optional<uint64_t> parse_count(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  const std::optional<uint64_t> factor = suffix_factor(text.back());
  if (factor) text = trimmed(text.substr(0, text.size() - 1));
  if (text.find('.') != std::string_view::npos) {
    const std::optional<Decimal> value = Decimal::parse(text);
    if (!factor || !value) return std::nullopt;
    return (CheckedU64(*factor) * *value).get();
  }
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  return (digits(text) * CheckedU64(factor.value_or(1))).get();
}

}  // namespace vramgauge

#include "engine/versioned_constants.h"

namespace vramgauge {
namespace {

uint64_t since(const json::Value& constant) {
  const json::Value* text = constant.find("since");
  if (text == nullptr || text->as_string() == nullptr) return 0;
  return release_number(*text->as_string()).value_or(0);
}

Decimal decimal(const json::Value& constant, std::string_view key) {
  const json::Value* value = constant.find(key);
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  return number == nullptr ? Decimal() : Decimal::from_double(number->real).value_or(Decimal());
}

}  // namespace

std::optional<uint64_t> release_number(std::string_view text) {
  constexpr uint64_t kLimit = 1000;
  uint64_t parts[3] = {0, 0, 0};
  int filled = 0;
  size_t at = 0;
  while (filled < 3 && at < text.size() && text[at] >= '0' && text[at] <= '9') {
    uint64_t& part = parts[filled++];
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      part = part * 10 + static_cast<uint64_t>(text[at] - '0');
      if (part >= kLimit) return std::nullopt;
    }
    if (at < text.size() && text[at] == '.') ++at;
  }
  if (filled < 2) return std::nullopt;
  return (parts[0] * kLimit + parts[1]) * kLimit + parts[2];
}

VersionedConstants::VersionedConstants(const json::Value& entry, uint64_t release,
                                       Diagnostics& errors)
    : release_(release), errors_(errors) {
  const json::Value* list = entry.find("constants");
  if (list != nullptr) list_ = list->as_array();
}

BandedDecimal VersionedConstants::banded(std::string_view key) const {
  const json::Value* found = nullptr;
  if (list_ != nullptr) {
    for (const json::Value& constant : *list_) {
      const json::Value* name = constant.find("key");
      if (name == nullptr || name->as_string() == nullptr || *name->as_string() != key) continue;
      if (since(constant) <= release_) found = &constant;
    }
  }
  if (found == nullptr) {
    errors_.push_back({ErrorCode::json_missing_key, {}, {{"key", key}}});
    return {};
  }
  return {decimal(*found, "value"), decimal(*found, "low"), decimal(*found, "high")};
}

uint64_t VersionedConstants::whole(std::string_view key) const {
  return banded(key).value.micros() / Decimal::kScale;
}

}  // namespace vramgauge

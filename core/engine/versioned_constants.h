// Constants of one engine (presets/engines/*.json) as they hold for one release.
#pragma once

#include <optional>
#include <string_view>

#include "engine/generic.h"
#include "units/json.h"

namespace vramgauge {

/// A release such as 0.19.1, comparable by its number: 1,000,000 x major + 1,000 x minor + patch.
/// What follows ("rc1", ".dev3") is ignored. Nothing when it does not begin with two numbers.
std::optional<uint64_t> release_number(std::string_view text);

/// Looks constants up by key: the last entry whose "since" is not newer than the release.
class VersionedConstants {
 public:
  /// `entry` must outlive this; a key that it lacks is added to `errors` (json.missing_key).
  VersionedConstants(const json::Value& entry, uint64_t release, Diagnostics& errors);

  BandedDecimal banded(std::string_view key) const;
  uint64_t whole(std::string_view key) const;
  bool is_on(std::string_view key) const { return !banded(key).value.is_zero(); }

 private:
  uint64_t release_;
  Diagnostics& errors_;
  const json::Value::Array* list_ = nullptr;
};

}  // namespace vramgauge

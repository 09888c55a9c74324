// The scenario as a readable link: v=1&model=...&context_tokens=8192, only what differs from the
// defaults.
#pragma once

#include <string>
#include <string_view>

#include "specs/scenario.h"

namespace vramgauge::api {

/// Version of the link format. A version's keys, their meaning and their defaults never change; a
/// newer version adds a migration.
inline constexpr uint64_t kLinkVersion = 1;
/// Longest link that is read.
inline constexpr uint64_t kMaxLinkBytes = uint64_t{256} << 10;

/// A link that was read, with what was not understood.
struct DecodedLink {
  Scenario scenario;
  /// Only the fields that the link gives.
  json::Value given;
  Diagnostics warnings;
};

/// The fragment of a scenario, without the # sign.
std::string encode_link(const Scenario& scenario);

/// Reads a whole address, a fragment with or without its # sign, or nothing but the parts.
Result<DecodedLink> decode_link(std::string_view link);

}  // namespace vramgauge::api

// What the fuzz targets share: a session with the catalogue, and what every reply must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/session.h"
#include "units/json.h"

namespace vramgauge::fuzz {

/// A session that holds the bundled catalogue, as the page has it after its first load. Made once.
api::Session& session_with_catalogue();

/// Calls, and stops the program unless the reply keeps the contract: an envelope; a failure names
/// at least one code with a message and a hint; never the code of an internal error.
json::Value checked_call(api::Session& session, std::string_view method, std::string_view request);

/// The same for a reply that is already there.
json::Value checked_reply(std::string_view reply);

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace vramgauge::fuzz

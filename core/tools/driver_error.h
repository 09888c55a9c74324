// What can go wrong with a driver, as a value.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "units/json.h"

namespace vramgauge::tools {

/// Why the driver could not answer. Codes: driver.missing (no library), driver.unusable (a library
/// that lacks calls, or whose start failed), driver.no_device, driver.call_failed.
struct DriverError {
  std::string code;
  std::string message;
  std::string hint;
};

template <typename T>
using DriverResult = tl::expected<T, DriverError>;

/// The error in the form of the facade's diagnostics.
json::Value diagnostic_json(const DriverError& error);
/// {"ok": false, "errors": [error], "warnings": []}
json::Value error_envelope(const DriverError& error);

}  // namespace vramgauge::tools

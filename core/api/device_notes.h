// What a device's memory is known to be short of, named where it matters.
#pragma once

#include "api/resolve.h"

namespace vramgauge::api {

/// Warnings about shared memory and its limit, and, where little is left, about what a desktop or
/// error correction takes.
Diagnostics device_notes(const Resolved& resolved, const Verdict& verdict, const std::string& path);

}  // namespace vramgauge::api

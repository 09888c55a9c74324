// Memory of the host, as much of it as this process may use.
#pragma once

#include <cstdint>
#include <optional>

namespace vramgauge::tools {

/// Available memory of the machine, or what the container's limit leaves when that is less; nothing
/// when the system does not say.
std::optional<uint64_t> available_host_bytes();

}  // namespace vramgauge::tools

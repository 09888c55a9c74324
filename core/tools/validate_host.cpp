#include "validate_host.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "driver_library.h"
#include "program.h"

namespace vramgauge::tools {
namespace {

/// A number that fills the text but for white space at its end; "max" and the like are none.
std::optional<uint64_t> whole_number(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

/// The line "MemAvailable:   123 kB".
std::optional<uint64_t> available_in(const std::string& meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const std::size_t start = meminfo.find(kKey);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t digits = meminfo.find_first_not_of(" \t", start + kKey.size());
  if (digits == std::string::npos) return std::nullopt;
  const auto kib = whole_number(meminfo.substr(digits, 24));
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

/// What the limit of a control group leaves, by the names of version 2 and version 1.
std::optional<uint64_t> left_in_group() {
  constexpr const char* kFiles[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_file, usage_file] : kFiles) {
    const auto limit = whole_number(read_input(limit_file).value_or(""));
    const auto usage = whole_number(read_input(usage_file).value_or(""));
    if (limit && usage) return *limit > *usage ? *limit - *usage : 0;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> available_host_bytes() {
  const auto available = available_in(read_input("/proc/meminfo").value_or(""));
  const auto left = left_in_group();
  if (available && left) return std::min(*available, *left);
  return available ? available : left;
}

}  // namespace vramgauge::tools

// Cards of several kinds in one text: "nvidia-l4,tesla-t4:2".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "units/decimal.h"
#include "units/text_list.h"

namespace vramgauge {

/// Cards of one kind.
struct GpuGroup {
  /// An id of the catalogue, as it was given.
  std::string_view id;
  uint64_t count = 1;
};

/// More than any machine holds.
inline constexpr uint64_t kMaxMoreGpus = 64;

/// The groups of a text, which they point into; nothing for one that is not such a list, or of more
/// than kMaxMoreGpus cards.
inline std::optional<std::vector<GpuGroup>> parse_more_gpus(std::string_view text) {
  std::vector<GpuGroup> groups;
  uint64_t sum = 0;
  for (const std::string_view part : parts_of(text)) {
    const auto colon = std::min(part.find(':'), part.size());
    const auto count =
        colon == part.size() ? std::optional<uint64_t>(1) : parse_count(part.substr(colon + 1));
    if (colon == 0 || !count || *count == 0 || *count > kMaxMoreGpus - sum) return std::nullopt;
    sum += *count;
    groups.push_back({part.substr(0, colon), *count});
  }
  return groups;
}

}  // namespace vramgauge

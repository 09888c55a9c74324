// Sums over stored tensors: shared by the files that size weights.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/weight_formats.h"

namespace vramgauge {

/// Sums as they grow, opened once at the end.
class WeightTally {
 public:
  void add(RoleGroup group, const std::string& storage, CheckedU64 elements, CheckedU64 bytes);
  /// The sums; value.overflow when one overflowed or passes kMaxApiBytes. `id` names the format.
  Result<FormattedWeights> finish(std::string_view id) const;

 private:
  struct Line {
    std::string storage;
    CheckedU64 elements;
    CheckedU64 bytes;
    std::array<bool, kNumRoleGroups> has_group{};
  };

  static bool append(const Line& line, FormattedWeights& result);
  std::optional<FormattedWeights> sums() const;
  Line& line_of(const std::string& storage);

  std::vector<Line> lines_;
  std::array<CheckedU64, kNumRoleGroups> group_elements_{};
  std::array<CheckedU64, kNumRoleGroups> group_bytes_{};
};

/// Width of what a format leaves alone: the dtype of the checkpoint.
GroupedLayout native_layout(const ModelSpec& spec);

/// "4-bit g128": how a layout is called in the arithmetic.
std::string storage_name(const GroupedLayout& layout);

}  // namespace vramgauge

#include "model/weight_tally.h"

#include <algorithm>

namespace vramgauge {

void WeightTally::add(RoleGroup group, const std::string& storage, CheckedU64 elements,
                      CheckedU64 bytes) {
  const auto index = static_cast<size_t>(group);
  group_elements_[index] += elements;
  group_bytes_[index] += bytes;
  Line& line = line_of(storage);
  line.elements += elements;
  line.bytes += bytes;
  line.has_group[index] = true;
}

Result<FormattedWeights> WeightTally::finish(std::string_view id) const {
  std::optional<FormattedWeights> result = sums();
  if (result) return std::move(*result);
  return fail(ErrorCode::value_overflow, {},
              {{"what", "the size of the weights in " + std::string(id)}});
}

std::optional<FormattedWeights> WeightTally::sums() const {
  FormattedWeights result;
  CheckedU64 total;
  CheckedU64 elements;
  for (const Line& line : lines_) {
    total += line.bytes;
    elements += line.elements;
    if (!append(line, result)) return std::nullopt;
  }
  for (size_t i = 0; i < kNumRoleGroups; ++i) {
    result.bytes_by_group[i] = Bytes(group_bytes_[i].value_or(0));
    result.elements_by_group[i] = group_elements_[i].value_or(0);
  }
  const std::optional<Bytes> bytes = bytes_of(total);
  if (!bytes || !elements.valid()) return std::nullopt;
  result.total = *bytes;
  result.elements = elements.value_or(0);
  return result;
}

bool WeightTally::append(const Line& line, FormattedWeights& result) {
  const std::optional<Bytes> bytes = bytes_of(line.bytes);
  if (!bytes || !line.elements.valid()) return false;
  StorageLine out{line.storage, {}, line.elements.value_or(0), *bytes};
  for (size_t i = 0; i < kNumRoleGroups; ++i) {
    if (line.has_group[i]) out.groups.push_back(static_cast<RoleGroup>(i));
  }
  result.lines.push_back(std::move(out));
  return true;
}

WeightTally::Line& WeightTally::line_of(const std::string& storage) {
  const auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const Line& line) { return line.storage == storage; });
  if (found != lines_.end()) return *found;
  lines_.push_back(Line{storage, {}, {}, {}});
  return lines_.back();
}

GroupedLayout native_layout(const ModelSpec& spec) {
  GroupedLayout layout;
  layout.bits = spec.dtype == "float32" ? 32 : 16;
  return layout;
}

std::string storage_name(const GroupedLayout& layout) {
  std::string name = std::to_string(layout.bits) + "-bit";
  if (layout.group_size > 0) name += " g" + std::to_string(layout.group_size);
  if (layout.block_rows > 0) {
    name += " " + std::to_string(layout.block_rows) + "x" + std::to_string(layout.block_cols);
  }
  if (layout.per_row_bits > 0) name += " per row";
  return name;
}

}  // namespace vramgauge

#include "import/model_files_shards.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace vramgauge::files {
namespace {

/// A name taken apart: what stands before the number and behind the count.
struct ShardName {
  std::string_view before;
  std::string_view count_text;
  std::string_view after;
  uint64_t count = 0;
};

std::optional<uint64_t> whole_number(std::string_view digits) {
  constexpr std::string_view::size_type kMaxDigits = 9;
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

std::optional<ShardName> shard_name(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  const auto of = name.rfind(kOf);
  const auto dash = of == std::string_view::npos ? of : name.substr(0, of).rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(of + kOf.size());
  const auto dot = std::min(rest.find('.'), rest.size());
  const auto count = whole_number(rest.substr(0, dot));
  if (!count || !whole_number(name.substr(dash + 1, of - dash - 1))) return std::nullopt;
  return ShardName{name.substr(0, dash + 1), rest.substr(0, dot), rest.substr(dot), *count};
}

std::string nth_name(const ShardName& shard, uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < shard.count_text.size())
    digits.insert(0, shard.count_text.size() - digits.size(), '0');
  std::string name(shard.before);
  name.append(digits).append("-of-").append(shard.count_text).append(shard.after);
  return name;
}

}  // namespace

std::optional<std::string> missing_shard(const std::vector<std::string_view>& names) {
  const std::set<std::string_view> given(names.begin(), names.end());
  std::set<std::string> complete;
  for (const std::string_view name : given) {
    const auto shard = shard_name(name);
    if (!shard || !complete.insert(nth_name(*shard, 0)).second) continue;
    // Ends at the first gap, so that it is bounded by the names that there are.
    for (uint64_t i = 1; i <= shard->count; ++i) {
      std::string each = nth_name(*shard, i);
      if (given.count(each) == 0) return each;
    }
  }
  return std::nullopt;
}

}  // namespace vramgauge::files

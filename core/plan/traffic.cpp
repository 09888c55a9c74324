#include "plan/traffic.h"

#include <algorithm>

namespace vramgauge {
namespace {

constexpr uint64_t kMillion = 1'000'000;

uint64_t final_tokens(const RequestShape& shape) {
  return shape.prompt_tokens + shape.output_tokens;
}

/// How many requests end with at most so many tokens.
uint64_t num_within(const std::vector<RequestShape>& shapes, uint64_t tokens) {
  uint64_t counted = 0;
  for (const RequestShape& shape : shapes)
    counted += final_tokens(shape) <= tokens ? shape.weight : 0;
  return counted;
}

/// The final length that `percent` of 100 requests do not exceed; halving, without a sort.
uint64_t percentile(const std::vector<RequestShape>& shapes, uint64_t total, uint64_t percent,
                    uint64_t longest) {
  const uint64_t rank = ceil_div(CheckedU64(total) * percent, uint64_t{100}).value_or(total);
  uint64_t low = 0;
  while (low < longest) {
    const uint64_t middle = low + (longest - low) / 2;
    if (num_within(shapes, middle) >= rank) {
      longest = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// part / whole in millionths; 0 of nothing.
uint64_t share(uint64_t part, uint64_t whole) {
  return scaled(CheckedU64(part), kMillion, std::max<uint64_t>(1, whole)).value_or(0);
}

}  // namespace

std::optional<Traffic> traffic_of(const TrafficInputs& inputs) {
  CheckedU64 weight;
  // Halves of tokens, so that half of an odd output is exact.
  CheckedU64 halves;
  CheckedU64 blocks;
  Traffic out;
  for (const RequestShape& shape : inputs.shapes) {
    const CheckedU64 twice = CheckedU64(shape.prompt_tokens) * uint64_t{2} + shape.output_tokens;
    weight += shape.weight;
    halves += twice * shape.weight;
    // Whole tokens: the half of an odd output is only an average.
    blocks += ceil_div(twice / uint64_t{2}, inputs.block_tokens) * shape.weight;
    out.longest_tokens = std::max(out.longest_tokens, final_tokens(shape));
  }
  if (!weight.valid() || weight.value_or(0) == 0) return std::nullopt;
  const CheckedU64 live = inputs.live_requests;
  const CheckedU64 live_tokens = ceil_div(halves * live, weight * uint64_t{2});
  const CheckedU64 in_blocks = ceil_div(blocks * live, weight) * inputs.block_tokens;
  const uint64_t prefix = inputs.shared_prefix_tokens / inputs.block_tokens * inputs.block_tokens;
  const CheckedU64 saved = (live - uint64_t{1}) * prefix;
  const CheckedU64 reserved = live * inputs.reserved_tokens;
  const CheckedU64 waste = max(in_blocks, live_tokens) - live_tokens;
  const CheckedU64 paged = max(in_blocks, live_tokens) - min(saved, in_blocks);
  if (!waste.valid() || !paged.valid() || !reserved.valid()) return std::nullopt;
  out.mean_tokens = ceil_div(halves, weight * uint64_t{2}).value_or(0);
  out.p99_tokens = percentile(inputs.shapes, weight.value_or(0), 99, out.longest_tokens);
  out.live_tokens = live_tokens.value_or(0);
  out.block_waste_tokens = waste.value_or(0);
  out.shared_saved_tokens = saved.value_or(0);
  out.paged_tokens = paged.value_or(0);
  out.static_tokens = reserved.value_or(0);
  out.static_waste_micros =
      share(out.static_tokens - std::min(out.static_tokens, out.live_tokens), out.static_tokens);
  out.paged_waste_micros = share(out.block_waste_tokens, in_blocks.value_or(0));
  return out;
}

}  // namespace vramgauge

// Traffic as live tokens: how many requests are under way at once, and what they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "units/checked.h"

namespace vramgauge {

/// Requests of one shape.
struct RequestShape {
  uint64_t prompt_tokens = 0;
  uint64_t output_tokens = 0;
  /// How many of them, beside the other shapes.
  uint64_t weight = 1;
};

struct TrafficInputs {
  std::vector<RequestShape> shapes;
  /// Requests under way at once, on average: arrivals per second x seconds each takes.
  uint64_t live_requests = 1;
  uint64_t block_tokens = 1;
  /// Tokens that all prompts begin with, stored once in whole blocks.
  uint64_t shared_prefix_tokens = 0;
  /// What a reservation of the longest request keeps for each.
  uint64_t reserved_tokens = 0;
};

/// Tokens; each count is rounded up once.
struct Traffic {
  /// Of one request on average over its life: the prompt and half of the output.
  uint64_t mean_tokens = 0;
  /// Prompt and output of a request that 99 of 100 do not exceed.
  uint64_t p99_tokens = 0;
  uint64_t longest_tokens = 0;
  uint64_t live_tokens = 0;
  /// In whole blocks, with the prefix once.
  uint64_t paged_tokens = 0;
  uint64_t block_waste_tokens = 0;
  uint64_t shared_saved_tokens = 0;
  uint64_t static_tokens = 0;
  /// What a static reservation holds beyond live tokens, and paging does not, in millionths of the
  /// reservation.
  uint64_t static_waste_micros = 0;
  uint64_t paged_waste_micros = 0;
};

/// Nothing on overflow and without requests.
std::optional<Traffic> traffic_of(const TrafficInputs& inputs);

}  // namespace vramgauge

// Blocks of a plan, and what the engine makes of the memory that is left for them.
#include <algorithm>

#include "engine/search.h"
#include "engine/vllm_kv_planner.h"

namespace vramgauge {
namespace {

/// Blocks of one group for a request of `tokens` (max_memory_usage_bytes of each spec).
CheckedU64 group_blocks(const VllmKvGroup& group, const VllmKvPlan& plan, uint64_t tokens,
                        CheckedU64 in_flight_tokens) {
  const VllmKvSettings& settings = plan.settings;
  const CheckedU64 held = in_flight_tokens + group.span_tokens;
  switch (group.kind) {
    case VllmKvKind::full:
      return ceil_div(ceil_div(tokens, settings.context_ranks), group.block_tokens);
    case VllmKvKind::sliding:
      return ceil_div(min(held - uint64_t{1}, tokens), group.block_tokens) + uint64_t{1};
    case VllmKvKind::chunked: return ceil_div(min(held, tokens), group.block_tokens);
    case VllmKvKind::cross: return ceil_div(settings.encoder_tokens, group.block_tokens);
    case VllmKvKind::state: break;
  }
  if (settings.state_mode == VllmStateMode::all)
    return ceil_div(tokens, group.block_tokens) + settings.draft_tokens;
  const uint64_t states = settings.state_mode == VllmStateMode::align ? 2 : 1;
  return CheckedU64(states) + settings.draft_tokens;
}

CheckedU64 blocks_of(const VllmKvPlan& plan, uint64_t tokens, CheckedU64 in_flight_tokens) {
  CheckedU64 blocks;
  for (const VllmKvGroup& group : plan.groups)
    blocks += group_blocks(group, plan, tokens, in_flight_tokens);
  return blocks;
}

CheckedU64 in_flight_tokens(const VllmKvPlan& plan) {
  return CheckedU64(plan.settings.max_num_batched_tokens) * plan.rules.batches_in_flight;
}

uint64_t smallest_block(const VllmKvPlan& plan) {
  uint64_t smallest = UINT64_MAX;
  for (const VllmKvGroup& group : plan.groups) {
    if (group.block_tokens > 0) smallest = std::min(smallest, group.block_tokens);
  }
  return smallest == UINT64_MAX ? 0 : smallest;
}

/// Blocks and refusals of one plan.
class Sizer {
 public:
  Sizer(const VllmKvPlan& plan, const std::vector<BytesDelta>& available)
      : plan_(plan), available_(available) {}

  Result<VllmKvPool> pool() {
    VllmKvPool pool;
    const uint64_t len = plan_.settings.max_model_len;
    const CheckedU64 per_request = vllm_blocks_per_request(plan_, len);
    pool.blocks_per_request = per_request.value_or(0);
    pool.num_blocks = UINT64_MAX;
    std::optional<size_t> checked_stage;
    for (size_t stage = 0; stage < plan_.stage_block_bytes.size(); ++stage) {
      const uint64_t block = plan_.stage_block_bytes[stage];
      if (block == 0) continue;
      pool.num_blocks = std::min(pool.num_blocks, bytes_on(stage) / block);
      const bool is_short = CheckedU64(bytes_on(stage)).value_or(0) <
                            (per_request * checked_block(stage)).value_or(UINT64_MAX);
      if (pool.refusal == VllmRefusal::none && (is_short || bytes_on(stage) == 0)) {
        pool.refusal = bytes_on(stage) == 0 ? VllmRefusal::no_memory : VllmRefusal::too_long;
        checked_stage = stage;
      }
      if (!checked_stage) checked_stage = stage;
    }
    if (!checked_stage) return pool_of_nothing(pool);
    if (pool.refusal == VllmRefusal::none) checked_stage = fullest_stage();
    const auto needed = bytes_of(per_request * checked_block(*checked_stage));
    if (!needed)
      return fail(ErrorCode::value_overflow, {}, {{"what", std::string_view("the KV cache")}});
    pool.needed = *needed;
    pool.max_len = longest_request(len);
    add_lines(pool, len);
    return pool;
  }

 private:
  /// A model without any cache always starts.
  static VllmKvPool pool_of_nothing(VllmKvPool pool) {
    pool.num_blocks = 1;
    return pool;
  }

  uint64_t bytes_on(size_t stage) const {
    const int64_t bytes = available_[stage].count();
    return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
  }

  /// Bytes that a request's block is checked against on one stage.
  CheckedU64 checked_block(size_t stage) const {
    const uint64_t block =
        plan_.rules.checks_whole_model ? plan_.model_block_bytes : plan_.stage_block_bytes[stage];
    const uint64_t shares =
        plan_.rules.splits_blocks_over_stages ? plan_.stage_block_bytes.size() : 1;
    return CheckedU64(block) * shares;
  }

  size_t fullest_stage() const {
    size_t fullest = 0;
    for (size_t stage = 1; stage < plan_.stage_block_bytes.size(); ++stage) {
      if (plan_.stage_block_bytes[stage] > plan_.stage_block_bytes[fullest]) fullest = stage;
    }
    return fullest;
  }

  uint64_t longest_request(uint64_t limit) const {
    return largest_that_holds(limit, [this](uint64_t len) {
      const CheckedU64 blocks = vllm_blocks_per_request(plan_, len);
      for (size_t stage = 0; stage < available_.size(); ++stage) {
        const std::optional<uint64_t> needed = (blocks * checked_block(stage)).get();
        if (!needed || *needed > bytes_on(stage)) return false;
      }
      return true;
    });
  }

  void add_lines(VllmKvPool& pool, uint64_t len) const {
    pool.capacity_tokens = pool.blocks_per_request == 0
                               ? 0
                               : scaled(pool.num_blocks, len, pool.blocks_per_request).value_or(0);
    pool.token_line = pool.capacity_tokens;
    if (plan_.rules.token_line_is_concurrency) return;
    const CheckedU64 line = CheckedU64(pool.num_blocks) / uint64_t{plan_.groups.size()} *
                            smallest_block(plan_) * plan_.settings.context_ranks;
    pool.token_line = line.value_or(0);
  }

  const VllmKvPlan& plan_;
  const std::vector<BytesDelta>& available_;
};

}  // namespace

uint64_t VllmKvPool::concurrency_hundredths() const {
  if (blocks_per_request == 0) return 0;
  return (num_blocks * 100 + blocks_per_request / 2) / blocks_per_request;
}

CheckedU64 vllm_blocks_per_request(const VllmKvPlan& plan, uint64_t tokens) {
  return blocks_of(plan, tokens, in_flight_tokens(plan));
}

CheckedU64 vllm_group_blocks(const VllmKvPlan& plan, const VllmKvGroup& group, uint64_t tokens) {
  return group_blocks(group, plan, tokens, in_flight_tokens(plan));
}

CheckedU64 vllm_steady_blocks_per_request(const VllmKvPlan& plan, uint64_t tokens) {
  return blocks_of(plan, tokens, uint64_t{1});
}

Result<VllmKvPool> vllm_kv_pool(const VllmKvPlan& plan, const std::vector<BytesDelta>& available) {
  return Sizer(plan, available).pool();
}

}  // namespace vramgauge

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "plan/log_check.h"

namespace vramgauge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

/// Measured over predicted.
double ratio_of(const CheckRow& row) {
  if (!row.predicted || row.predicted->value <= 0) return 0;
  return static_cast<double>(row.measured) / static_cast<double>(row.predicted->value);
}

bool is_near(double value, double target, double share) {
  return value > target * (1 - share) && value < target * (1 + share);
}

/// One residual and all that may explain it.
struct Case {
  const CheckRow& row;
  const LogCheck& check;
  const EngineLog& log;
  const LogFacts& facts;

  bool is(CheckQuantity quantity) const { return row.quantity == quantity; }
  bool is_per_token() const {
    return is(CheckQuantity::kv_bytes_per_token) || is(CheckQuantity::kv_needed);
  }
  bool is_cache() const {
    return is_per_token() || is(CheckQuantity::kv_cache) || is(CheckQuantity::kv_tokens);
  }
  bool is_more() const { return row.residual() > 0; }
  bool has_flag(std::string_view name) const { return !log.flag(name).empty(); }
  bool is_on(std::string_view name) const { return log.flag(name) == "true"; }
  bool is_large(CheckQuantity quantity) const {
    const CheckRow* other = check.find(quantity);
    return other != nullptr && other->is_large;
  }
};

/// The card that the log names is not the one that was asked about.
bool is_other_card(const Case& c) { return c.is(CheckQuantity::capacity); }

/// Decimal gigabytes in the place of 2^30: 7.4 % off.
bool is_gb_as_gib(const Case& c) {
  constexpr double kUnits = 1.073741824;
  const double ratio = ratio_of(c.row);
  return is_in_bytes(c.row.quantity) && !c.is(CheckQuantity::kv_bytes_per_token) &&
         (is_near(ratio, kUnits, 0.006) || is_near(ratio, 1 / kUnits, 0.006));
}

/// More ranks than heads: every rank keeps a whole head, so its cache does not shrink.
bool is_replicated(const Case& c) {
  if (!c.is_per_token() || c.facts.num_kv_heads == 0) return false;
  const double share =
      static_cast<double>(c.facts.tensor_ranks) / static_cast<double>(c.facts.num_kv_heads);
  return share > 1 && is_near(ratio_of(c.row), share, 0.03);
}

/// Half or twice the bytes: 8 bits in the place of 16, or the reverse; or 32 for 16.
bool is_other_cache_type(const Case& c) {
  const double ratio = ratio_of(c.row);
  return c.is_cache() && (is_near(ratio, 2, 0.04) || is_near(ratio, 0.5, 0.04) ||
                          is_near(ratio, 1.88235, 0.02) || is_near(ratio, 0.53125, 0.02));
}

/// Layers that draft keep a cache of their own: a few more layers than the model has.
bool is_draft(const Case& c) {
  if (!c.is_per_token() || !c.is_more() || c.facts.num_layers == 0) return false;
  const double extra = (ratio_of(c.row) - 1) * static_cast<double>(c.facts.num_layers);
  const bool is_few = extra > 0.8 && extra < 8.2;
  return is_few && (c.has_flag("speculative") || is_near(extra, 1, 0.1));
}

/// Before 0.21 vLLM's line divided the blocks by the groups of layers.
bool is_old_line(const Case& c) {
  return c.is(CheckQuantity::kv_tokens) && c.log.engine == LogEngine::vllm &&
         is_older_release(c.log, 0, 21) && !c.is_more() &&
         (c.log.find(LogQuantity::attention_block_size) != nullptr ||
          c.log.find(LogQuantity::padding_layers) != nullptr || ratio_of(c.row) < 0.55);
}

bool is_other_format(const Case& c) {
  return c.is(CheckQuantity::weights) && std::abs(ratio_of(c.row) - 1) > 0.06;
}

/// Weights that are not split as asked: as many times too much as there are ranks, or parts of it.
bool is_not_split(const Case& c) {
  const auto ranks = static_cast<double>(c.facts.tensor_ranks);
  return c.is(CheckQuantity::weights) && ranks > 1 &&
         (is_near(ratio_of(c.row), ranks, 0.05) || is_near(ratio_of(c.row), 1 / ranks, 0.05));
}

bool has_adapters(const Case& c) {
  return (c.is(CheckQuantity::weights) || c.is(CheckQuantity::activations)) && c.is_more() &&
         c.is_on("enable_lora");
}

/// The allocator of sleep mode hides blocks from the profile: vllm issue 40256.
bool is_asleep(const Case& c) {
  return c.is_on("enable_sleep_mode") &&
         (c.is(CheckQuantity::activations) || c.is(CheckQuantity::runtime) ||
          c.is(CheckQuantity::kv_pool) || c.is(CheckQuantity::kv_tokens));
}

/// The pool is smaller, or the rest larger, by what the engine set aside for graphs.
bool is_graphs(const Case& c) {
  const LogFigure* graphs = c.log.largest(LogQuantity::cuda_graph_est);
  if (graphs == nullptr || graphs->value <= 0) return false;
  const bool is_place = c.is(CheckQuantity::kv_pool) || c.is(CheckQuantity::runtime) ||
                        c.is(CheckQuantity::weights_and_runtime);
  const int64_t off = std::abs(c.row.residual());
  return is_place &&
         std::abs(off - graphs->value) < std::max<int64_t>(graphs->value / 4, kGiB / 16);
}

bool is_vision(const Case& c) {
  return c.is(CheckQuantity::activations) && c.is_more() && c.facts.has_towers;
}

bool is_experts(const Case& c) {
  return c.facts.has_experts && c.is_more() &&
         (c.is(CheckQuantity::activations) || c.is(CheckQuantity::runtime));
}

/// The peak follows the tokens of a step and the requests of a batch, which this log does not
/// state.
bool is_budget(const Case& c) {
  return c.is(CheckQuantity::activations) && c.log.engine == LogEngine::vllm &&
         (!c.has_flag("max_num_batched_tokens") || !c.has_flag("max_num_seqs"));
}

/// Less was free at the start than a quiet card has.
bool is_neighbour(const Case& c) {
  constexpr int64_t kQuiet = kGiB * 3 / 2;
  const LogFigure* total = c.log.find(LogQuantity::gpu_total);
  const LogFigure* free = c.log.smallest(LogQuantity::free_at_start);
  const LogFigure* initial = c.log.largest(LogQuantity::initial_memory_usage);
  const LogFigure* weights = c.log.largest(LogQuantity::weights);
  const bool is_place = c.is(CheckQuantity::runtime) || c.is(CheckQuantity::kv_pool) ||
                        c.is(CheckQuantity::kv_tokens) || c.is(CheckQuantity::weights_and_runtime);
  const bool is_busy = total != nullptr && free != nullptr && total->value - free->value > kQuiet;
  const bool was_taken =
      initial != nullptr && weights != nullptr && initial->value - weights->value > kQuiet;
  return is_place && (is_busy || was_taken);
}

/// The pool is what the rest leaves, and its tokens are what the pool and a token's bytes give.
bool is_consequence(const Case& c) {
  using enum CheckQuantity;
  if (c.is(kv_pool)) {
    return c.is_large(weights) || c.is_large(activations) || c.is_large(runtime) ||
           c.is_large(capacity) || c.is_large(weights_and_runtime);
  }
  return c.is(kv_tokens) && (c.is_large(kv_pool) || c.is_large(kv_bytes_per_token));
}

struct Rule {
  CheckReasonInfo info;
  bool (*holds)(const Case& c);
};

/// In the order of CheckReason, which is that of likelihood.
constexpr Rule kRules[kNumCheckReasons] = {
    {{"other_card", "The log is of another card, or of a part of one."}, is_other_card},
    {{"gb_read_as_gib",
      "The two differ as 10^9 and 2^30 do: engines print 2^30 whatever the label."},
     is_gb_as_gib},
    {{"kv_heads_replicated",
      "There are more tensor ranks than KV heads: every rank keeps a whole head, so the cache of a "
      "token does not shrink further."},
     is_replicated},
    {{"cache_type_differs",
      "The cache has another type than was assumed: twice or half the bytes."},
     is_other_cache_type},
    {{"draft_layers", "Layers that draft tokens keep a cache of their own."}, is_draft},
    {{"old_token_line",
      "This release prints the tokens of one group of layers; the concurrency line gives what the "
      "pool holds."},
     is_old_line},
    {{"weight_format_differs",
      "The weights are of another format, or parts of them stay in 16 bits."},
     is_other_format},
    {{"weights_of_other_ranks", "The weights are split over another number of ranks."},
     is_not_split},
    {{"adapters", "Slots for adapters are held."}, has_adapters},
    {{"sleep_mode", "Sleep mode's allocator hides blocks from the profile."}, is_asleep},
    {{"graphs_deducted", "The engine sets its estimate of the CUDA graphs aside."}, is_graphs},
    {{"vision_profile", "The profile runs the vision or audio tower on its largest input."},
     is_vision},
    {{"expert_workspace", "Kernels for experts take a workspace."}, is_experts},
    {{"token_budget",
      "The log does not state the tokens per step and requests per batch that the "
      "peak follows."},
     is_budget},
    {{"other_process", "Other processes held memory of the card when the engine started."},
     is_neighbour},
    {{"follows_from_others", "It follows from the other differences."}, is_consequence},
};

}  // namespace

const CheckReasonInfo& check_reason_info(CheckReason reason) {
  return kRules[static_cast<uint8_t>(reason)].info;
}

std::vector<CheckReason> likely_reasons(const CheckRow& row, const LogCheck& check,
                                        const EngineLog& log, const LogFacts& facts) {
  std::vector<CheckReason> reasons;
  const Case each = {row, check, log, facts};
  for (uint64_t i = 0; i < kNumCheckReasons; ++i) {
    if (kRules[i].holds(each)) reasons.push_back(static_cast<CheckReason>(i));
  }
  return reasons;
}

}  // namespace vramgauge

#include "engine/llama_cpp_fit.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/llama_cpp_fit_trials.h"

namespace vramgauge {
namespace {

constexpr uint64_t kContextStep = 256;
constexpr uint64_t kHost = LlamaCppOverride::kHost;

/// What a partial layer keeps on its GPU besides its attention.
enum class Kept { all_but_experts, attention, up, up_and_gate };

/// Layers of one GPU: whole ones, behind them partial ones. Only the first partial layer may keep
/// something other than all but its experts, and send the rest to another GPU.
struct Share {
  uint64_t num_layers = 0;
  uint64_t num_partial = 0;
  Kept first_keeps = Kept::all_but_experts;
  uint64_t first_overflows_to = kHost;

  uint64_t num_whole() const { return num_layers - num_partial; }
};
using Shares = std::vector<Share>;

constexpr const char* overflowing_names(Kept kept) {
  switch (kept) {
    case Kept::attention: return "ffn_(gate|up|gate_up|down).*";
    case Kept::up: return "ffn_(gate|gate_up|down).*";
    case Kept::up_and_gate: return "ffn_down.*";
    case Kept::all_but_experts: break;
  }
  return "ffn_(up|down|gate_up|gate)_(ch)?exps";
}

bool has_experts(const LlamaCppModel& model) {
  return std::any_of(model.weights.begin(), model.weights.end(),
                     [](const LlamaCppWeight& weight) { return weight.is_expert; });
}

/// Options that place layers as the shares say.
LlamaCppOptions placed(LlamaCppOptions options, const Shares& shares, uint64_t num_slots) {
  uint64_t num_offloaded = 0;
  for (const Share& share : shares) {
    num_offloaded += share.num_layers;
    if (shares.size() > 1) options.tensor_split.push_back(static_cast<float>(share.num_layers));
  }
  options.n_gpu_layers = static_cast<int64_t>(num_offloaded);
  uint64_t layer = num_slots - num_offloaded;
  std::string without_experts;
  for (const Share& share : shares) {
    layer += share.num_whole();
    for (uint64_t i = 0; i < share.num_partial; ++i, ++layer) {
      if (i == 0 && share.first_keeps != Kept::all_but_experts) {
        options.overrides.push_back(
            {"blk\\." + std::to_string(layer) + "\\." + overflowing_names(share.first_keeps),
             share.first_overflows_to});
        continue;
      }
      without_experts += (without_experts.empty() ? "" : "|") + std::to_string(layer);
    }
  }
  if (!without_experts.empty()) {
    options.overrides.push_back(
        {"blk\\.(" + without_experts + ")\\." + overflowing_names(Kept::all_but_experts), kHost});
  }
  return options;
}

/// How many of `delta` layers to try next, at least 1 and fewer than all: where a straight line
/// from the memory of none (low) to that of all (high) meets the target.
uint64_t false_position(uint64_t delta, int64_t low, int64_t high, int64_t target) {
  if (high <= low || target < low) return delta - 1;
  const CheckedU64 steps = scaled(CheckedU64(delta), static_cast<uint64_t>(target - low),
                                  static_cast<uint64_t>(high - low));
  return std::clamp<uint64_t>(steps.value_or(delta), 1, delta - 1);
}

/// Gives layers to GPUs.
class Placer {
 public:
  Placer(LlamaCppTrials& trials, const LlamaCppOptions& options,
         const std::vector<int64_t>& targets, const LlamaCppModel& model)
      : trials_(trials),
        options_(options),
        targets_(targets),
        num_slots_(model.layers.size() + 1),
        has_experts_(has_experts(model)),
        shares_(targets.size()) {}

  /// Layers from the back, device by device, without experts; then, where all of those fit, experts
  /// from the front.
  void place() {
    const bool experts_may_follow = has_experts_ && has_room_beside_experts();
    used_ = used_by(shares_);
    for (size_t id = shares_.size(); id-- > 0;)
      fill_from_back(id);
    if (!experts_may_follow) return;
    first_partial_ = shares_.size();
    while (first_partial_ > 0 && shares_[first_partial_ - 1].num_layers > 0)
      --first_partial_;
    for (size_t id = 0; id <= first_partial_ && first_partial_ < shares_.size(); ++id) {
      complete_from_front(id);
      try_part_of_one_more(id);
    }
  }

  const Shares& shares() const { return shares_; }
  LlamaCppOptions options() const { return placed(options_, shares_, num_slots_); }

 private:
  std::vector<int64_t> used_by(const Shares& shares) {
    return trials_.usage(placed(options_, shares, num_slots_)).bytes;
  }

  bool is_last(size_t id) const { return id + 1 == shares_.size(); }

  bool has_room_beside_experts() {
    LlamaCppOptions options = options_;
    options.overrides = {
        {std::string("blk\\.\\d+\\.") + overflowing_names(Kept::all_but_experts), kHost}};
    return trials_.usage(options).sum() <
           std::accumulate(targets_.begin(), targets_.end(), int64_t{0});
  }

  /// The output layer, with which the last GPU begins, is always whole. The engine keeps one layer
  /// whole as long as no partial one is there.
  void add_from_back(Share& share, size_t id, uint64_t count) const {
    const bool keeps_one_whole = is_last(id) && share.num_partial == 0;
    share.num_layers += count;
    if (has_experts_) share.num_partial += keeps_one_whole ? count - 1 : count;
  }

  void fill_from_back(size_t id) {
    uint64_t free_layers = num_slots_;
    for (const Share& share : shares_)
      free_layers -= share.num_layers;
    if (free_layers == 0) return;
    const auto with = [&](uint64_t count) {
      Shares shares = shares_;
      add_from_back(shares[id], id, count);
      return shares;
    };
    const Shares all = with(free_layers);
    std::vector<int64_t> high = used_by(all);
    if (high[id] <= targets_[id]) return take(all, std::move(high));
    for (uint64_t delta = free_layers; delta > 1;) {
      const uint64_t step = false_position(delta, used_[id], high[id], targets_[id]);
      Shares shares = with(step);
      std::vector<int64_t> used = used_by(shares);
      if (used[id] <= targets_[id]) {
        take(std::move(shares), std::move(used));
        delta -= step;
      } else {
        high = std::move(used);
        delta = step;
      }
    }
  }

  /// Moves partial layers, from the first GPU that has some on, to whole ones of `id`.
  size_t complete(Shares& shares, size_t id, uint64_t count) const {
    size_t from = first_partial_;
    for (; from < shares.size(); ++from) {
      const uint64_t moved = std::min(count, shares[from].num_partial);
      shares[from].num_layers -= moved;
      shares[from].num_partial -= moved;
      shares[id].num_layers += moved;
      count -= moved;
      if (shares[from].num_partial > 0) break;
    }
    return from;
  }

  void complete_from_front(size_t id) {
    uint64_t partial_layers = 0;
    for (size_t i = first_partial_; i < shares_.size(); ++i)
      partial_layers += shares_[i].num_partial;
    if (partial_layers == 0) return;
    Shares all = shares_;
    complete(all, id, partial_layers);
    std::vector<int64_t> high = used_by(all);
    if (high[id] <= targets_[id]) {
      take(std::move(all), std::move(high));
      first_partial_ = shares_.size() - 1;
      return;
    }
    for (uint64_t delta = partial_layers; delta > 1;) {
      const uint64_t step = false_position(delta, used_[id], high[id], targets_[id]);
      Shares shares = shares_;
      const size_t first_partial = complete(shares, id, step);
      std::vector<int64_t> used = used_by(shares);
      if (used[id] <= targets_[id]) {
        take(std::move(shares), std::move(used));
        first_partial_ = first_partial;
        delta -= step;
      } else {
        high = std::move(used);
        delta = step;
      }
    }
  }

  /// One more layer whose attention and perhaps some of its other matrices fit; what does not goes
  /// to the next GPU, or to host memory behind the last.
  void try_part_of_one_more(size_t id) {
    if (first_partial_ >= shares_.size() || shares_[first_partial_].num_partial == 0) return;
    Shares shares = shares_;
    Share& from = shares[first_partial_];
    --from.num_layers;
    --from.num_partial;
    ++shares[id].num_layers;
    ++shares[id].num_partial;
    const size_t first_partial = first_partial_ + (from.num_partial == 0 ? 1 : 0);
    if (!is_last(id)) shares[id].first_overflows_to = id + 1;
    if (try_keeping(shares, id, Kept::up)) {
      try_keeping(shares, id, Kept::up_and_gate);
    } else if (!try_keeping(shares, id, Kept::attention)) {
      return;
    }
    first_partial_ = first_partial;
  }

  bool try_keeping(Shares shares, size_t id, Kept kept) {
    shares[id].first_keeps = kept;
    std::vector<int64_t> used = used_by(shares);
    const bool fits = used[id] < targets_[id] && (is_last(id) || used[id + 1] < targets_[id + 1]);
    if (fits) take(std::move(shares), std::move(used));
    return fits;
  }

  void take(Shares shares, std::vector<int64_t> used) {
    shares_ = std::move(shares);
    used_ = std::move(used);
  }

  LlamaCppTrials& trials_;
  const LlamaCppOptions& options_;
  const std::vector<int64_t>& targets_;
  /// The decoder's layers and the output layer.
  uint64_t num_slots_;
  bool has_experts_;
  Shares shares_;
  std::vector<int64_t> used_;
  /// The first GPU that has partial layers, while whole ones are being made of them.
  size_t first_partial_ = 0;
};

bool meets(const LlamaCppUsage& usage, const std::vector<int64_t>& targets) {
  return std::equal(usage.bytes.begin(), usage.bytes.end(), targets.begin(),
                    [](int64_t used, int64_t target) { return used <= target; });
}

/// What each GPU may use: its memory less CUDA's own and the margin.
std::vector<int64_t> targets_of(const LlamaCppMachine& machine, const LlamaCppConstants& constants,
                                Bytes margin) {
  const auto kept = static_cast<int64_t>(margin.count());
  std::vector<int64_t> targets;
  for (const HardwareSpec& gpu : machine.gpus) {
    const uint64_t usable = gpu.usable.count();
    const uint64_t context = std::min(usable, constants.cuda_context.value.count());
    targets.push_back(static_cast<int64_t>(usable - context) - kept);
  }
  if (!targets.empty()) return targets;
  const bool is_known = machine.host_ram != Bytes();
  const uint64_t host = is_known ? machine.host_ram.count() : 2 * kMaxApiBytes;
  targets.push_back(static_cast<int64_t>(host) - kept);
  return targets;
}

/// On several GPUs only whole layers, or matrices of a third of one, can be moved: half of one is
/// thought to be lost on each GPU and once more.
int64_t expected_waste(const LlamaCppModel& model, const LlamaCppOptions& options,
                       const LlamaCppUsage& usage) {
  const auto num_gpus = static_cast<int64_t>(usage.bytes.size());
  if (num_gpus <= 1) return 0;
  const auto num_layers = static_cast<int64_t>(model.layers.size());
  const int64_t divisor =
      options.n_gpu_layers < 0 ? num_layers : std::min(options.n_gpu_layers, num_layers);
  if (divisor == 0) return 0;
  return (num_gpus + 1) * (usage.weights_bytes / divisor) / (has_experts(model) ? 6 : 2);
}

/// Shortens a free context along a straight line between the shortest and the model's own; true
/// when that should be enough.
bool shorten_context(const LlamaCppModel& model, LlamaCppTrials& trials, const LlamaCppUsage& usage,
                     const std::vector<int64_t>& targets, uint64_t min_tokens,
                     LlamaCppOptions& options) {
  const uint64_t max_tokens = model.spec.max_context_tokens;
  if (options.ctx_tokens != 0 || max_tokens <= min_tokens) return false;
  const int64_t target = std::accumulate(targets.begin(), targets.end(), int64_t{0}) -
                         expected_waste(model, options, usage);
  options.ctx_tokens = min_tokens;
  const int64_t least = trials.usage(options).sum();
  const int64_t most = usage.sum();
  if (target <= least || most <= least) return false;
  const CheckedU64 more =
      scaled(CheckedU64(max_tokens - min_tokens), static_cast<uint64_t>(target - least),
             static_cast<uint64_t>(most - least));
  const uint64_t tokens = min_tokens + more.value_or(0);
  options.ctx_tokens = std::max(tokens - tokens % kContextStep, min_tokens);
  return true;
}

bool is_placement_free(const LlamaCppOptions& options) {
  return options.n_gpu_layers < 0 && options.tensor_split.empty() && options.overrides.empty() &&
         options.n_cpu_moe == 0;
}

/// Decides; leaves the estimate to be made.
LlamaCppFit decide(const LlamaCppModel& model, const LlamaCppOptions& options,
                   LlamaCppTrials& trials, const std::vector<int64_t>& targets, bool has_gpus,
                   uint64_t min_tokens) {
  LlamaCppFit fit;
  fit.options = options;
  const LlamaCppUsage usage = trials.usage(options);
  if (meets(usage, targets)) return fit;
  const int64_t room = std::accumulate(targets.begin(), targets.end(), int64_t{0});
  const bool is_short = usage.sum() > room;
  if (is_short && shorten_context(model, trials, usage, targets, min_tokens, fit.options) &&
      targets.size() == 1) {
    fit.outcome = LlamaCppFitOutcome::less_context;
    return fit;
  }
  if (!has_gpus || !is_placement_free(options)) {
    fit.outcome = LlamaCppFitOutcome::given_up;
    return fit;
  }
  Placer placer(trials, fit.options, targets, model);
  placer.place();
  fit.outcome = LlamaCppFitOutcome::placed;
  for (const Share& share : placer.shares())
    fit.shares.push_back({share.num_layers, share.num_partial});
  fit.options = placer.options();
  return fit;
}

}  // namespace

std::string_view llama_cpp_fit_outcome_name(LlamaCppFitOutcome outcome) {
  switch (outcome) {
    case LlamaCppFitOutcome::unchanged: return "unchanged";
    case LlamaCppFitOutcome::less_context: return "less_context";
    case LlamaCppFitOutcome::placed: return "placed";
    case LlamaCppFitOutcome::given_up: break;
  }
  return "given_up";
}

Result<LlamaCppFit> fit_llama_cpp(const LlamaCppModel& model, const LlamaCppOptions& options,
                                  const LlamaCppMachine& machine, const LlamaCppExtras& extras,
                                  const LlamaCppConstants& constants,
                                  const LlamaCppFitTargets& targets) {
  LlamaCppTrials trials(model, machine, extras, constants);
  const std::vector<int64_t> budgets = targets_of(machine, constants, targets.margin);
  LlamaCppFit fit =
      decide(model, options, trials, budgets, !machine.gpus.empty(), targets.min_context_tokens);
  fit.meets_targets = meets(trials.usage(fit.options), budgets);
  if (!trials.errors().empty()) return fail(trials.errors());
  auto estimate = estimate_llama_cpp(model, fit.options, machine, extras, constants);
  if (!estimate) return fail(std::move(estimate.error()));
  fit.estimate = std::move(*estimate);
  return fit;
}

}  // namespace vramgauge

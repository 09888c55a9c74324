#include "engine/sglang.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/search.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr Bytes kLargeCard = GiB(60);
constexpr uint64_t kFewestChunkTokens = 2048;
/// States that prefix caching keeps per running request.
constexpr uint64_t kStatesPerRequest = 3;
constexpr uint64_t kManyRanks = 4;
constexpr uint64_t kMostRequests = 1'000'000;
constexpr uint64_t kLongestContext = 1'000'000'000;
/// Sequences past which a graph of replicated attention takes more.
constexpr uint64_t kLargeGraph = 300;

/// Prefill chunk and largest graph by card (server_args.py, _handle_gpu_memory_settings).
struct CardTier {
  Bytes below;
  uint64_t chunk_tokens;
  uint64_t graph_bs;
  /// From four tensor ranks on.
  uint64_t graph_bs_many;
};
constexpr std::array<CardTier, 5> kTiers = {{
    {GiB(20), 2048, 8, 8},
    {GiB(35), 2048, 24, 80},
    {GiB(60), 4096, 32, 160},
    {GiB(160), 8192, 256, 512},
    {Bytes(kMaxApiBytes), 16384, 512, 512},
}};

const CardTier& tier_of(Bytes total) {
  return *std::find_if(kTiers.begin(), kTiers.end() - 1,
                       [total](const CardTier& tier) { return total < tier.below; });
}

tl::unexpected<Diagnostics> overflow() {
  return fail(ErrorCode::value_overflow, {}, {{"what", std::string_view("the memory needed")}});
}

uint64_t positive(int64_t bytes) { return bytes > 0 ? static_cast<uint64_t>(bytes) : 0; }

/// One estimate under way.
class Estimator {
 public:
  Estimator(const SglangInputs& inputs, const SglangProfile& profile)
      : inputs_(inputs), profile_(profile) {
    const CardTier& tier = tier_of(inputs.device_total);
    const bool has_many = inputs.plan.tensor_ranks >= kManyRanks;
    out_.chunked_prefill_size =
        inputs.chunked_prefill_size != 0 ? inputs.chunked_prefill_size : tier.chunk_tokens;
    out_.cuda_graph_max_bs = inputs.cuda_graph_max_bs != 0 ? inputs.cuda_graph_max_bs
                             : has_many                    ? tier.graph_bs_many
                                                           : tier.graph_bs;
    ratio_ = inputs.swa_full_tokens_ratio.value_or(profile.swa_full_tokens_ratio.value);
  }

  Result<SglangEstimate> estimate() {
    out_.rule_reserve = bytes_of(rule_reserve()).value_or(Bytes(kMaxApiBytes));
    out_.mem_fraction_static = inputs_.mem_fraction_static.value_or(default_fraction());
    for (uint64_t stage = 0; stage < inputs_.plan.pipeline_stages; ++stage) {
      if (auto added = add_stage(stage); !added) return fail(added.error());
    }
    if (auto finished = finish(); !finished) return fail(finished.error());
    return std::move(out_);
  }

 private:
  /// For activations, graphs and the rest.
  CheckedU64 rule_reserve() const {
    const uint64_t ranks = inputs_.plan.tensor_ranks * inputs_.plan.pipeline_stages;
    const CheckedU64 chunk = std::max(out_.chunked_prefill_size, kFewestChunkTokens);
    CheckedU64 reserve =
        CheckedU64(kMiB) * profile_.reserve_mib.value +
        chunk * kMiB * profile_.reserve_token_mib.value +
        CheckedU64(ranks) * kMiB * profile_.reserve_rank_mib.value +
        CheckedU64(out_.cuda_graph_max_bs) * kMiB * profile_.reserve_graph_mib.value;
    const CheckedU64 replicated = CheckedU64(out_.cuda_graph_max_bs) * inputs_.attention_replicas;
    if (inputs_.attention_replicas > 1) {
      reserve += replicated * kMiB * profile_.reserve_replica_mib.value;
      if (out_.cuda_graph_max_bs > kLargeGraph)
        reserve += replicated * kMiB * profile_.reserve_replica_large_mib.value;
    }
    if (inputs_.device_total > kLargeCard)
      reserve = max(reserve, CheckedU64(kMiB) * profile_.reserve_large_card_mib.value);
    if (inputs_.has_draft_model) reserve += CheckedU64(kMiB) * profile_.reserve_draft_mib.value;
    return reserve;
  }

  /// (capacity - reserve) / capacity, to three places.
  Decimal default_fraction() const {
    constexpr uint64_t kThousandth = Decimal::kScale / 1000;
    const CheckedU64 left = checked(inputs_.device_total) - rule_reserve();
    if (!left.valid()) return Decimal();
    const uint64_t micros = scaled(left, Decimal::kScale, inputs_.device_total.count()).value_or(0);
    return Decimal::from_micros((micros + kThousandth / 2) / kThousandth * kThousandth);
  }

  Result<void> add_stage(uint64_t stage) {
    auto sums = cache_sums(*inputs_.spec, inputs_.plan, stage,
                           inputs_.plan.tensor_ranks / inputs_.attention_replicas,
                           inputs_.cache_type, inputs_.state_precision);
    if (!sums) return fail(std::move(sums.error()));
    out_.caches.push_back(*sums);
    windows_ = std::max(windows_, sums->largest_window_tokens);
    has_full_ = has_full_ || sums->full_bytes.value_or(0) > 0;
    has_states_ = has_states_ || sums->state_bytes.value_or(0) > 0;
    out_.counts = counts();
    auto loaded = loaded_weights(inputs_, stage);
    BandedBytes outside = CheckedU64(kGiB) * profile_.context_gib;
    const CheckedU64 start =
        checked(inputs_.device_total) - checked(inputs_.held_by_others) - outside.value;
    const CheckedU64 share = start * out_.mem_fraction_static;
    BandedBytes after_load = CheckedU64(kGiB) * profile_.after_load_gib;
    const CheckedU64 context = outside.value;
    outside += after_load;
    auto runtime = total_of(outside, Basis::measured);
    const CheckedU64 cached = request_bytes(*sums, out_.counts) * inputs_.num_requests;
    const auto needed = total_of({cached, cached, cached}, Basis::exact);
    const CheckedU64 reserve = start - share;
    auto activations = total_of({reserve, reserve, reserve}, Basis::assumed);
    if (!loaded || !runtime || !needed || !activations) return overflow();
    const auto moved = calibrate({{TermId::weights, &*loaded},
                                  {TermId::activations, &*activations},
                                  {TermId::runtime, &*runtime}},
                                 inputs_.calibration);
    if (!moved) return fail(moved.error());
    if (inputs_.calibration.added_bytes(TermId::runtime)) {
      after_load = {checked(runtime->bytes) - context, checked(runtime->low) - context,
                    checked(runtime->high) - context};
    }
    const auto rest = [&share](Bytes w, CheckedU64 later) {
      return BytesDelta(static_cast<int64_t>(share.value_or(0)) - static_cast<int64_t>(w.count()) -
                        static_cast<int64_t>(later.value_or(0)));
    };
    const BytesDelta value = rest(loaded->bytes, after_load.value);
    const BytesDelta least = rest(loaded->high, after_load.high);
    if (stage == 0) {
      out_.share = bytes_of(share).value_or(Bytes());
      out_.rest = value;
      out_.rest_least = least;
      out_.rest_most = rest(loaded->low, after_load.low);
    }
    shrink(out_.pools, pools_of(*sums, positive(value.count())), stage);
    shrink(out_.pools_least, pools_of(*sums, positive(least.count())), stage);
    add_device(out_.breakdown, inputs_, stage,
               {term_of(TermId::weights, *loaded, "weights as loaded"),
                term_of(TermId::kv_cache, *needed, "model_runner_kv_cache_mixin.py"),
                term_of(TermId::activations, *activations, "1 - mem_fraction_static"),
                term_of(TermId::runtime, *runtime, "start-up logs")});
    return {};
  }

  /// What the workload's requests hold at once; three states each, for prefixes.
  CacheCounts counts() const {
    CacheCounts counts;
    counts.num_requests = inputs_.num_requests;
    counts.tokens = inputs_.context_tokens;
    counts.window_tokens = std::min(inputs_.context_tokens, windows_ + out_.chunked_prefill_size);
    counts.states = kStatesPerRequest;
    return counts;
  }

  /// Splits what is left: states by their ratio, then full layers and windows by theirs.
  SglangPools pools_of(const CacheSums& sums, uint64_t rest) const {
    SglangPools pools;
    const CheckedU64 states = sums.state_bytes;
    CheckedU64 left = rest;
    if (states.value_or(0) > 0) {
      const uint64_t micros = profile_.mamba_full_memory_ratio.value.micros();
      pools.states = (scaled(left, micros, micros + Decimal::kScale) / states).value_or(0);
      pools.max_requests = pools.states / kStatesPerRequest;
      left = left - states * pools.states;
    }
    const bool has_full = sums.full_bytes.value_or(0) > 0;
    const bool has_windows = sums.window_bytes.value_or(0) > 0;
    const CheckedU64 per_token =
        has_full ? sums.full_bytes + sums.window_bytes * ratio_ : sums.window_bytes;
    if (!has_full && !has_windows) return pools;
    pools.full_tokens = (left / per_token).value_or(0);
    if (inputs_.max_total_tokens != 0)
      pools.full_tokens = std::min(pools.full_tokens, inputs_.max_total_tokens);
    if (has_windows)
      pools.window_tokens =
          has_full ? (CheckedU64(pools.full_tokens) * ratio_).value_or(0) : pools.full_tokens;
    const uint64_t page = std::max<uint64_t>(inputs_.page_size, 1);
    pools.full_tokens -= pools.full_tokens % page;
    pools.window_tokens -= pools.window_tokens % page;
    return pools;
  }

  /// All stages take the least of them.
  static void shrink(SglangPools& all, const SglangPools& stage, uint64_t index) {
    if (index == 0) {
      all = stage;
      return;
    }
    all.full_tokens = std::min(all.full_tokens, stage.full_tokens);
    all.window_tokens = std::min(all.window_tokens, stage.window_tokens);
    all.states = std::min(all.states, stage.states);
    all.max_requests = std::min(all.max_requests, stage.max_requests);
  }

  uint64_t most_running() const {
    return inputs_.max_running_requests == 0 ? UINT64_MAX : inputs_.max_running_requests;
  }

  bool serves(const SglangPools& pools, uint64_t requests, uint64_t context_tokens) const {
    const uint64_t in_window = std::min(context_tokens, windows_ + out_.chunked_prefill_size);
    const auto holds = [requests](uint64_t pool, uint64_t tokens) {
      return (CheckedU64(requests) * tokens).value_or(UINT64_MAX) <= pool;
    };
    return (!has_full_ || holds(pools.full_tokens, context_tokens)) &&
           (windows_ == 0 || holds(pools.window_tokens, in_window)) &&
           (!has_states_ || requests <= pools.max_requests) && requests <= most_running();
  }

  bool serves(const SglangPools& pools) const {
    return serves(pools, inputs_.num_requests, inputs_.context_tokens);
  }

  /// Bytes that the workload lacks in the pools, and those of requests that are not taken.
  CheckedU64 missing(const CacheSums& sums) const {
    const SglangPools& pools = out_.pools;
    const uint64_t requests = inputs_.num_requests;
    const auto beyond = [](CheckedU64 needed, uint64_t there) {
      const CheckedU64 rest = needed - there;
      return needed.valid() && !rest.valid() ? CheckedU64() : rest;
    };
    CheckedU64 bytes =
        beyond(CheckedU64(requests) * inputs_.context_tokens, pools.full_tokens) * sums.full_bytes;
    bytes += beyond(CheckedU64(requests) * out_.counts.window_tokens, pools.window_tokens) *
             sums.window_bytes;
    if (has_states_)
      bytes += beyond(requests, pools.max_requests) * sums.state_bytes * kStatesPerRequest;
    return bytes + beyond(requests, most_running()) * request_bytes(sums, out_.counts);
  }

  /// The most of something that the pools serve; nothing when it has no limit.
  template <typename Question>
  static std::optional<uint64_t> most(uint64_t limit, const Question& question) {
    const uint64_t found = largest_that_holds(limit, question);
    return found == limit ? std::nullopt : std::optional<uint64_t>(found);
  }

  Result<void> finish() {
    set_worst_device(out_.breakdown);
    const CacheSums& worst = out_.caches[index_of(out_.breakdown.verdict.worst_device)];
    auto cache = cache_summary(worst, out_.counts);
    if (!cache) return fail(std::move(cache.error()));
    out_.breakdown.cache = *cache;
    out_.breakdown.verdict.state = serves(out_.pools_least) ? VerdictState::fits
                                   : serves(out_.pools)     ? VerdictState::tight
                                                            : VerdictState::does_not_fit;
    set_shortage(out_.breakdown.verdict, missing(worst));
    out_.starts = out_.pools.full_tokens > 0 || (!has_full_ && out_.pools.states > 0);
    Answers& answers = out_.breakdown.answers;
    if (has_full_ || windows_ != 0) answers.max_cached_tokens = out_.pools.full_tokens;
    answers.max_context_tokens = most(kLongestContext, [this](uint64_t tokens) {
      return serves(out_.pools, inputs_.num_requests, tokens);
    });
    answers.max_requests = most(kMostRequests, [this](uint64_t requests) {
      return serves(out_.pools, requests, inputs_.context_tokens);
    });
    return {};
  }

  const SglangInputs& inputs_;
  const SglangProfile& profile_;
  Decimal ratio_;
  uint64_t windows_ = 0;
  bool has_full_ = false;
  bool has_states_ = false;
  SglangEstimate out_;
};

}  // namespace

Result<SglangProfile> sglang_profile(const json::Value& entry, uint64_t release) {
  Diagnostics errors;
  const VersionedConstants constants(entry, release, errors);
  SglangProfile profile;
  profile.reserve_mib = constants.banded("reserve_mib");
  profile.reserve_token_mib = constants.banded("reserve_token_mib");
  profile.reserve_rank_mib = constants.banded("reserve_rank_mib");
  profile.reserve_graph_mib = constants.banded("reserve_graph_mib");
  profile.reserve_large_card_mib = constants.banded("reserve_large_card_mib");
  profile.reserve_draft_mib = constants.banded("reserve_draft_mib");
  profile.reserve_replica_mib = constants.banded("reserve_replica_mib");
  profile.reserve_replica_large_mib = constants.banded("reserve_replica_large_mib");
  profile.swa_full_tokens_ratio = constants.banded("swa_full_tokens_ratio");
  profile.mamba_full_memory_ratio = constants.banded("mamba_full_memory_ratio");
  profile.context_gib = constants.banded("context_gib");
  profile.after_load_gib = constants.banded("after_load_gib");
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

Result<SglangEstimate> estimate_sglang(const SglangInputs& inputs, const SglangProfile& profile) {
  if (inputs.attention_replicas == 0 || inputs.plan.tensor_ranks % inputs.attention_replicas != 0) {
    return fail(ErrorCode::engine_not_divisible, {},
                {{"what", std::string_view("tensor_ranks")},
                 {"size", inputs.plan.tensor_ranks},
                 {"ranks", inputs.attention_replicas}});
  }
  return Estimator(inputs, profile).estimate();
}

}  // namespace vramgauge

#include "engine/trtllm.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kStreams = 3;

/// One estimate under way.
class Estimator {
 public:
  Estimator(const TrtllmInputs& inputs, const TrtllmProfile& profile)
      : inputs_(inputs), profile_(profile) {
    fraction_ = inputs.free_gpu_memory_fraction.value_or(profile.free_gpu_memory_fraction.value);
    block_tokens_ =
        inputs.tokens_per_block != 0 ? inputs.tokens_per_block : profile.tokens_per_block;
    out_.max_num_tokens =
        inputs.max_num_tokens != 0 ? inputs.max_num_tokens : profile.max_num_tokens;
    out_.tokens_per_block = block_tokens_;
    out_.free_gpu_memory_fraction = fraction_;
    const CheckedU64 tokens = round_up(inputs.context_tokens, block_tokens_);
    out_.counts = {inputs.num_requests, tokens.value_or(UINT64_MAX), tokens.value_or(UINT64_MAX),
                   1};
  }

  Result<TrtllmEstimate> estimate() {
    for (uint64_t stage = 0; stage < inputs_.plan.pipeline_stages; ++stage) {
      if (auto added = add_stage(stage); !added) return fail(added.error());
    }
    if (auto finished = finish(); !finished) return fail(finished.error());
    return std::move(out_);
  }

 private:
  /// Half to twice the estimate: kernels differ.
  BandedBytes activations() const {
    const CheckedU64 wide =
        ceil_div(active_intermediate_size(*inputs_.spec), inputs_.plan.tensor_ranks);
    const CheckedU64 bytes = CheckedU64(out_.max_num_tokens) * kActivationElementBytes * kStreams *
                             (wide + inputs_.spec->hidden_size);
    return {bytes, bytes / uint64_t{2}, bytes * uint64_t{2}};
  }

  Result<void> add_stage(uint64_t stage) {
    const auto sums = cache_sums(*inputs_.spec, inputs_.plan, stage, inputs_.plan.tensor_ranks,
                                 inputs_.cache_type, inputs_.state_precision);
    if (!sums) return fail(sums.error());
    out_.caches.push_back(*sums);
    const CheckedU64 token_bytes = sums->full_bytes + sums->window_bytes;
    // A state for each request that may run at once.
    const CheckedU64 states =
        sums->state_bytes * std::max(inputs_.max_batch_size, inputs_.num_requests);
    auto loaded = loaded_weights(inputs_, stage);
    auto peak = total_of(activations(), Basis::modelled);
    BandedBytes fixed = CheckedU64(kGiB) * profile_.runtime_gib;
    fixed += {states, states, states};
    auto runtime = total_of(fixed, Basis::measured);
    const CheckedU64 blocks =
        ceil_div(inputs_.context_tokens, block_tokens_) * inputs_.num_requests;
    const CheckedU64 cache = blocks * block_tokens_ * token_bytes;
    const auto needed = total_of({cache, cache, cache}, Basis::exact);
    if (!loaded) return fail(loaded.error());
    if (!peak) return fail(peak.error());
    if (!runtime) return fail(runtime.error());
    if (!needed) return fail(needed.error());
    const auto moved = calibrate(
        {{TermId::weights, &*loaded}, {TermId::activations, &*peak}, {TermId::runtime, &*runtime}},
        inputs_.calibration);
    if (!moved) return fail(moved.error());
    const auto left = [this](Bytes w, Bytes a, Bytes r) {
      return (inputs_.device_total - w).count() - static_cast<int64_t>(a.count()) -
             static_cast<int64_t>(r.count()) - static_cast<int64_t>(inputs_.held_by_others.count());
    };
    const int64_t free = left(loaded->bytes, peak->bytes, runtime->bytes);
    const int64_t least = left(loaded->high, peak->high, runtime->high);
    const auto tokens_of = [&](int64_t bytes) {
      // States alone need nothing of the pool.
      if (token_bytes.value_or(1) == 0 && bytes > 0) return UINT64_MAX;
      const CheckedU64 pool =
          CheckedU64(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))) * fraction_;
      return (pool / (token_bytes * block_tokens_) * block_tokens_).value_or(uint64_t{0});
    };
    if (stage == 0) {
      out_.free = BytesDelta(free);
      out_.pool =
          bytes_of(CheckedU64(static_cast<uint64_t>(std::max<int64_t>(free, 0))) * fraction_)
              .value_or(Bytes());
      out_.pool_tokens = least_tokens_ = UINT64_MAX;
    }
    out_.pool_tokens = std::min(out_.pool_tokens, tokens_of(free));
    least_tokens_ = std::min(least_tokens_, tokens_of(least));
    add_device(out_.breakdown, inputs_, stage,
               {term_of(TermId::weights, *loaded, "weights as loaded"),
                term_of(TermId::kv_cache, *needed, "KvCacheConfig"),
                term_of(TermId::activations, *peak, "forward pass of max_num_tokens"),
                term_of(TermId::runtime, *runtime, "start-up logs")});
    return {};
  }

  uint64_t most_running() const {
    return inputs_.max_batch_size == 0 ? UINT64_MAX : inputs_.max_batch_size;
  }

  bool serves(uint64_t pool_tokens) const {
    const CheckedU64 tokens =
        round_up(inputs_.context_tokens, block_tokens_) * inputs_.num_requests;
    return tokens.value_or(UINT64_MAX) <= pool_tokens && inputs_.num_requests <= most_running();
  }

  Result<void> finish() {
    set_worst_device(out_.breakdown);
    const CacheSums& worst = out_.caches[index_of(out_.breakdown.verdict.worst_device)];
    auto cache = cache_summary(worst, out_.counts);
    if (!cache) return fail(std::move(cache.error()));
    out_.breakdown.cache = *cache;
    out_.breakdown.verdict.state = serves(least_tokens_)      ? VerdictState::fits
                                   : serves(out_.pool_tokens) ? VerdictState::tight
                                                              : VerdictState::does_not_fit;
    const CheckedU64 each = request_bytes(worst, out_.counts);
    const uint64_t served = std::min(inputs_.num_requests, most_running());
    const CheckedU64 pool = CheckedU64(out_.pool_tokens) * (worst.full_bytes + worst.window_bytes);
    const CheckedU64 lacking = each * served - pool;
    set_shortage(out_.breakdown.verdict, each * (inputs_.num_requests - served) +
                                             (lacking.valid() ? lacking : CheckedU64()));
    Answers& answers = out_.breakdown.answers;
    if (out_.pool_tokens == UINT64_MAX) return {};
    answers.max_cached_tokens = out_.pool_tokens;
    const uint64_t share = out_.pool_tokens / std::max<uint64_t>(inputs_.num_requests, 1);
    answers.max_context_tokens = share - share % std::max<uint64_t>(block_tokens_, 1);
    const uint64_t tokens = std::max<uint64_t>(out_.counts.tokens, 1);
    answers.max_requests = std::min(out_.pool_tokens / tokens, most_running());
    return {};
  }

  const TrtllmInputs& inputs_;
  const TrtllmProfile& profile_;
  Decimal fraction_;
  uint64_t block_tokens_ = 0;
  uint64_t least_tokens_ = 0;
  TrtllmEstimate out_;
};

}  // namespace

Result<TrtllmProfile> trtllm_profile(const json::Value& entry, uint64_t release) {
  Diagnostics errors;
  const VersionedConstants constants(entry, release, errors);
  TrtllmProfile profile;
  profile.free_gpu_memory_fraction = constants.banded("free_gpu_memory_frac");
  profile.tokens_per_block = constants.whole("tokens_per_block");
  profile.max_num_tokens = constants.whole("max_num_tokens");
  profile.runtime_gib = constants.banded("runtime_gib");
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

Result<TrtllmEstimate> estimate_trtllm(const TrtllmInputs& inputs, const TrtllmProfile& profile) {
  return Estimator(inputs, profile).estimate();
}

}  // namespace vramgauge

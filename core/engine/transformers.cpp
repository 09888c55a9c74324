#include "engine/transformers.h"

#include <algorithm>

#include "engine/search.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kFloatBytes = 4;
constexpr uint64_t kIndexBytes = 8;
constexpr uint64_t kMostRequests = 1'000'000;
constexpr uint64_t kLongestContext = 1'000'000'000;

/// Heads of a layer, as far as attention's activations depend on them.
struct Heads {
  uint64_t num_heads = 0;
  uint64_t query_elements = 0;
  uint64_t cached_elements = 0;
};

Heads heads_of(const Attention& attention) {
  return {attention.num_heads, attention.num_heads * attention.head_dim,
          attention.num_kv_heads * (attention.head_dim + attention.v_head_dim)};
}

/// Latents are expanded before they are cached: every head has keys and values of its own
/// (models/deepseek_v3/modeling_deepseek_v3.py).
Heads heads_of(const Mixer& mixer) {
  if (const auto* latent = std::get_if<LatentAttention>(&mixer))
    return heads_of(expanded_heads(*latent));
  const auto* attention = std::get_if<Attention>(&mixer);
  return attention == nullptr ? Heads() : heads_of(*attention);
}

/// Channels of a mixer that is not attention.
uint64_t channels_of(const Mixer& mixer) {
  if (const auto* mamba = std::get_if<Mamba1>(&mixer)) return mamba->d_inner;
  if (const auto* mamba2 = std::get_if<Mamba2>(&mixer)) return mamba2->num_heads * mamba2->head_dim;
  if (const auto* delta = std::get_if<GatedDelta>(&mixer))
    return delta->num_v_heads * delta->v_head_dim;
  if (const auto* linear = std::get_if<LinearAttention>(&mixer))
    return linear->num_heads * linear->head_dim;
  if (const auto* convolution = std::get_if<ShortConv>(&mixer)) return convolution->dim;
  if (const auto* rwkv = std::get_if<Rwkv>(&mixer)) return rwkv->hidden_size;
  const auto* lru = std::get_if<GatedLru>(&mixer);
  return lru == nullptr ? 0 : lru->width;
}

/// Bytes per token of such a mixer: two streams, what enters it twice as wide, and what the
/// convolution and the recurrence make of it.
CheckedU64 recurrent_bytes(const Mixer& mixer, const TransformersInputs& inputs) {
  const uint64_t channels = channels_of(mixer);
  if (channels == 0) return {};
  return (CheckedU64(inputs.spec->hidden_size) * uint64_t{2} + CheckedU64(channels) * uint64_t{4}) *
         inputs.dtype_bytes;
}

/// Bytes per token of a feed-forward's widest moment, residual and normed states included.
CheckedU64 feed_forward_bytes(const Ffn& ffn, const TransformersInputs& inputs,
                              const TransformersProfile& profile) {
  const CheckedU64 hidden = inputs.spec->hidden_size;
  const CheckedU64 streams = hidden * uint64_t{2};
  if (const auto* dense = std::get_if<DenseFfn>(&ffn)) {
    // The activated gate, the projection and their product.
    const uint64_t copies = dense->is_gated ? 3 : 2;
    return (streams + CheckedU64(dense->intermediate_size) * copies) * inputs.dtype_bytes;
  }
  const auto* experts = std::get_if<MoeFfn>(&ffn);
  if (experts == nullptr) return streams * inputs.dtype_bytes;
  const CheckedU64 width = experts->moe_intermediate_size;
  const CheckedU64 chosen = experts->num_experts_per_tok;
  const CheckedU64 all = experts->num_experts;
  // The sum of the experts' outputs stands beside the two streams, and so do the router's scores.
  CheckedU64 bytes = hidden * uint64_t{3} * inputs.dtype_bytes + all * kFloatBytes;
  if (profile.has_grouped_experts) {
    // Tokens gathered and sorted, gate and up with their product, outputs weighted and put back.
    bytes += chosen * (hidden * uint64_t{4} + width * uint64_t{3}) * inputs.dtype_bytes;
  } else {
    // A mask of 64-bit integers, and the tokens of one expert.
    bytes +=
        chosen * all * kIndexBytes +
        ceil_div(chosen * (hidden * uint64_t{3} + width * uint64_t{3}) * inputs.dtype_bytes, all);
  }
  const CheckedU64 shared =
      (streams + CheckedU64(experts->shared_intermediate_size) * uint64_t{3}) * inputs.dtype_bytes;
  return max(bytes, shared);
}

/// One estimate under way.
class Estimator {
 public:
  /// `caches` = those of the stages where they are known, or null.
  Estimator(const TransformersInputs& inputs, const TransformersProfile& profile,
            const std::vector<CacheSums>* caches = nullptr)
      : inputs_(inputs), profile_(profile) {
    if (caches != nullptr) out_.caches = *caches;
    prompt_ =
        std::clamp<uint64_t>(inputs.prompt_tokens, 1, std::max<uint64_t>(inputs.context_tokens, 1));
    for (const Layer& layer : inputs.spec->layers) {
      widest_ffn_ = max(widest_ffn_, feed_forward_bytes(layer.ffn, inputs, profile));
      for (const Mixer& mixer : layer.mixers) {
        widest_ = wider(widest_, heads_of(mixer));
        widest_ffn_ = max(widest_ffn_, recurrent_bytes(mixer, inputs));
      }
    }
  }

  Result<TransformersEstimate> estimate() {
    out_.prefill = prefill_peak();
    out_.decode = decode_peak();
    for (uint64_t stage = out_.caches.size(); stage < inputs_.plan.pipeline_stages; ++stage) {
      auto sums = cache_sums(*inputs_.spec, inputs_.plan, stage, 1, inputs_.cache_type,
                             inputs_.state_precision, true);
      if (!sums) return fail(std::move(sums.error()));
      out_.caches.push_back(*sums);
    }
    out_.is_prefill_higher = highest(true) >= highest(false);
    for (uint64_t stage = 0; stage < out_.caches.size(); ++stage) {
      if (auto added = add_stage(stage); !added) return fail(added.error());
    }
    if (auto summed = set_cache(); !summed) return fail(summed.error());
    set_verdict();
    return std::move(out_);
  }

 private:
  static Heads wider(const Heads& a, const Heads& b) {
    return {std::max(a.num_heads, b.num_heads), std::max(a.query_elements, b.query_elements),
            std::max(a.cached_elements, b.cached_elements)};
  }

  CheckedU64 requests() const { return inputs_.num_requests; }

  /// Keys that a prompt's queries meet: all slots of a static cache.
  uint64_t slots() const { return inputs_.is_static ? inputs_.context_tokens : prompt_; }

  /// Scores of plain attention: bf16 is widened before the softmax and narrowed after it.
  uint64_t score_bytes() const { return inputs_.dtype_bytes == kFloatBytes ? 8 : 10; }

  CheckedU64 attention_peak() const {
    const CheckedU64 tokens = requests() * prompt_;
    const CheckedU64 pairs = tokens * slots();
    // Residual and normed states, the output, queries as they are rotated, keys and values with
    // their copy in the cache.
    CheckedU64 bytes = tokens * inputs_.dtype_bytes *
                       (CheckedU64(inputs_.spec->hidden_size) * uint64_t{2} +
                        CheckedU64(widest_.query_elements) * uint64_t{4} +
                        CheckedU64(widest_.cached_elements) * uint64_t{2});
    // Heads are repeated where a mask forbids the kernel that shares them.
    const CheckedU64 repeated =
        requests() * slots() * widest_.query_elements * uint64_t{2} * inputs_.dtype_bytes;
    if (inputs_.is_eager) {
      bytes += pairs * widest_.num_heads * score_bytes() + pairs * inputs_.dtype_bytes + repeated;
    } else if (inputs_.is_static) {
      // The mask, and the same as a bias in the model's dtype.
      bytes += pairs * (uint64_t{1} + inputs_.dtype_bytes) + repeated;
    }
    return bytes;
  }

  /// The last layer's states with their norm, and logits of some of them, widened.
  CheckedU64 logits_bytes(CheckedU64 tokens, CheckedU64 rows) const {
    return tokens * inputs_.spec->hidden_size * inputs_.dtype_bytes * uint64_t{2} +
           rows * inputs_.spec->vocab_size * (inputs_.dtype_bytes + kFloatBytes);
  }

  TransformersPeak prefill_peak() const {
    const CheckedU64 tokens = requests() * prompt_;
    TransformersPeak peak;
    peak.attention = attention_peak();
    peak.feed_forward = tokens * widest_ffn_;
    peak.logits = logits_bytes(tokens, profile_.has_last_logits ? requests() : tokens);
    return peak;
  }

  TransformersPeak decode_peak() const {
    TransformersPeak peak;
    peak.feed_forward = requests() * widest_ffn_;
    peak.logits = logits_bytes(requests(), requests());
    const CheckedU64 largest = requests() * inputs_.context_tokens * widest_.cached_elements *
                               inputs_.dtype_bytes / uint64_t{2};
    if (!inputs_.is_static) peak.copied = largest;
    return peak;
  }

  /// What a stage holds at one of the two moments.
  CacheCounts counts_at(const CacheSums& sums, bool is_prefill) const {
    const bool keeps_windows = inputs_.is_static || (profile_.has_windows && !is_prefill);
    CacheCounts counts;
    counts.num_requests = inputs_.num_requests;
    counts.tokens = inputs_.is_static || !is_prefill ? inputs_.context_tokens : prompt_;
    counts.window_tokens =
        keeps_windows ? std::min(counts.tokens, sums.largest_window_tokens) : counts.tokens;
    return counts;
  }

  CheckedU64 cache_bytes(const CacheSums& sums, bool is_prefill) const {
    return requests() * request_bytes(sums, counts_at(sums, is_prefill));
  }

  /// The most that a device holds beside its weights; overflows sort last.
  uint64_t highest(bool is_prefill) const {
    const TransformersPeak& peak = is_prefill ? out_.prefill : out_.decode;
    uint64_t most = 0;
    for (size_t i = 0; i < out_.caches.size(); ++i) {
      const CheckedU64 bytes =
          cache_bytes(out_.caches[i], is_prefill) + peak.bytes(i + 1 == out_.caches.size());
      most = std::max(most, bytes.value_or(UINT64_MAX));
    }
    return most;
  }

  /// Every step makes a larger block for the keys and the values of each layer. Those that share
  /// segments leave gaps; larger ones have segments of their own, of which nothing is left when
  /// memory runs short but what rounds them up.
  BandedBytes grown(CheckedU64 cached, uint64_t stage) const {
    constexpr uint64_t kSegmentStepBytes = uint64_t{2} << 20;
    constexpr uint64_t kOwnSegmentBytes = uint64_t{10} << 20;
    BandedBytes bytes = cached * profile_.growth_factor;
    if (out_.decode.copied.value_or(0) < kOwnSegmentBytes) return bytes;
    const auto layers = stage_layer_counts(inputs_.spec->layers.size(), inputs_.plan);
    const uint64_t blocks = layers ? 2 * (*layers)[index_of(stage)] : 0;
    bytes.high = cached + CheckedU64(blocks) * kSegmentStepBytes;
    return bytes;
  }

  Result<void> add_stage(uint64_t stage) {
    const CacheSums& sums = out_.caches[index_of(stage)];
    out_.counts.push_back(counts_at(sums, out_.is_prefill_higher));
    const bool is_last = stage + 1 == inputs_.plan.pipeline_stages;
    const TransformersPeak& peak = out_.is_prefill_higher ? out_.prefill : out_.decode;
    const CheckedU64 cached = cache_bytes(sums, out_.is_prefill_higher);
    auto loaded = loaded_weights(inputs_, stage);
    const bool grows = !inputs_.is_static && !out_.is_prefill_higher;
    const auto cache = total_of(grows ? grown(cached, stage) : BandedBytes{cached, cached, cached},
                                grows ? Basis::modelled : Basis::exact);
    auto activations = total_of(peak.bytes(is_last) * profile_.activation_factor, Basis::modelled);
    auto context = total_of(CheckedU64(kGiB) * profile_.context_gib, Basis::measured);
    for (const auto* total :
         {&std::as_const(loaded), &cache, &std::as_const(activations), &std::as_const(context)}) {
      if (!*total) return fail(total->error());
    }
    const auto moved = calibrate({{TermId::weights, &*loaded},
                                  {TermId::activations, &*activations},
                                  {TermId::runtime, &*context}},
                                 inputs_.calibration);
    if (!moved) return fail(moved.error());
    add_device(out_.breakdown, inputs_, stage,
               {term_of(TermId::weights, *loaded, "from_pretrained"),
                term_of(TermId::kv_cache, *cache, "cache_utils.py"),
                term_of(TermId::activations, *activations, "generation/utils.py, modeling files"),
                term_of(TermId::runtime, *context, "context of the device")});
    return {};
  }

  /// Of all devices together, once everything is generated.
  Result<void> set_cache() {
    CacheSums all;
    for (const CacheSums& stage : out_.caches) {
      all.full_bytes += stage.full_bytes;
      all.window_bytes += stage.window_bytes;
      all.state_bytes += stage.state_bytes;
      all.largest_window_tokens = std::max(all.largest_window_tokens, stage.largest_window_tokens);
    }
    auto summary = cache_summary(all, counts_at(all, false));
    if (!summary) return fail(std::move(summary.error()));
    out_.breakdown.cache = *summary;
    return {};
  }

  void set_verdict() {
    set_worst_device(out_.breakdown);
    const auto fits = [this](Bytes Total::*end) {
      return std::all_of(
          out_.breakdown.devices.begin(), out_.breakdown.devices.end(),
          [end](const DeviceBreakdown& device) { return device.total.*end <= device.usable; });
    };
    out_.breakdown.verdict.state = fits(&Total::high)    ? VerdictState::fits
                                   : fits(&Total::bytes) ? VerdictState::tight
                                                         : VerdictState::does_not_fit;
  }

  const TransformersInputs& inputs_;
  const TransformersProfile& profile_;
  uint64_t prompt_ = 1;
  Heads widest_;
  CheckedU64 widest_ffn_;
  TransformersEstimate out_;
};

bool holds(const TransformersInputs& inputs, const TransformersProfile& profile,
           const std::vector<CacheSums>& caches) {
  const auto estimate = Estimator(inputs, profile, &caches).estimate();
  return estimate && estimate->breakdown.verdict.state != VerdictState::does_not_fit;
}

}  // namespace

CheckedU64 TransformersPeak::bytes(bool is_last) const {
  const CheckedU64 layers = max(max(attention, feed_forward), copied);
  return is_last ? max(layers, logits) : layers;
}

Result<TransformersProfile> transformers_profile(const json::Value& entry, uint64_t release) {
  Diagnostics errors;
  const VersionedConstants constants(entry, release, errors);
  TransformersProfile profile;
  profile.has_windows = constants.is_on("dynamic_windows");
  profile.has_last_logits = constants.is_on("last_logits");
  profile.has_grouped_experts = constants.is_on("grouped_experts");
  profile.activation_factor = constants.banded("activation_factor");
  profile.growth_factor = constants.banded("growth_factor");
  profile.context_gib = constants.banded("context_gib");
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

Result<TransformersEstimate> estimate_transformers(const TransformersInputs& inputs,
                                                   const TransformersProfile& profile) {
  return Estimator(inputs, profile).estimate();
}

Answers transformers_answers(const TransformersInputs& inputs, const TransformersProfile& profile,
                             const std::vector<CacheSums>& caches) {
  TransformersInputs asked = inputs;
  Answers answers;
  answers.max_requests = largest_that_holds(kMostRequests, [&](uint64_t requests) {
    asked.num_requests = requests;
    return holds(asked, profile, caches);
  });
  asked.num_requests = inputs.num_requests;
  const bool is_all_prompt = inputs.prompt_tokens >= inputs.context_tokens;
  answers.max_context_tokens = largest_that_holds(kLongestContext, [&](uint64_t tokens) {
    asked.context_tokens = tokens;
    if (is_all_prompt) asked.prompt_tokens = tokens;
    return holds(asked, profile, caches);
  });
  answers.max_cached_tokens = (CheckedU64(*answers.max_context_tokens) * inputs.num_requests).get();
  return answers;
}

}  // namespace vramgauge

#include "engine/vllm_activation.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kFloatBytes = 4;
constexpr uint64_t kGiB = uint64_t{1} << 30;
/// Residual, normed input and output of a block.
constexpr uint64_t kStreams = 3;
constexpr uint64_t kTwo = 2;
constexpr uint64_t kThree = 3;
/// Rows of the context that latent attention expands at once
/// (mla/common.py, chunked_prefill_workspace_size).
constexpr uint64_t kMostContextRows = 65536;
constexpr uint64_t kContextLengths = 8;
constexpr uint64_t kContextBlocks = 4;
enum class Bound { low, value, high };

Decimal pick(const BandedDecimal& constant, Bound bound) {
  if (bound == Bound::value) return constant.value;
  return bound == Bound::low ? constant.low : constant.high;
}

/// What the layers of a stage need beside the stream.
struct Widths {
  /// Elements per token, at the widest.
  CheckedU64 ffn;
  CheckedU64 mixer;
  /// Of the experts' two workspaces (fused_moe.py, TritonExperts.workspace_shapes).
  CheckedU64 expert_workspace;
  /// Elements that do not depend on the tokens.
  CheckedU64 fixed;
};

/// Widest elements per token in the layers of a stage, on one rank.
class WidthScan {
 public:
  explicit WidthScan(const VllmLoad& load) : load_(load), ranks_(load.plan.tensor_ranks) {}

  Widths scan(uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i) {
      const Layer& layer = load_.spec->layers[index_of(i)];
      std::visit([this](const auto& ffn) { this->add(ffn); }, layer.ffn);
      for (const Mixer& mixer : layer.mixers)
        std::visit([this](const auto& kind) { this->add(kind); }, mixer);
    }
    return widths_;
  }

 private:
  static void add(const std::monostate&) {}

  void add(const DenseFfn& ffn) { widen_ffn(dense(ffn.intermediate_size, ffn.is_gated)); }

  void add(const MoeFfn& ffn) {
    const uint64_t width =
        ffn.expert_hidden_size == 0 ? load_.spec->hidden_size : ffn.expert_hidden_size;
    const CheckedU64 up = share(ffn.moe_intermediate_size);
    const CheckedU64 gate_up = ffn.is_gated ? up * kTwo : up;
    const CheckedU64 workspace = (max(gate_up, width) + max(up, width)) * ffn.num_experts_per_tok;
    widths_.expert_workspace = max(widths_.expert_workspace, workspace);
    widen_ffn(workspace + dense(ffn.shared_intermediate_size, ffn.is_gated));
  }

  void add(const Attention& attention) {
    const CheckedU64 queries = share(attention.num_heads) * attention.head_dim;
    const CheckedU64 keys =
        share(attention.num_kv_heads) * (CheckedU64(attention.head_dim) + attention.v_head_dim);
    widen_mixer((queries + keys) * kTwo);
  }

  void add(const LatentAttention& attention) {
    const CheckedU64 heads = share(attention.num_heads);
    const CheckedU64 up = heads * (CheckedU64(attention.qk_nope_head_dim) + attention.v_head_dim);
    widen_mixer(up * kTwo + heads * attention.qk_rope_head_dim * kTwo);
    const CheckedU64 rows =
        min(kMostContextRows,
            max(CheckedU64(load_.max_model_len) * kContextLengths,
                CheckedU64(load_.max_num_seqs) * (kContextBlocks * kVllmBlockTokens)));
    widths_.fixed = max(widths_.fixed, rows * up);
  }

  void add(const CompressedAttention& attention) {
    widen_mixer(share(attention.num_heads) * attention.head_dim * kTwo);
  }

  void add(const GatedDelta& delta) {
    const CheckedU64 keys = share(delta.num_k_heads) * delta.k_head_dim;
    const CheckedU64 values = share(delta.num_v_heads) * delta.v_head_dim;
    widen_mixer((keys * kTwo + values) * kThree);
  }

  void add(const Mamba1& mamba) { widen_mixer(share(mamba.d_inner) * kThree); }
  void add(const Mamba2& mamba) { widen_mixer(share(mamba.num_heads) * mamba.head_dim * kThree); }
  void add(const LinearAttention& linear) {
    widen_mixer(share(linear.num_heads) * linear.head_dim * kThree);
  }
  void add(const ShortConv& conv) { widen_mixer(share(conv.dim) * kThree); }
  void add(const Rwkv& rwkv) { widen_mixer(CheckedU64(rwkv.hidden_size) * kThree); }
  void add(const GatedLru& lru) { widen_mixer(share(lru.width) * kThree); }

  CheckedU64 share(uint64_t count) const { return ceil_div(count, ranks_); }
  /// Gate and up with their product, or the two sides of an activation.
  CheckedU64 dense(uint64_t intermediate, bool is_gated) const {
    return share(intermediate) * (is_gated ? kThree : kTwo);
  }
  void widen_ffn(CheckedU64 width) { widths_.ffn = max(widths_.ffn, width); }
  void widen_mixer(CheckedU64 width) { widths_.mixer = max(widths_.mixer, width); }

  const VllmLoad& load_;
  uint64_t ranks_;
  Widths widths_;
};

/// The parts of one profiling run.
class Run {
 public:
  Run(const VllmLoad& load, const VllmProfile& profile, uint64_t stage, const Widths& widths)
      : load_(load), profile_(profile), widths_(widths) {
    is_last_ = stage + 1 == load.plan.pipeline_stages;
    is_pipelined_ = load.plan.pipeline_stages > 1;
  }

  CheckedU64 forward(Bound bound) const {
    // The first engine embeds multimodal prompts beforehand.
    const bool has_embeddings = profile_.is_first_engine && load_.encoder.tokens != 0;
    const CheckedU64 streams = stream() * (has_embeddings ? kStreams + 1 : kStreams);
    const CheckedU64 widest = max(tokens() * max(widths_.ffn, widths_.mixer), widths_.fixed);
    const CheckedU64 run = bytes(tokens() * streams + widest);
    return run + common(bound) + encoder_left();
  }

  /// Only the last stage has logits.
  CheckedU64 sampler(Bound bound) const {
    if (!is_last_) return CheckedU64();
    const CheckedU64 rows = sampled_rows();
    const CheckedU64 logits = rows * load_.spec->vocab_size;
    const CheckedU64 kept =
        profile_.keeps_expert_workspace ? bytes(tokens() * widths_.expert_workspace) : CheckedU64();
    return logits * load_.dtype_bytes + logits * pick(profile_.sampler_logit_bytes, bound) +
           row_buffer() + bytes(stream() * rows) + bytes(tokens() * stream()) + kept +
           common(bound) + encoder_left();
  }

  /// The tower's own pass; it runs before the model does.
  CheckedU64 encoder() const {
    const VllmEncoderItem& item = load_.encoder;
    const CheckedU64 ffn = CheckedU64(item.hidden_size) * kThree +
                           CheckedU64(item.intermediate_size) * (item.is_gated ? kThree : kTwo);
    const CheckedU64 widest = max(ffn, CheckedU64(item.hidden_size) * item.streams);
    return bytes(items() * item.patches * widest) + encoder_left();
  }

 private:
  CheckedU64 tokens() const { return load_.max_num_batched_tokens; }
  CheckedU64 stream() const { return load_.spec->hidden_size; }
  CheckedU64 bytes(CheckedU64 elements) const { return elements * load_.dtype_bytes; }

  /// As many as the token budget holds, and at least one. The first engine takes one for a prompt
  /// that holds it, or none.
  CheckedU64 items() const {
    const uint64_t each = load_.encoder.tokens;
    if (each == 0) return CheckedU64();
    if (profile_.is_first_engine) return uint64_t{load_.max_model_len >= each ? 1U : 0U};
    // multimodal/encoder_budget.py of 2026, _get_max_items.
    const uint64_t per_request =
        std::max<uint64_t>(1, std::min(load_.items_per_request, load_.max_model_len / each));
    return max(min(CheckedU64(load_.max_num_seqs) * per_request, tokens() / each), uint64_t{1});
  }

  /// The first engine samples no more sequences than it can give an item each.
  CheckedU64 sampled_rows() const {
    const uint64_t each = load_.encoder.tokens;
    if (!profile_.is_first_engine || each == 0) return load_.max_num_seqs;
    return min(load_.max_num_seqs, max(tokens() / each, uint64_t{1}));
  }

  /// A power of two of rows, at most one per multiprocessor (topk_topp_triton.py).
  CheckedU64 row_buffer() const {
    constexpr uint64_t kFewestRows = 8;
    if (!profile_.has_sampler_rows || load_.max_num_seqs < kFewestRows) return CheckedU64();
    uint64_t rows = 1;
    while (rows < load_.max_num_seqs && rows < load_.multiprocessors)
      rows *= 2;
    return CheckedU64(std::min(rows, load_.multiprocessors)) * load_.spec->vocab_size * kFloatBytes;
  }

  CheckedU64 common(Bound bound) const {
    const CheckedU64 blas = checked(MiB(load_.is_hopper_or_newer ? 32 : 8));
    // What one stage hands to the next: hidden states and residual.
    const CheckedU64 handed = is_pipelined_ ? bytes(tokens() * stream() * kTwo) : CheckedU64();
    return blas + handed + CheckedU64(kGiB) * pick(profile_.profile_extra_gib, bound);
  }

  /// Inputs and outputs of the encoder, which are kept to the end of the run.
  CheckedU64 encoder_left() const {
    const CheckedU64 outputs = CheckedU64(load_.encoder.tokens) * stream();
    return bytes(items() * (outputs + load_.encoder.input_elements));
  }

  const VllmLoad& load_;
  const VllmProfile& profile_;
  const Widths& widths_;
  bool is_last_ = false;
  bool is_pipelined_ = false;
};

CheckedU64 peak_of(const Run& run, Bound bound) {
  return max(max(run.forward(bound), run.sampler(bound)), run.encoder());
}

}  // namespace

Result<VllmActivation> vllm_activation(const VllmLoad& load, const VllmProfile& profile,
                                       uint64_t stage) {
  const auto counts = stage_layer_counts(load.spec->layers.size(), load.plan);
  if (!counts) return fail(counts.error());
  uint64_t first = 0;
  for (uint64_t before = 0; before < stage; ++before)
    first += (*counts)[index_of(before)];
  const Widths widths = WidthScan(load).scan(first, first + (*counts)[index_of(stage)]);
  const Run run(load, profile, stage, widths);
  const auto forward = bytes_of(run.forward(Bound::value));
  const auto sampler = bytes_of(run.sampler(Bound::value));
  const auto encoder = bytes_of(run.encoder());
  const auto peak = bytes_of(peak_of(run, Bound::value));
  const auto low = bytes_of(peak_of(run, Bound::low));
  const auto high = bytes_of(peak_of(run, Bound::high));
  if (!forward || !sampler || !encoder || !peak || !low || !high) {
    return fail(ErrorCode::value_overflow, {},
                {{"what", std::string_view("the profiling run's peak")}});
  }
  return VllmActivation{*forward, *sampler, *encoder, *peak, *low, *high};
}

}  // namespace vramgauge

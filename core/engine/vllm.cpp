#include "engine/vllm.h"

#include <algorithm>

#include "engine/search.h"
#include "engine/terms.h"
#include "engine/vllm_runner.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMaxRequests = 1'000'000;
/// Cards from that much memory get the larger defaults (engine/arg_utils.py).
constexpr Bytes kLargeCard = GiB(70);
constexpr Bytes kHugeCard = GiB(160);
constexpr uint64_t kHopper = 90;
/// Compute capabilities of Blackwell cards without data-centre links, and of what came with them.
constexpr uint64_t kConsumerBlackwell = 110;
/// The first engine splits prompts into chunks from that length on.
constexpr uint64_t kUnchunkedTokens = 32768;

tl::unexpected<Diagnostics> overflow() {
  return fail(ErrorCode::value_overflow, {}, {{"what", std::string_view("the memory needed")}});
}

uint64_t by_card(const VllmCardDefaults& defaults, const VllmDevice& device) {
  if (device.total < kLargeCard || device.is_a100) return defaults.small;
  return device.total < kHugeCard ? defaults.large : defaults.huge;
}

/// Cards of data centres, whose ranks share memory of their own.
bool is_linked(const VllmDevice& device) {
  return device.capability >= kHopper && device.capability < kConsumerBlackwell;
}

const BandedDecimal& outside_gib(const VllmInputs& inputs, const VllmProfile& profile) {
  if (inputs.plan.tensor_ranks * inputs.plan.pipeline_stages == 1) return profile.outside_one_gib;
  return is_linked(inputs.device) ? profile.outside_parallel_gib : profile.outside_unlinked_gib;
}

/// Sizes that graphs are captured for: 1, 2, 4, every 8th to 248, every 16th to 512, up to twice
/// the sequences (config/vllm.py, _set_cudagraph_sizes).
uint64_t captured_sizes(const VllmFlags& flags) {
  constexpr uint64_t kLargest = 512;
  const uint64_t limit = std::min({flags.max_num_seqs * 2, flags.max_num_batched_tokens, kLargest});
  uint64_t sizes = 0;
  for (uint64_t size = 1; size <= limit; size += size < 4     ? size
                                                 : size < 8   ? 4
                                                 : size < 256 ? 8
                                                              : 16)
    ++sizes;
  return sizes;
}

/// The engine coming up.
class Start {
 public:
  Start(const VllmInputs& inputs, const VllmProfile& profile)
      : inputs_(inputs), profile_(vllm_profile_for(inputs, profile)) {
    flags_ = vllm_default_flags(inputs.flags, inputs.device, profile, inputs.cache.max_model_len);
  }

  Result<VllmEstimate> run() {
    out_.max_num_batched_tokens = flags_.max_num_batched_tokens;
    out_.max_num_seqs = flags_.max_num_seqs;
    out_.deducts_graphs = profile_.deducts_graphs;
    if (auto budget = set_budget(); !budget) return fail(budget.error());
    if (auto outside = set_outside(); !outside) return fail(outside.error());
    VllmKvSettings settings = inputs_.cache;
    settings.max_num_batched_tokens = flags_.max_num_batched_tokens;
    auto plan = vllm_kv_plan(*inputs_.spec, inputs_.plan, settings, profile_.kv);
    if (!plan) return fail(std::move(plan.error()));
    out_.plan = std::move(*plan);
    for (uint64_t stage = 0; stage < inputs_.plan.pipeline_stages; ++stage) {
      if (auto added = add_stage(stage); !added) return fail(added.error());
    }
    if (auto sized = size_pools(); !sized) return fail(sized.error());
    return std::move(out_);
  }

 private:
  Result<void> set_budget() {
    out_.requested = inputs_.device.total;
    if (flags_.kv_cache_memory) return {};
    const CheckedU64 share =
        checked(inputs_.device.total) * flags_.gpu_memory_utilization.value_or(Decimal());
    const auto requested = bytes_of(share);
    if (!requested) return overflow();
    out_.requested = *requested;
    out_.lacks_free_memory = inputs_.device.total.count() <
                             out_.requested.count() + inputs_.device.held_by_others.count();
    return {};
  }

  /// Layers on a stage; the rule of placement has been checked by then.
  uint64_t layers_on(uint64_t stage) const {
    const auto counts = stage_layer_counts(inputs_.spec->layers.size(), inputs_.plan);
    return counts ? (*counts)[index_of(stage)] : 0;
  }

  BandedBytes graphs(uint64_t stage) const {
    const uint64_t sizes = flags_.is_eager ? 0 : captured_sizes(flags_);
    return CheckedU64(kMiB) * layers_on(stage) * sizes * profile_.graph_layer_mib;
  }

  BandedBytes runtime(uint64_t stage) const {
    BandedBytes sum = CheckedU64(kGiB) * vllm_non_torch_gib(inputs_, profile_);
    if (profile_.deducts_graphs) sum += graphs(stage);
    return sum;
  }

  Result<VllmActivation> activation(uint64_t stage) const {
    VllmLoad load;
    load.spec = inputs_.spec;
    load.plan = inputs_.plan;
    load.max_num_batched_tokens = flags_.max_num_batched_tokens;
    load.max_num_seqs = flags_.max_num_seqs;
    load.max_model_len = inputs_.cache.max_model_len;
    load.dtype_bytes = inputs_.dtype_bytes;
    load.multiprocessors = inputs_.device.multiprocessors;
    load.is_hopper_or_newer = inputs_.device.capability >= kHopper;
    load.encoder = inputs_.encoder;
    load.items_per_request = inputs_.items_per_request;
    return vllm_activation(load, profile_, stage);
  }

  Result<void> add_stage(uint64_t stage) {
    const auto peak = activation(stage);
    if (!peak) return fail(peak.error());
    auto weights = total_of(
        weights_with_band(inputs_.stage_weights[index_of(stage)].allocated, inputs_.weights_basis),
        inputs_.weights_basis);
    auto runtime_total = total_of(runtime(stage), Basis::measured);
    if (!weights || !runtime_total) return overflow();
    Total activations{peak->peak, peak->low, peak->high, Basis::modelled};
    const auto moved = calibrate({{TermId::weights, &*weights},
                                  {TermId::activations, &activations},
                                  {TermId::runtime, &*runtime_total}},
                                 inputs_.calibration);
    if (!moved) return fail(moved.error());
    VllmStage out;
    out.activation = *peak;
    out.activation.peak = activations.bytes;
    out.activation.low = activations.low;
    out.activation.high = activations.high;
    out.activation_basis = activations.basis;
    out.weights = *weights;
    out.runtime = *runtime_total;
    if (profile_.deducts_graphs) out.graphs = Bytes(graphs(stage).value.value_or(0));
    if (flags_.kv_cache_memory) {
      out.pool = out.pool_least = out.pool_most = *flags_.kv_cache_memory - Bytes();
    } else {
      const auto left = [&](Bytes w, Bytes a, Bytes r) {
        return BytesDelta((out_.requested - w).count() - static_cast<int64_t>(a.count()) -
                          static_cast<int64_t>(r.count()));
      };
      out.pool = left(weights->bytes, activations.bytes, runtime_total->bytes);
      out.pool_least = left(weights->high, activations.high, runtime_total->high);
      out.pool_most = left(weights->low, activations.low, runtime_total->low);
    }
    out_.stages.push_back(out);
    return {};
  }

  Result<void> size_pools() {
    const auto size = [this](BytesDelta VllmStage::*member, VllmKvPool& pool) -> Result<void> {
      std::vector<BytesDelta> available;
      for (const VllmStage& stage : out_.stages)
        available.push_back(stage.*member);
      auto sized = vllm_kv_pool(out_.plan, available);
      if (!sized) return fail(std::move(sized.error()));
      pool = *sized;
      return {};
    };
    if (auto sized = size(&VllmStage::pool, out_.pool); !sized) return sized;
    if (auto sized = size(&VllmStage::pool_least, out_.pool_least); !sized) return sized;
    return size(&VllmStage::pool_most, out_.pool_most);
  }

  /// Memory that the budget leaves out.
  Result<void> set_outside() {
    BandedBytes sum = CheckedU64(kGiB) * outside_gib(inputs_, profile_);
    if (!profile_.deducts_graphs) sum += graphs(0);
    const auto outside = total_of(sum, Basis::measured);
    if (!outside) return fail(outside.error());
    out_.outside = *outside;
    out_.may_exceed_card = !has_room(out_.outside.high);
    return {};
  }

  /// Whether the card holds the budget and what is outside it.
  bool has_room(Bytes outside) const {
    const CheckedU64 all =
        checked(out_.requested) + checked(outside) + checked(inputs_.device.held_by_others);
    return flags_.kv_cache_memory.has_value() ||
           all.value_or(UINT64_MAX) <= inputs_.device.total.count();
  }

  const VllmInputs& inputs_;
  VllmProfile profile_;
  VllmFlags flags_;
  VllmEstimate out_;
};

/// A workload on an engine that is up.
class Service {
 public:
  Service(const VllmEstimate& engine, const VllmInputs& inputs)
      : engine_(engine),
        inputs_(inputs),
        request_blocks_(vllm_blocks_per_request(engine.plan, inputs.workload.context_tokens)),
        workload_blocks_(request_blocks_ * inputs.workload.num_requests) {}

  Result<Breakdown> breakdown() {
    for (uint64_t stage = 0; stage < engine_.stages.size(); ++stage) {
      const auto cache = cache_term(stage);
      if (!cache) return fail(cache.error());
      add_stage(stage, *cache);
    }
    set_verdict();
    set_cache();
    return std::move(out_);
  }

  /// The engine's own inverse answers.
  Answers answers() const {
    Answers answers;
    const uint64_t blocks = engine_.pool.num_blocks;
    if (request_blocks_.value_or(0) > 0)
      answers.max_requests = std::min(blocks / request_blocks_.value_or(1), kMaxRequests);
    answers.max_context_tokens =
        largest_that_holds(inputs_.cache.max_model_len, [&](uint64_t tokens) {
          const CheckedU64 needed =
              vllm_blocks_per_request(engine_.plan, tokens) * inputs_.workload.num_requests;
          return needed.value_or(UINT64_MAX) <= blocks;
        });
    answers.max_cached_tokens = engine_.pool.capacity_tokens;
    return answers;
  }

  uint64_t steady_requests() const {
    const CheckedU64 steady =
        CheckedU64(engine_.pool.num_blocks) /
        vllm_steady_blocks_per_request(engine_.plan, inputs_.workload.context_tokens);
    return std::min(steady.value_or(kMaxRequests), kMaxRequests);
  }

 private:
  /// What the workload needs; a request of max_model_len at least, or the engine does not start.
  Result<Total> cache_term(uint64_t stage) const {
    const CheckedU64 blocks =
        max(workload_blocks_, vllm_blocks_per_request(engine_.plan, inputs_.cache.max_model_len));
    const CheckedU64 bytes = blocks * engine_.plan.stage_block_bytes[index_of(stage)];
    const auto total = total_of({bytes, bytes, bytes}, Basis::exact);
    return total ? total : overflow();
  }

  void add_stage(uint64_t stage, const Total& cache) {
    const VllmStage& held = engine_.stages[index_of(stage)];
    const VllmActivation& peak = held.activation;
    const Total activation{peak.peak, peak.low, peak.high, held.activation_basis};
    DeviceBreakdown device;
    device.name = inputs_.device.name;
    device.count = inputs_.plan.tensor_ranks * inputs_.plan.data_ranks;
    device.first_rank = stage * device.count;
    device.capacity = inputs_.device.total;
    device.usable = engine_.requested;
    device.terms.reserve(4);
    device.terms.push_back(
        term_of(TermId::weights, held.weights, "vLLM's own placement of tensors"));
    device.terms.push_back(term_of(TermId::kv_cache, cache, "vllm/v1/core/kv_cache_utils.py"));
    device.terms.push_back(term_of(TermId::activations, activation,
                                   "vllm/v1/worker/gpu_model_runner.py, profile_run"));
    device.terms.push_back(term_of(TermId::runtime, held.runtime, "start-up logs"));
    add_up(device);
    out_.devices.push_back(std::move(device));
  }

  bool serves(const VllmKvPool& pool) const {
    return pool.refusal == VllmRefusal::none && !engine_.lacks_free_memory &&
           workload_blocks_.value_or(UINT64_MAX) <= pool.num_blocks;
  }

  void set_verdict() {
    set_worst_device(out_);
    const bool is_certain = serves(engine_.pool_least) && !engine_.may_exceed_card;
    out_.verdict.state = is_certain             ? VerdictState::fits
                         : serves(engine_.pool) ? VerdictState::tight
                                                : VerdictState::does_not_fit;
    if (out_.verdict.state == VerdictState::does_not_fit)
      out_.verdict.margin = std::min(out_.verdict.margin, shortage());
  }

  /// What is missing where the sum of all terms is within the share all the same: free memory, or
  /// room in a pool that was given by hand.
  BytesDelta shortage() const {
    const VllmDevice& device = inputs_.device;
    if (engine_.lacks_free_memory)
      return BytesDelta((device.total - device.held_by_others).count() -
                        static_cast<int64_t>(engine_.requested.count()));
    BytesDelta least = out_.verdict.margin;
    for (size_t i = 0; i < engine_.stages.size(); ++i) {
      const Bytes cache = out_.devices[i].terms[1].bytes;
      least = std::min(
          least, BytesDelta(engine_.stages[i].pool.count() - static_cast<int64_t>(cache.count())));
    }
    return least;
  }

  void set_cache() {
    const VllmKvPlan& plan = engine_.plan;
    CacheSummary& cache = out_.cache;
    const uint64_t block = plan.stage_block_bytes[index_of(out_.verdict.worst_device)];
    cache.bytes_per_token = vllm_bytes_per_token(plan, out_.verdict.worst_device);
    uint64_t states = 0;
    for (const VllmKvGroup& group : plan.groups)
      states += group.kind == VllmKvKind::state ? 1 : 0;
    cache.fixed_bytes_per_request = bytes_of(CheckedU64(states) * block).value_or(Bytes());
    cache.bytes_per_request = bytes_of(request_blocks_ * block).value_or(Bytes());
    cache.total = bytes_of(workload_blocks_ * block).value_or(Bytes());
  }

  const VllmEstimate& engine_;
  const VllmInputs& inputs_;
  CheckedU64 request_blocks_;
  CheckedU64 workload_blocks_;
  Breakdown out_;
};

}  // namespace

const BandedDecimal& vllm_non_torch_gib(const VllmInputs& inputs, const VllmProfile& profile) {
  const VllmNonTorch& all = profile.non_torch;
  if (inputs.plan.tensor_ranks >= 2 && !is_linked(inputs.device)) return all.unlinked_gib;
  if (inputs.plan.tensor_ranks >= 4) return all.four_gib;
  if (inputs.plan.tensor_ranks >= 2) return all.two_gib;
  if (inputs.device.is_rocm) return all.rocm_gib;
  return inputs.plan.pipeline_stages > 1 ? all.pipeline_gib : all.one_gib;
}

Bytes vllm_bytes_per_token(const VllmKvPlan& plan, uint64_t stage) {
  CheckedU64 bytes;
  for (const VllmKvGroup& group : plan.groups) {
    if (group.kind == VllmKvKind::state || group.kind == VllmKvKind::cross) continue;
    bytes += CheckedU64(plan.stage_block_bytes[index_of(stage)]) / group.block_tokens;
  }
  return bytes_of(bytes).value_or(Bytes());
}

VllmFlags vllm_default_flags(VllmFlags flags, const VllmDevice& device, const VllmProfile& profile,
                             uint64_t max_model_len) {
  if (!flags.gpu_memory_utilization)
    flags.gpu_memory_utilization = profile.gpu_memory_utilization_frac.value;
  const bool has_requests = flags.max_num_seqs != 0;
  if (!has_requests) flags.max_num_seqs = by_card(profile.requests, device);
  if (flags.max_num_batched_tokens == 0) {
    flags.max_num_batched_tokens = by_card(profile.batched_tokens, device);
    if (profile.is_first_engine && max_model_len <= kUnchunkedTokens)
      flags.max_num_batched_tokens = std::max(flags.max_num_batched_tokens, max_model_len);
  }
  // A step has a token of every request: min(default, max_num_batched_tokens) in
  // engine/arg_utils.py, _set_default_args (0.9 and later; before, config refuses the pair).
  if (!has_requests)
    flags.max_num_seqs = std::min(flags.max_num_seqs, flags.max_num_batched_tokens);
  return flags;
}

Result<VllmEstimate> start_vllm(const VllmInputs& inputs, const VllmProfile& profile) {
  return Start(inputs, profile).run();
}

Result<Breakdown> serve_vllm(const VllmEstimate& engine, const VllmInputs& inputs) {
  return Service(engine, inputs).breakdown();
}

Result<VllmEstimate> estimate_vllm(const VllmInputs& inputs, const VllmProfile& profile) {
  auto estimate = start_vllm(inputs, profile);
  if (!estimate) return estimate;
  Service service(*estimate, inputs);
  auto breakdown = service.breakdown();
  if (!breakdown) return fail(std::move(breakdown.error()));
  estimate->breakdown = std::move(*breakdown);
  estimate->breakdown.answers = service.answers();
  estimate->steady_requests = service.steady_requests();
  return estimate;
}

}  // namespace vramgauge

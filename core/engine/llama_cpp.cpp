#include "engine/llama_cpp.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/llama_cpp_cache.h"
#include "engine/search.h"
#include "engine/terms.h"
#include "units/index.h"

namespace vramgauge {
namespace {

/// Contexts grow in these steps.
constexpr uint64_t kContextStep = 256;
constexpr uint64_t kMaxSequences = 256;

/// The graph that stands for one that is not known. Replayed in place of their own, it is within
/// these bounds for 99.8 % of the 17,131 compute buffers in tests/truth/llamacpp.csv.gz that are of
/// another architecture than Llama's, Gemma 3n's apart.
constexpr const char* kStandInArchitecture = "llama";
constexpr Decimal kStandInLow = Decimal::from_micros(800'000);
constexpr Decimal kStandInHigh = Decimal::from_micros(1'250'000);

/// A sum with its band while it is being made.
struct Banded {
  CheckedU64 value;
  CheckedU64 low;
  CheckedU64 high;

  void add(CheckedU64 bytes) { add(bytes, bytes, bytes); }
  void add(CheckedU64 bytes, CheckedU64 low_bytes, CheckedU64 high_bytes) {
    value += bytes;
    low += low_bytes;
    high += high_bytes;
  }
  void add(const LlamaCppComputeBytes& bytes) {
    add(checked(bytes.bytes), checked(bytes.low), checked(bytes.high));
  }
};

/// One device's terms while they are being made.
struct Ledger {
  Banded weights;
  Basis weights_basis = Basis::exact;
  Banded cache;
  Banded activations;
  Basis activations_basis = Basis::modelled;
  Banded runtime;
  Basis runtime_basis = Basis::measured;
};

CheckedU64 host_bytes(const LlamaCppBufferBytes& bytes) {
  return bytes.cpu + bytes.cpu_repack + bytes.pinned;
}

std::optional<Term> term(TermId id, Basis basis, const Banded& sum) {
  const auto value = bytes_of(sum.value);
  const auto low = bytes_of(sum.low);
  const auto high = bytes_of(sum.high);
  if (!value || !low || !high) return std::nullopt;
  Term out;
  out.id = id;
  out.basis = basis;
  out.bytes = *value;
  out.low = *low;
  out.high = *high;
  return out;
}

/// Terms and their total; nothing on overflow.
std::optional<DeviceBreakdown> device_of(const Ledger& ledger) {
  const std::optional<Term> terms[] = {
      term(TermId::weights, ledger.weights_basis, ledger.weights),
      term(TermId::kv_cache, Basis::exact, ledger.cache),
      term(TermId::activations, ledger.activations_basis, ledger.activations),
      term(TermId::runtime, ledger.runtime_basis, ledger.runtime),
  };
  DeviceBreakdown device;
  Banded sum;
  for (const std::optional<Term>& each : terms) {
    if (!each) return std::nullopt;
    sum.add(checked(each->bytes), checked(each->low), checked(each->high));
    if (each->high != Bytes()) device.total.basis = worse(device.total.basis, each->basis);
    device.terms.push_back(*each);
  }
  const auto total = term(TermId::runtime, device.total.basis, sum);
  if (!total) return std::nullopt;
  device.total.bytes = total->bytes;
  device.total.low = total->low;
  device.total.high = total->high;
  return device;
}

Verdict verdict_of(const DeviceBreakdown& device, uint64_t index) {
  Verdict verdict;
  verdict.needed = device.total.bytes;
  verdict.usable = device.usable;
  verdict.margin = device.usable - device.total.bytes;
  verdict.worst_device = index;
  verdict.state = VerdictState::does_not_fit;
  if (device.total.bytes <= device.usable) verdict.state = VerdictState::tight;
  if (device.total.high <= device.usable) verdict.state = VerdictState::fits;
  return verdict;
}

/// The worst of all devices whose memory is known.
Verdict worst_verdict(const std::vector<DeviceBreakdown>& devices) {
  std::optional<Verdict> worst;
  for (uint64_t i = 0; i < devices.size(); ++i) {
    if (devices[index_of(i)].capacity == Bytes()) continue;
    const Verdict verdict = verdict_of(devices[index_of(i)], i);
    const bool is_worse = !worst || verdict.state > worst->state ||
                          (verdict.state == worst->state && verdict.margin < worst->margin);
    if (is_worse) worst = verdict;
  }
  return worst.value_or(Verdict());
}

/// Fills the ledgers of one machine: GPUs, then the host.
class Bookkeeper {
 public:
  explicit Bookkeeper(uint64_t num_gpus) : ledgers_(index_of(num_gpus + 1)) {}

  void add(const LlamaCppEstimate& parts) {
    const LlamaCppStored& stored = parts.stored;
    const LlamaCppCompute& compute = parts.compute;
    for (Ledger& ledger : ledgers_)
      ledger.activations_basis = worse(ledger.activations_basis, parts.compute_basis);
    for (size_t i = 0; i + 1 < ledgers_.size(); ++i) {
      Ledger& gpu = ledgers_[i];
      gpu.weights.add(stored.weights.gpus[i]);
      for (const auto* cache : caches_of(stored))
        gpu.cache.add(cache->gpus[i]);
      gpu.activations.add(stored.output.gpus[i]);
      gpu.activations.add(compute.gpus[i]);
    }
    host().weights.add(host_bytes(stored.weights));
    for (const auto* cache : caches_of(stored))
      host().cache.add(host_bytes(*cache));
    host().activations.add(host_bytes(stored.output));
    host().activations.add(compute.host);
  }

  void add_projector(Bytes bytes) {
    if (bytes == Bytes()) return;
    ledgers_.front().weights.add(checked(bytes));
    ledgers_.front().weights_basis = Basis::modelled;
  }

  /// Adapters follow the weights that they change.
  void add_lora(Bytes bytes, const LlamaCppBufferBytes& weights) {
    const auto total = weights.sum().get();
    if (bytes == Bytes() || !total || *total == 0) return;
    for (size_t i = 0; i < ledgers_.size(); ++i) {
      const CheckedU64 held = i + 1 < ledgers_.size() ? weights.gpus[i] : host_bytes(weights);
      ledgers_[i].weights.add(scaled(checked(bytes), held.value_or(0), *total));
      ledgers_[i].weights_basis = Basis::modelled;
    }
  }

  /// Every GPU of the list gets a context, whether it holds a layer or not.
  void add_contexts(const LlamaCppBandedBytes& context) {
    for (size_t i = 0; i + 1 < ledgers_.size(); ++i)
      ledgers_[i].runtime.add(checked(context.value), checked(context.low), checked(context.high));
  }

  /// Grows from nothing while requests are served.
  void add_server_caches(CheckedU64 most) {
    host().runtime.add(uint64_t{0}, uint64_t{0}, most);
    host().runtime_basis = Basis::modelled;
  }

  const std::vector<Ledger>& ledgers() const { return ledgers_; }

 private:
  static std::array<const LlamaCppBufferBytes*, 4> caches_of(const LlamaCppStored& stored) {
    return {&stored.kv_full, &stored.kv_windowed, &stored.indexer, &stored.state};
  }

  Ledger& host() { return ledgers_.back(); }

  std::vector<Ledger> ledgers_;
};

/// A window or a state cannot be rewound, so the server keeps snapshots of them.
CheckedU64 server_cache_bytes(const LlamaCppEstimate& estimate,
                              const LlamaCppConstants& constants) {
  const CheckedU64 snapshots = estimate.stored.kv_windowed.sum() + estimate.stored.state.sum();
  return checked(constants.prompt_cache) + snapshots * CheckedU64(constants.context_checkpoints);
}

void widen(LlamaCppComputeBytes& bytes) {
  bytes.low = bytes_of(checked(bytes.bytes) * kStandInLow).value_or(Bytes());
  bytes.high = bytes_of(checked(bytes.bytes) * kStandInHigh).value_or(Bytes(kMaxApiBytes));
}

std::optional<LlamaCppCompute> stand_in_compute(const LlamaCppModel& model,
                                                const LlamaCppContext& context,
                                                const LlamaCppPlacement& placement,
                                                uint32_t num_gpus) {
  auto compute = llama_cpp_compute_as(kStandInArchitecture, model, context, placement, num_gpus);
  if (!compute) return std::nullopt;
  widen(compute->host);
  for (LlamaCppComputeBytes& gpu : compute->gpus)
    widen(gpu);
  return compute;
}

Diagnostic stand_in_note(const LlamaCppModel& model) {
  return {ErrorCode::model_not_exact,
          "",
          {{"what", "The compute buffer"},
           {"model_type", model.architecture},
           {"reason", "its graph is taken to be arranged as that of Llama"}},
          std::nullopt};
}

Diagnostics unknown_compute(const LlamaCppModel& model) {
  return {{ErrorCode::model_unsupported,
           "",
           {{"what", "The compute buffer of llama.cpp"},
            {"reason",
             "how it computes the architecture " + model.architecture + " is not known here"}},
           std::nullopt}};
}

std::vector<LlamaCppDevice> devices_of(const LlamaCppMachine& machine,
                                       const LlamaCppConstants& constants) {
  std::vector<LlamaCppDevice> devices;
  for (const HardwareSpec& gpu : machine.gpus) {
    const uint64_t usable = gpu.usable.count();
    const uint64_t context = std::min(usable, constants.cuda_context.value.count());
    devices.push_back({gpu.name, Bytes(usable - context)});
  }
  return devices;
}

/// What a further token of one sequence costs.
CheckedU64 bytes_per_token(const LlamaCppModel& model, const LlamaCppContext& context) {
  CheckedU64 bytes;
  for (const LlamaCppLayerKind& kind : model.groups.kinds)
    bytes += llama_cpp_cell_bytes(model, context, kind.first) * CheckedU64(kind.count);
  return bytes;
}

std::optional<CacheSummary> summary_of(const LlamaCppModel& model, const LlamaCppEstimate& parts) {
  const CheckedU64 growing = parts.stored.kv_full.sum() + parts.stored.indexer.sum();
  const CheckedU64 fixed = parts.stored.kv_windowed.sum() + parts.stored.state.sum();
  const CheckedU64 sequences = parts.context.n_seq_max;
  const auto per_token = bytes_of(bytes_per_token(model, parts.context));
  const auto per_request_fixed = bytes_of(ceil_div(fixed, sequences));
  const auto per_request = bytes_of(ceil_div(growing + fixed, sequences));
  const auto total = bytes_of(growing + fixed);
  if (!per_token || !per_request_fixed || !per_request || !total) return std::nullopt;
  return CacheSummary{*per_token, *per_request_fixed, *per_request, *total};
}

std::optional<std::vector<DeviceBreakdown>> devices_of(const Bookkeeper& books,
                                                       const LlamaCppMachine& machine) {
  std::vector<DeviceBreakdown> devices;
  for (uint64_t i = 0; i < books.ledgers().size(); ++i) {
    auto device = device_of(books.ledgers()[index_of(i)]);
    if (!device) return std::nullopt;
    const bool is_host = i == machine.gpus.size();
    device->name = is_host ? "host" : machine.gpus[index_of(i)].name;
    device->first_rank = i;
    device->capacity = is_host ? machine.host_ram : machine.gpus[index_of(i)].capacity;
    device->usable = is_host ? machine.host_ram : machine.gpus[index_of(i)].usable;
    devices.push_back(std::move(*device));
  }
  return devices;
}

LlamaCppOptions draft_options_of(const LlamaCppOptions& options, const LlamaCppOptions& own) {
  LlamaCppOptions draft = options;
  draft.n_gpu_layers = own.n_gpu_layers;
  draft.type_k = own.type_k;
  draft.type_v = own.type_v;
  draft.n_cpu_moe = own.n_cpu_moe;
  draft.overrides = own.overrides;
  // Only the model itself takes tokens back.
  draft.n_rs_seq = 0;
  return draft;
}

tl::unexpected<Diagnostics> overflow() {
  return fail(ErrorCode::value_overflow, "", {{"what", "The memory needed"}});
}

/// Moves a GPU's terms, and their sum with them.
Result<void> calibrate_device(DeviceBreakdown& device, const Calibration& calibration) {
  for (Term& term : device.terms) {
    Total total{term.bytes, term.low, term.high, term.basis};
    if (auto moved = calibrate({{term.id, &total}}, calibration); !moved) return moved;
    term = term_of(term.id, total, term.source);
  }
  device.total = Total();
  add_up(device);
  return {};
}

}  // namespace

Result<LlamaCppEstimate> llama_cpp_parts(const LlamaCppModel& model,
                                         const LlamaCppOptions& options) {
  LlamaCppEstimate parts;
  auto context = llama_cpp_context(model, options);
  if (!context) return fail(std::move(context.error()));
  auto placement = llama_cpp_placement(model, options);
  if (!placement) return fail(std::move(placement.error()));
  const auto num_gpus = static_cast<uint32_t>(options.devices.size());
  auto compute = llama_cpp_compute(model, *context, *placement, num_gpus);
  if (!compute) {
    compute = stand_in_compute(model, *context, *placement, num_gpus);
    parts.compute_basis = Basis::assumed;
    parts.notes.push_back(stand_in_note(model));
  }
  if (!compute) return fail(unknown_compute(model));
  parts.stored = llama_cpp_stored(model, *context, *placement, num_gpus);
  parts.context = *context;
  parts.placement = std::move(*placement);
  parts.compute = std::move(*compute);
  return parts;
}

Result<LlamaCppEstimate> estimate_llama_cpp(const LlamaCppModel& model, LlamaCppOptions options,
                                            const LlamaCppMachine& machine,
                                            const LlamaCppExtras& extras,
                                            const LlamaCppConstants& constants) {
  options.devices = devices_of(machine, constants);
  Result<LlamaCppEstimate> estimate = llama_cpp_parts(model, options);
  if (!estimate) return estimate;
  Bookkeeper books(machine.gpus.size());
  books.add(*estimate);
  books.add_contexts(constants.cuda_context);
  books.add_projector(extras.projector);
  books.add_lora(extras.lora, estimate->stored.weights);
  if (options.program == LlamaCppProgram::server)
    books.add_server_caches(server_cache_bytes(*estimate, constants));
  if (extras.draft != nullptr) {
    auto draft = llama_cpp_parts(*extras.draft, draft_options_of(options, extras.draft_options));
    if (!draft) return draft;
    books.add(*draft);
    estimate->notes.insert(estimate->notes.end(), draft->notes.begin(), draft->notes.end());
    estimate->draft.push_back(std::move(*draft));
  }
  auto devices = devices_of(books, machine);
  const auto cache = summary_of(model, *estimate);
  if (!devices || !cache) return overflow();
  for (uint64_t i = 0; i < machine.gpus.size() && !extras.calibration.is_empty(); ++i) {
    const auto moved = calibrate_device((*devices)[index_of(i)], extras.calibration);
    if (!moved) return fail(moved.error());
  }
  estimate->breakdown.devices = std::move(*devices);
  estimate->breakdown.cache = *cache;
  estimate->breakdown.verdict = worst_verdict(estimate->breakdown.devices);
  return estimate;
}

Answers llama_cpp_answers(const LlamaCppModel& model, const LlamaCppOptions& options,
                          const LlamaCppMachine& machine, const LlamaCppExtras& extras,
                          const LlamaCppConstants& constants) {
  const auto fits = [&](const LlamaCppOptions& asked) {
    const auto estimate = estimate_llama_cpp(model, asked, machine, extras, constants);
    return estimate && estimate->breakdown.verdict.state != VerdictState::does_not_fit;
  };
  const uint64_t sequences = std::max<uint64_t>(1, options.n_seq_max);
  const auto fits_context = [&](uint64_t steps) {
    LlamaCppOptions asked = options;
    asked.ctx_tokens = steps * kContextStep * sequences;
    return fits(asked);
  };
  // Each sequence keeps the share of the context that it has now.
  const uint64_t share = options.ctx_tokens / sequences;
  const auto fits_sequences = [&](uint64_t count) {
    LlamaCppOptions asked = options;
    asked.n_seq_max = count;
    asked.ctx_tokens = share * count;
    return fits(asked);
  };
  Answers answers;
  const uint64_t max_steps = std::max(model.spec.max_context_tokens, share) / kContextStep;
  answers.max_context_tokens = largest_that_holds(max_steps, fits_context) * kContextStep;
  if (options.ctx_tokens != 0)
    answers.max_requests = largest_that_holds(kMaxSequences, fits_sequences);
  return answers;
}

}  // namespace vramgauge

#include "engine/llama_cpp_fit_trials.h"

#include <algorithm>
#include <numeric>

namespace vramgauge {
namespace {

int64_t bytes_of_term(const DeviceBreakdown& device, TermId id) {
  for (const Term& term : device.terms) {
    if (term.id == id) return static_cast<int64_t>(term.bytes.count());
  }
  return 0;
}

int64_t counted_host_bytes(const LlamaCppEstimate& estimate) {
  const LlamaCppStored& stored = estimate.stored;
  CheckedU64 sum = stored.weights.cpu + stored.weights.pinned;
  for (const LlamaCppBufferBytes* cache :
       {&stored.kv_full, &stored.kv_windowed, &stored.indexer, &stored.state})
    sum += cache->cpu + cache->pinned;
  sum += checked(estimate.compute.host.bytes);
  return static_cast<int64_t>(std::min(sum.value_or(kMaxApiBytes), kMaxApiBytes));
}

}  // namespace

int64_t LlamaCppUsage::sum() const {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

LlamaCppTrials::LlamaCppTrials(const LlamaCppModel& model, const LlamaCppMachine& machine,
                               const LlamaCppExtras& extras, const LlamaCppConstants& constants)
    : model_(model), machine_(machine), constants_(constants) {
  counted_.draft = extras.draft;
  counted_.draft_options = extras.draft_options;
}

LlamaCppUsage LlamaCppTrials::usage(const LlamaCppOptions& options) {
  LlamaCppUsage usage;
  usage.bytes.assign(std::max<size_t>(1, machine_.gpus.size()), 0);
  const auto estimate = estimate_llama_cpp(model_, options, machine_, counted_, constants_);
  if (!estimate) {
    if (errors_.empty()) errors_ = estimate.error();
    return usage;
  }
  if (machine_.gpus.empty()) usage.bytes[0] = counted_host_bytes(*estimate);
  for (size_t i = 0; i < machine_.gpus.size(); ++i) {
    const DeviceBreakdown& gpu = estimate->breakdown.devices[i];
    usage.bytes[i] =
        static_cast<int64_t>(gpu.total.bytes.count()) - bytes_of_term(gpu, TermId::runtime);
    usage.weights_bytes += bytes_of_term(gpu, TermId::weights);
  }
  return usage;
}

}  // namespace vramgauge

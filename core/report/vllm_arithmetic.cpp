#include "report/vllm_arithmetic.h"

#include <string>
#include <utility>

#include "report/product.h"
#include "report/staged_arithmetic.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string_view group_label(VllmKvKind kind) {
  switch (kind) {
    case VllmKvKind::full: return "full_caches";
    case VllmKvKind::sliding:
    case VllmKvKind::chunked: return "windowed_caches";
    case VllmKvKind::state: return "states";
    case VllmKvKind::cross: return "cross_caches";
  }
  return "";
}

/// One stage of an estimate.
class Explainer {
 public:
  Explainer(const VllmEstimate& estimate, const VllmInputs& inputs, const VllmProfile& profile,
            uint64_t stage)
      : estimate_(estimate), inputs_(inputs), profile_(profile), index_(index_of(stage)) {}

  std::vector<ArithmeticLine> lines(TermId id) const {
    switch (id) {
      case TermId::weights: return loaded_weight_lines(inputs_.stage_weights[index_]);
      case TermId::kv_cache: return caches();
      case TermId::activations: return activations();
      case TermId::runtime: return runtime();
    }
    return {};
  }

 private:
  /// Blocks of each table, of the requests or of one of the greatest length where that is more.
  std::vector<ArithmeticLine> caches() const {
    const VllmKvPlan& plan = estimate_.plan;
    const VllmWorkload& work = inputs_.workload;
    const CheckedU64 asked = vllm_blocks_per_request(plan, work.context_tokens) * work.num_requests;
    const uint64_t longest = inputs_.cache.max_model_len;
    const bool is_one =
        asked.value_or(UINT64_MAX) < vllm_blocks_per_request(plan, longest).value_or(0);
    const uint64_t requests = is_one ? 1 : work.num_requests;
    const uint64_t tokens = is_one ? longest : work.context_tokens;
    const uint64_t block_bytes = plan.stage_block_bytes[index_];
    std::vector<ArithmeticLine> lines;
    for (const VllmKvGroup& group : plan.groups) {
      const uint64_t blocks = vllm_group_blocks(plan, group, tokens).value_or(0);
      Product product;
      product.times("num_requests", requests)
          .times("blocks_per_request", blocks)
          .bytes("bytes_per_block", block_bytes);
      lines.push_back(product.line(std::string(group_label(group.kind)),
                                   CheckedU64(requests) * blocks * block_bytes));
    }
    return lines;
  }

  /// The parts of the profiling run, of which the largest counts.
  std::vector<ArithmeticLine> activations() const {
    const VllmActivation& run = estimate_.stages[index_].activation;
    std::vector<ArithmeticLine> lines;
    add(lines, "forward_pass", "max_num_batched_tokens", estimate_.max_num_batched_tokens,
        "widest_layer_bytes", run.forward);
    add(lines, "logits_peak", "max_num_seqs", estimate_.max_num_seqs, "bytes_per_row_of_logits",
        run.sampler);
    add(lines, "encoder_pass", "image_patches", inputs_.encoder.patches, "bytes_per_patch",
        run.encoder);
    const std::string largest = "max(" + grouped_digits(run.forward.count()) + ", " +
                                grouped_digits(run.sampler.count()) + ", " +
                                grouped_digits(run.encoder.count()) + ")";
    lines.push_back(
        {"profiled_peak", "max(forward_pass, logits, encoder)", largest, run.peak.count()});
    return lines;
  }

  static void add(std::vector<ArithmeticLine>& lines, std::string label, std::string_view count,
                  uint64_t number, std::string_view width, Bytes bytes) {
    if (bytes == Bytes() || number == 0) return;
    lines.push_back({std::move(label),
                     std::string(count) + std::string(kTimes) + std::string(width),
                     grouped_digits(number) + std::string(kTimes) +
                         grouped_digits(bytes.count() / number) + " B",
                     bytes.count()});
  }

  std::vector<ArithmeticLine> runtime() const {
    const BandedDecimal& constant = vllm_non_torch_gib(inputs_, profile_);
    Product product;
    product.times("non_torch_gib", constant.value).bytes("bytes_per_gib", kGiB);
    std::vector<ArithmeticLine> lines{product.line("non_torch", CheckedU64(kGiB) * constant.value)};
    const Bytes graphs = estimate_.stages[index_].graphs;
    if (graphs != Bytes()) {
      lines.push_back({"cuda_graphs",
                       "layers" + std::string(kTimes) + "captured_sizes" + std::string(kTimes) +
                           "graph_layer_mib",
                       grouped_digits(graphs.count()) + " B", graphs.count()});
    }
    return lines;
  }

  const VllmEstimate& estimate_;
  const VllmInputs& inputs_;
  const VllmProfile& profile_;
  std::size_t index_;
};

}  // namespace

void explain_vllm(VllmEstimate& estimate, const VllmInputs& inputs, const VllmProfile& profile) {
  for (uint64_t stage = 0; stage < estimate.breakdown.devices.size(); ++stage) {
    const Explainer explainer(estimate, inputs, profile, stage);
    for (Term& term : estimate.breakdown.devices[index_of(stage)].terms)
      term.lines = explainer.lines(term.id);
  }
}

}  // namespace vramgauge

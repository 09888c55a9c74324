#include "report/staged_arithmetic.h"

#include <algorithm>
#include <string>
#include <utility>

#include "report/product.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

void add(std::vector<ArithmeticLine>& lines, std::string label, std::string formula,
         CheckedU64 bytes) {
  const uint64_t value = bytes.value_or(0);
  if (value == 0) return;
  lines.push_back({std::move(label), std::move(formula), grouped_digits(value) + " B", value});
}

/// A constant in GiB under its own name.
ArithmeticLine constant_line(std::string_view label, std::string_view key,
                             const BandedDecimal& constant) {
  Product product;
  product.times(key, constant.value).bytes("bytes_per_gib", kGiB);
  return product.line(std::string(label), CheckedU64(kGiB) * constant.value);
}

std::vector<ArithmeticLine>& lines_of(Breakdown& breakdown, uint64_t stage, TermId id) {
  for (Term& term : breakdown.devices[index_of(stage)].terms) {
    if (term.id == id) return term.lines;
  }
  return breakdown.devices[index_of(stage)].terms.back().lines;
}

void add_layers(std::vector<ArithmeticLine>& lines, std::string_view label, CheckedU64 bytes,
                std::string_view bytes_name, std::string_view tokens_name, uint64_t tokens,
                uint64_t requests) {
  if (bytes.value_or(0) == 0) return;
  Product product;
  product.times("num_requests", requests)
      .times(tokens_name, tokens)
      .bytes(bytes_name, bytes.value_or(0));
  lines.push_back(product.line(std::string(label), bytes * tokens * requests));
}

}  // namespace

std::vector<ArithmeticLine> loaded_weight_lines(const VllmLoadedWeights& weights) {
  std::vector<ArithmeticLine> lines;
  const CheckedU64 named = checked(weights.parameters) + checked(weights.tables) +
                           checked(weights.workspaces) + checked(weights.adapters);
  add(lines, "parameters_of_rank", "sum of the tensors of one rank", checked(weights.parameters));
  add(lines, "rotary_tables",
      "rows" + std::string(kTimes) + "rotary_dim" + std::string(kTimes) + "bytes_per_element",
      checked(weights.tables));
  add(lines, "load_workspaces", "buffers that exist before the model runs",
      checked(weights.workspaces));
  add(lines, "adapter_slots", "slots for adapters", checked(weights.adapters));
  // Nothing is left where a file's own bytes are counted.
  if (const CheckedU64 rest = checked(weights.allocated) - named; rest.valid())
    add(lines, "allocator_rounding", "blocks of PyTorch's allocator - what was asked for", rest);
  return lines;
}

std::vector<ArithmeticLine> counted_cache_lines(const CacheSums& sums, const CacheCounts& counts) {
  std::vector<ArithmeticLine> lines;
  add_layers(lines, "full_caches", sums.full_bytes, "bytes_per_token", "tokens", counts.tokens,
             counts.num_requests);
  add_layers(lines, "windowed_caches", sums.window_bytes, "bytes_per_token", "tokens_kept",
             counts.window_tokens, counts.num_requests);
  add_layers(lines, "states", sums.state_bytes, "bytes_per_state", "states_per_request",
             counts.states, counts.num_requests);
  return lines;
}

void explain_sglang(SglangEstimate& estimate, const SglangInputs& inputs,
                    const SglangProfile& profile) {
  Breakdown& breakdown = estimate.breakdown;
  for (uint64_t stage = 0; stage < breakdown.devices.size(); ++stage) {
    lines_of(breakdown, stage, TermId::kv_cache) =
        counted_cache_lines(estimate.caches[index_of(stage)], estimate.counts);
    const CheckedU64 start = checked(inputs.device_total) - checked(inputs.held_by_others) -
                             CheckedU64(kGiB) * profile.context_gib.value;
    ArithmeticLine reserve{"static_reserve",
                           "free_at_start" + std::string(kTimes) + "(1 - mem_fraction_static)",
                           grouped_digits(start.value_or(0)) + " B" + std::string(kTimes) +
                               "(1 - " + estimate.mem_fraction_static.text() + ")",
                           (start - checked(estimate.share)).value_or(0)};
    lines_of(breakdown, stage, TermId::activations).push_back(std::move(reserve));
    std::vector<ArithmeticLine>& runtime = lines_of(breakdown, stage, TermId::runtime);
    runtime.push_back(constant_line("cuda_context", "context_gib", profile.context_gib));
    runtime.push_back(constant_line("after_loading", "after_load_gib", profile.after_load_gib));
  }
}

void explain_trtllm(TrtllmEstimate& estimate, const TrtllmInputs& inputs,
                    const TrtllmProfile& profile) {
  Breakdown& breakdown = estimate.breakdown;
  for (uint64_t stage = 0; stage < breakdown.devices.size(); ++stage) {
    const CacheSums& sums = estimate.caches[index_of(stage)];
    CacheCounts counts = estimate.counts;
    counts.states = 0;
    lines_of(breakdown, stage, TermId::kv_cache) = counted_cache_lines(sums, counts);
    std::vector<ArithmeticLine>& activations = lines_of(breakdown, stage, TermId::activations);
    add(activations, "forward_pass",
        "max_num_tokens" + std::string(kTimes) + "3" + std::string(kTimes) +
            "(hidden_size + intermediate_size / tensor_ranks)" + std::string(kTimes) + "2 B",
        checked(breakdown.devices[index_of(stage)].terms[2].bytes));
    std::vector<ArithmeticLine>& runtime = lines_of(breakdown, stage, TermId::runtime);
    runtime.push_back(constant_line("cuda_context", "runtime_gib", profile.runtime_gib));
    add_layers(runtime, "states", sums.state_bytes, "bytes_per_state", "states_per_request", 1,
               std::max(inputs.max_batch_size, inputs.num_requests));
  }
}

void explain_transformers(TransformersEstimate& estimate, const TransformersInputs& inputs,
                          const TransformersProfile& profile) {
  Breakdown& breakdown = estimate.breakdown;
  const TransformersPeak& peak = estimate.is_prefill_higher ? estimate.prefill : estimate.decode;
  const std::string tokens =
      "num_requests" + std::string(kTimes) + (estimate.is_prefill_higher ? "prefill_tokens" : "1");
  for (uint64_t stage = 0; stage < breakdown.devices.size(); ++stage) {
    lines_of(breakdown, stage, TermId::kv_cache) =
        counted_cache_lines(estimate.caches[index_of(stage)], estimate.counts[index_of(stage)]);
    std::vector<ArithmeticLine>& activations = lines_of(breakdown, stage, TermId::activations);
    add(activations, "attention_peak",
        tokens + std::string(kTimes) +
            (inputs.is_eager ? "(states, queries, keys, values, scores)"
                             : "(states, queries, keys, values)"),
        peak.attention);
    add(activations, "feed_forward_peak",
        tokens + std::string(kTimes) + "(2" + std::string(kTimes) +
            "hidden_size, gate, up, product)",
        peak.feed_forward);
    if (stage + 1 == breakdown.devices.size()) {
      const bool is_last = profile.has_last_logits || !estimate.is_prefill_higher;
      add(activations, "logits_peak",
          tokens + std::string(kTimes) + "2" + std::string(kTimes) + "hidden_size" +
              std::string(kTimes) + "bytes_per_element + " + (is_last ? "num_requests" : tokens) +
              std::string(kTimes) + "vocab_size" + std::string(kTimes) +
              "(bytes_per_element + 4 B)",
          peak.logits);
    }
    add(activations, "copied_keys", "keys of one layer, old and new", peak.copied);
    lines_of(breakdown, stage, TermId::runtime)
        .push_back(constant_line("cuda_context", "context_gib", profile.context_gib));
  }
}

}  // namespace vramgauge

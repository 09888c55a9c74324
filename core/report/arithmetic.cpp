#include "report/arithmetic.h"

#include <string>
#include <string_view>

#include "model/cache_bytes.h"
#include "model/parameters.h"
#include "report/product.h"

namespace vramgauge {
namespace {

std::string groups_text(const std::vector<RoleGroup>& groups) {
  std::string out;
  for (const RoleGroup group : groups) {
    if (!out.empty()) out += " + ";
    out += role_group_name(group);
  }
  return out;
}

ArithmeticLine sum_line(std::string label, const std::vector<ArithmeticLine>& parts) {
  ArithmeticLine line;
  line.label = std::move(label);
  for (const ArithmeticLine& part : parts) {
    if (!line.formula.empty()) {
      line.formula += " + ";
      line.substituted += " + ";
    }
    line.formula += part.label;
    line.substituted += grouped_digits(part.result) + " B";
    line.result += part.result;
  }
  return line;
}

/// One vector: elements x bytes where that divides, else bytes as they are.
void add_vector(Product& product, std::string_view elements_name, uint64_t elements,
                uint64_t bytes) {
  if (elements != 0 && bytes % elements == 0) {
    product.times(elements_name, elements).bytes("bytes_per_element", bytes / elements);
  } else {
    product.bytes("bytes_per_vector", bytes);
  }
}

Product entry_product(const CacheSegment& segment) {
  Product product;
  const bool symmetric = segment.k_bytes == segment.v_bytes && segment.v_bytes != 0;
  if (symmetric) product.times(2);
  product.times("num_layers", segment.layers);
  if (segment.num_kv_heads > 0) product.times("num_kv_heads", segment.num_kv_heads);
  if (symmetric || segment.v_bytes == 0) {
    add_vector(product, segment.v_bytes == 0 ? "latent_dim" : "head_dim", segment.k_elements,
               segment.k_bytes);
  } else {
    product.bytes("(key_bytes + value_bytes)", segment.k_bytes + segment.v_bytes);
  }
  return product;
}

std::string segment_label(const CacheSegment& segment, std::string_view suffix) {
  return std::string(cache_kind_name(segment.kind)) + "_" + std::string(suffix);
}

/// Tokens of a request that a segment keeps.
uint64_t kept_tokens(const CacheSegment& segment, uint64_t tokens) {
  return segment.saturation_tokens == 0 || tokens < segment.saturation_tokens
             ? tokens
             : segment.saturation_tokens;
}

void add_segment_lines(std::vector<ArithmeticLine>& lines, std::vector<ArithmeticLine>& requests,
                       const CacheSegment& segment, const Scenario& scenario) {
  const CheckedU64 per_layer(segment.entry_bytes);
  if (segment.entry_bytes > 0) {
    const CheckedU64 per_entry = per_layer * segment.layers;
    lines.push_back(entry_product(segment).line(
        segment_label(segment,
                      segment.tokens_per_entry > 1 ? "bytes_per_entry" : "bytes_per_token"),
        per_entry));
    Product request;
    request.bytes("bytes_per_token", per_entry.value_or(0))
        .times("tokens_kept", kept_tokens(segment, scenario.context_tokens));
    if (segment.tokens_per_entry > 1) {
      request = Product();
      const CheckedU64 entries =
          ceil_div(kept_tokens(segment, scenario.context_tokens), segment.tokens_per_entry);
      request.bytes("bytes_per_entry", per_entry.value_or(0)).times("entries", entries.value_or(0));
    }
    const CheckedU64 bytes =
        segment_bytes(segment, scenario.context_tokens, {scenario.kv_block_tokens}) -
        CheckedU64(segment.fixed_bytes) * segment.layers;
    requests.push_back(request.line(segment_label(segment, "bytes_per_request"), bytes));
  }
  if (segment.fixed_bytes > 0) {
    Product fixed;
    fixed.times("num_layers", segment.layers).bytes("bytes_per_layer", segment.fixed_bytes);
    requests.push_back(fixed.line(segment_label(segment, "fixed_bytes"),
                                  CheckedU64(segment.fixed_bytes) * segment.layers));
  }
}

ArithmeticLine all_requests_line(const CacheLayout& layout, const Scenario& scenario) {
  const CheckedU64 one = cache_bytes(layout, scenario.context_tokens, {scenario.kv_block_tokens});
  const CheckedU64 all =
      cache_bytes_for_requests(layout, scenario.context_tokens, scenario.num_requests,
                               scenario.shared_prefix_tokens, {scenario.kv_block_tokens});
  Product product;
  product.bytes("bytes_per_request", one.value_or(0)).times("num_requests", scenario.num_requests);
  ArithmeticLine line = product.line("cache_of_all_requests", all);
  const CheckedU64 shared = one * scenario.num_requests - all;
  if (shared.value_or(0) > 0) {
    line.formula += " - shared_prefix_bytes";
    line.substituted += " - " + grouped_digits(shared.value_or(0)) + " B";
  }
  return line;
}

}  // namespace

std::vector<ArithmeticLine> weight_lines(const FormattedWeights& weights,
                                         const WeightFormat& format, uint64_t gpu_count) {
  std::vector<ArithmeticLine> lines;
  for (const StorageLine& storage : weights.lines) {
    ArithmeticLine line;
    line.label = "weights_stored";
    line.formula = groups_text(storage.groups) + " (" + storage.storage + ")";
    line.substituted = grouped_digits(storage.elements) + " elements";
    line.result = storage.bytes.count();
    lines.push_back(std::move(line));
  }
  ArithmeticLine sum = sum_line("weights_of_model", lines);
  sum.formula = "sum of all tensors as " + format.name;
  if (lines.size() > 1) lines.push_back(sum);
  if (gpu_count > 1) {
    lines.push_back({"weights_per_device", "weights / gpu_count",
                     grouped_digits(sum.result) + " B / " + grouped_digits(gpu_count),
                     ceil_div(sum.result, gpu_count).value_or(0)});
  }
  return lines;
}

std::vector<ArithmeticLine> cache_lines(const CacheLayout& layout, const Scenario& scenario) {
  std::vector<ArithmeticLine> lines;
  std::vector<ArithmeticLine> requests;
  for (const CacheSegment& segment : layout.segments)
    add_segment_lines(lines, requests, segment, scenario);
  lines.insert(lines.end(), requests.begin(), requests.end());
  if (requests.size() > 1) lines.push_back(sum_line("bytes_per_request", requests));
  if (!requests.empty()) lines.push_back(all_requests_line(layout, scenario));
  return lines;
}

std::vector<ArithmeticLine> generic_activation_lines(const Scenario& scenario,
                                                     const GenericModel& model, Bytes weights,
                                                     Bytes cache) {
  if (scenario.live_buffers.is_zero()) {
    const CheckedU64 held = checked(weights) + checked(cache);
    return {{"activations_by_factor",
             "(weights + kv_cache)" + std::string(kTimes) + "(overhead_factor - 1)",
             "(" + grouped_digits(weights.count()) + " B + " + grouped_digits(cache.count()) +
                 " B)" + std::string(kTimes) + "(" + scenario.overhead_factor.text() + " - 1)",
             (held * scenario.overhead_factor - held).value_or(0)}};
  }
  const CheckedU64 width = CheckedU64(model.hidden_size) + model.intermediate_size;
  Product product;
  product.times("prefill_batch", prefill_batch(scenario))
      .times("prefill_tokens", prefill_tokens(scenario))
      .times("(hidden_size + intermediate_size)", width.value_or(0))
      .bytes("bytes_per_element", kActivationElementBytes)
      .times("live_buffers", scenario.live_buffers);
  const CheckedU64 elements =
      CheckedU64(prefill_batch(scenario)) * prefill_tokens(scenario) * width;
  return {product.line("activations_of_prefill",
                       elements * kActivationElementBytes * scenario.live_buffers)};
}

std::vector<ArithmeticLine> generic_runtime_lines(const Scenario& scenario) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  Product product;
  product.times("fixed_gib", scenario.fixed_gib).bytes("bytes_per_gib", kGiB);
  return {product.line("runtime_fixed", CheckedU64(kGiB) * scenario.fixed_gib)};
}

}  // namespace vramgauge

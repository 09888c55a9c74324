#include "report/llama_cpp_arithmetic.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "engine/llama_cpp_cache.h"
#include "report/product.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr uint64_t kHost = LlamaCppPlacement::kHost;

std::string product_text(std::initializer_list<std::string_view> factors) {
  std::string text;
  for (const std::string_view factor : factors)
    text.append(text.empty() ? std::string_view() : kTimes).append(factor);
  return text;
}

/// One device of an estimate; kHost for host memory.
class Explainer {
 public:
  Explainer(const LlamaCppEstimate& estimate, const LlamaCppModel& model, uint64_t device)
      : estimate_(estimate), model_(model), device_(device) {}

  std::vector<ArithmeticLine> weights() const {
    std::vector<ArithmeticLine> lines;
    const LlamaCppBufferBytes& bytes = estimate_.stored.weights;
    if (is_host()) {
      add(lines, "host_weights", "sum of padded tensors", bytes.cpu);
      add(lines, "repacked_weights", "sum of repacked matrices", bytes.cpu_repack);
      add(lines, "pinned_weights", "sum of padded tensors", bytes.pinned);
    } else {
      add(lines, "gpu_weights", "sum of padded tensors", bytes.gpus[index_of(device_)]);
    }
    return lines;
  }

  std::vector<ArithmeticLine> caches() const {
    std::vector<ArithmeticLine> lines = full_layers();
    const LlamaCppStored& stored = estimate_.stored;
    add(lines, "full_caches", "rows padded to the buffer's alignment", of(stored.kv_full));
    add(lines, "windowed_caches",
        product_text({"windowed layers", "n_streams"}) + std::string(kTimes) +
            std::to_string(estimate_.context.cells_swa) + " cells",
        of(stored.kv_windowed));
    add(lines, "indexer_caches", "index keys of every cell", of(stored.indexer));
    add(lines, "states", product_text({"n_seq_max", "states in F32"}), of(stored.state));
    return lines;
  }

  std::vector<ArithmeticLine> activations() const {
    std::vector<ArithmeticLine> lines;
    const LlamaCppComputeBytes& compute =
        is_host() ? estimate_.compute.host : estimate_.compute.gpus[index_of(device_)];
    add(lines, "compute_buffer",
        "largest moment of a batch of " + std::to_string(estimate_.context.n_ubatch) + " tokens",
        checked(compute.bytes));
    add(lines, "output_buffer", product_text({"4 B", "vocab_size", "n_seq_max"}),
        of(estimate_.stored.output));
    return lines;
  }

 private:
  bool is_host() const { return device_ == kHost; }

  CheckedU64 of(const LlamaCppBufferBytes& bytes) const {
    if (is_host()) return bytes.cpu + bytes.cpu_repack + bytes.pinned;
    return bytes.gpus[index_of(device_)];
  }

  static void add(std::vector<ArithmeticLine>& lines, std::string label, std::string formula,
                  CheckedU64 bytes) {
    const uint64_t value = bytes.value_or(0);
    if (value == 0) return;
    lines.push_back({std::move(label), std::move(formula), grouped_digits(value) + " B", value});
  }

  /// Layers on this device that keep every token, those of one width together.
  std::vector<ArithmeticLine> full_layers() const {
    std::vector<std::pair<uint64_t, uint64_t>> widths;
    for (uint64_t layer = 0; layer < model_.layers.size(); ++layer) {
      const uint64_t cell = llama_cpp_cell_bytes(model_, estimate_.context, layer).value_or(0);
      if (cell == 0 || estimate_.placement.cache_device(layer) != device_) continue;
      auto known = widths.begin();
      while (known != widths.end() && known->first != cell)
        ++known;
      if (known == widths.end()) known = widths.insert(known, {cell, 0});
      ++known->second;
    }
    std::vector<ArithmeticLine> lines;
    for (const auto& [cell, layers] : widths) {
      Product product;
      product.times("num_layers", layers)
          .times("n_streams", estimate_.context.n_streams)
          .times("cells", estimate_.context.cells)
          .bytes("bytes_per_cell", cell);
      lines.push_back(product.line(
          "cells_of_layers",
          CheckedU64(layers) * estimate_.context.n_streams * estimate_.context.cells * cell));
    }
    return lines;
  }

  const LlamaCppEstimate& estimate_;
  const LlamaCppModel& model_;
  uint64_t device_;
};

/// What the draft model adds to a term of one device.
std::vector<ArithmeticLine> draft_lines(const LlamaCppEstimate& estimate, TermId id,
                                        uint64_t device) {
  if (estimate.draft.empty()) return {};
  const LlamaCppStored& stored = estimate.draft.front().stored;
  const auto of = [device](const LlamaCppBufferBytes& bytes) {
    if (device != kHost) return bytes.gpus[index_of(device)];
    return bytes.cpu + bytes.cpu_repack + bytes.pinned;
  };
  CheckedU64 bytes;
  std::string_view formula;
  if (id == TermId::weights) {
    bytes = of(stored.weights);
    formula = "padded tensors of the draft model";
  } else if (id == TermId::kv_cache) {
    bytes = of(stored.kv_full) + of(stored.kv_windowed) + of(stored.indexer) + of(stored.state);
    formula = "caches of the draft model, of the same context and sequences";
  } else if (id == TermId::activations) {
    const LlamaCppCompute& compute = estimate.draft.front().compute;
    bytes = of(stored.output) +
            checked((device == kHost ? compute.host : compute.gpus[index_of(device)]).bytes);
    formula = "compute and output buffers of the draft model";
  }
  const uint64_t value = bytes.value_or(0);
  if (value == 0) return {};
  return {{"draft_model", std::string(formula), grouped_digits(value) + " B", value}};
}

std::vector<ArithmeticLine> lines_of(const Explainer& explainer, TermId id) {
  switch (id) {
    case TermId::weights: return explainer.weights();
    case TermId::kv_cache: return explainer.caches();
    case TermId::activations: return explainer.activations();
    case TermId::runtime: return {};
  }
  return {};
}

/// CUDA's context on a GPU; what the server's caches may grow to on the host.
ArithmeticLine runtime_line(const Term& term, bool is_host) {
  return {is_host ? "server_caches" : "cuda_context",
          is_host ? "prompt_cache + context_checkpoints, at most" : "cuda_context_mib",
          grouped_digits(term.low.count()) + " - " + grouped_digits(term.high.count()) + " B",
          term.bytes.count()};
}

}  // namespace

void explain_llama_cpp(LlamaCppEstimate& estimate, const LlamaCppModel& model,
                       const std::string& source) {
  std::vector<DeviceBreakdown>& devices = estimate.breakdown.devices;
  for (uint64_t i = 0; i < devices.size(); ++i) {
    const bool is_host = i + 1 == devices.size();
    const Explainer explainer(estimate, model, is_host ? kHost : i);
    for (Term& term : devices[index_of(i)].terms) {
      term.lines = lines_of(explainer, term.id);
      for (ArithmeticLine& line : draft_lines(estimate, term.id, is_host ? kHost : i))
        term.lines.push_back(std::move(line));
      if (term.id == TermId::runtime && term.high != Bytes())
        term.lines.push_back(runtime_line(term, is_host));
      term.source = source;
    }
  }
}

}  // namespace vramgauge

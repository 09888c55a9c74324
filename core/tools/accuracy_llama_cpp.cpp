#include "accuracy_llama_cpp.h"

#include <algorithm>
#include <utility>

#include "accuracy_file.h"
#include "accuracy_llama_cpp_flags.h"
#include "engine/llama_cpp.h"
#include "import/gguf_reader.h"
#include "model/llama_cpp_weights.h"

namespace vramgauge::tools {
namespace {

constexpr std::string_view kSuffix = ".gguf.head.gz";

std::string model_name(const TruthTable& table, uint64_t row) {
  return std::string(table.cell(row, "model")) + "." + std::string(table.cell(row, "quant"));
}

RowName row_name(const TruthTable& table, uint64_t row) {
  std::string text = model_name(table, row);
  for (const std::string_view column :
       {"backend", "ctx", "n_seq_max", "kv_unified", "n_batch", "n_ubatch", "type_k", "type_v",
        "flash_attn", "swa_full", "n_gpu_layers", "n_outputs_max", "extra_args"}) {
    const std::string_view cell = table.cell(row, column);
    if (!cell.empty()) text += " " + std::string(column) + "=" + std::string(cell);
  }
  return {TruthTable::line_of(row), std::move(text)};
}

using Buffers = std::vector<std::pair<std::string, uint64_t>>;

uint64_t number_of(CheckedU64 value) { return value.value_or(UINT64_MAX); }

/// Buffers that hold something, by the names of the build that made the table.
Buffers named(const LlamaCppBufferBytes& bytes) {
  Buffers buffers;
  const auto add = [&buffers](std::string name, CheckedU64 value) {
    if (number_of(value) != 0) buffers.emplace_back(std::move(name), number_of(value));
  };
  add("CPU", bytes.cpu);
  add("CPU_REPACK", bytes.cpu_repack);
  add("FGPU_Host", bytes.pinned);
  for (std::size_t i = 0; i < bytes.gpus.size(); ++i)
    add("FGPU" + std::to_string(i), bytes.gpus[i]);
  return buffers;
}

/// NAME=bytes;NAME=bytes
Buffers parse_buffers(std::string_view text) {
  Buffers buffers;
  for (const std::string_view part : split_text(text, ';')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view bytes = part.substr(std::min(equals + 1, part.size()));
    buffers.emplace_back(std::string(part.substr(0, equals)),
                         static_cast<uint64_t>(parse_integer(bytes).value_or(0)));
  }
  return buffers;
}

uint64_t bytes_in(const Buffers& buffers, std::string_view name) {
  uint64_t bytes = 0;
  for (const auto& [buffer, held] : buffers)
    bytes += buffer == name ? held : 0;
  return bytes;
}

LlamaCppBufferBytes operator+(LlamaCppBufferBytes a, const LlamaCppBufferBytes& b) {
  a.cpu += b.cpu;
  a.cpu_repack += b.cpu_repack;
  a.pinned += b.pinned;
  for (std::size_t i = 0; i < a.gpus.size(); ++i)
    a.gpus[i] += b.gpus[i];
  return a;
}

/// Scores one row.
class RowScore {
 public:
  RowScore(const TruthTable& table, uint64_t row, const LlamaCppRules& rules, Scores& scores)
      : table_(table), row_(row), rules_(rules), name_(row_name(table, row)), scores_(scores) {}

  void score(HeaderStore& headers) {
    std::string reason;
    const LlamaCppModel* model = headers.find(model_name(table_, row_), reason);
    if (model == nullptr) return cannot(reason);
    auto options = read_llama_cpp_flags(table_, row_, reason);
    if (!options) return cannot(reason);
    options->rules = rules_;
    const auto parts = llama_cpp_parts(*model, *options);
    if (!parts) return refuse(parts.error().front());
    if (!is_ok()) return cannot("predicted, but the engine refused it");
    compare_sizes(parts->context, parts->placement);
    compare(parts->stored);
    compare(parts->stored, parts->compute);
  }

 private:
  bool is_ok() const { return table_.cell(row_, "status") == "ok"; }

  /// The engine's own words end the table's status.
  void refuse(const Diagnostic& refusal) {
    if (is_ok()) return cannot(message_of(refusal));
    const auto* reason = refusal.code == ErrorCode::llama_cpp_refused
                             ? std::get_if<std::string>(&refusal.args.front().value)
                             : nullptr;
    const bool is_same =
        reason != nullptr && table_.cell(row_, "status").find(*reason) != std::string_view::npos;
    if (!is_same) return cannot(message_of(refusal));
    scores_.add("refused", name_, 1, exactly(1));
  }

  void cannot(const std::string& reason) {
    if (!is_ok()) return scores_.add_unpredicted("refused", name_, reason);
    for (const std::string_view quantity :
         {"weights_bytes", "kv_bytes", "kv_indexer_bytes", "rs_bytes", "output_bytes",
          "compute_bytes", "total_bytes"}) {
      scores_.add_unpredicted(quantity, name_, reason);
    }
  }

  /// What the sizes in force are, to see where a sum departs.
  void compare_sizes(const LlamaCppContext& context, const LlamaCppPlacement& placement) {
    compare("n_ctx", "n_ctx_eff", context.n_ctx);
    compare("n_ctx_seq", "n_ctx_seq", context.n_ctx_seq);
    if (!table_.cell(row_, "n_cells").empty()) compare("n_cells", "n_cells", context.cells);
    if (!table_.cell(row_, "n_cells_swa").empty())
      compare("n_cells_swa", "n_cells_swa", context.cells_swa);
    compare("pipeline_parallel", "pipeline_parallel", uint64_t{placement.is_pipelined ? 1U : 0U});
    const bool is_same_class =
        table_.cell(row_, "memory_class") == llama_cpp_memory_class_name(context.memory_class);
    scores_.add("memory_class", name_, 1, exactly(is_same_class ? 1 : 0));
  }

  void compare(const LlamaCppStored& stored) {
    compare("weights_bytes", "weights_bytes", stored.weights.sum());
    compare("kv_bytes", "kv_bytes_total",
            stored.kv_full.sum() + stored.kv_windowed.sum() + stored.indexer.sum());
    if (!table_.cell(row_, "kv_bytes_indexer").empty())
      compare("kv_indexer_bytes", "kv_bytes_indexer", stored.indexer.sum());
    if (!table_.cell(row_, "rs_bytes").empty()) compare("rs_bytes", "rs_bytes", stored.state.sum());
    compare("output_bytes", "output_bytes", stored.output.sum());
    compare_buffers("weights_detail", named(stored.weights));
    compare_buffers("kv_detail",
                    named(stored.kv_full + stored.kv_windowed + stored.indexer + stored.state));
    const Buffers output = named(stored.output);
    const bool is_right =
        output.size() == 1 && output[0].first == table_.cell(row_, "output_buffer");
    scores_.add("output_buffer", name_, 1, exactly(is_right ? 1 : 0));
  }

  void compare(const LlamaCppStored& stored, const LlamaCppCompute& compute) {
    Predicted sum = predicted(compute.host);
    std::vector<std::pair<std::string, Predicted>> buffers;
    buffers.emplace_back(compute.gpus.empty() ? "CPU" : "FGPU_Host", sum);
    for (std::size_t i = 0; i < compute.gpus.size(); ++i) {
      const Predicted gpu = predicted(compute.gpus[i]);
      buffers.emplace_back("FGPU" + std::to_string(i), gpu);
      sum = {sum.value + gpu.value, sum.low + gpu.low, sum.high + gpu.high};
    }
    scores_.add("compute_bytes", name_, table_.number(row_, "compute_bytes").value_or(0), sum);
    const Buffers truth = parse_buffers(table_.cell(row_, "compute_detail"));
    for (const auto& [buffer, bytes] : buffers) {
      scores_.add("compute_detail", {name_.line, name_.text + " " + buffer},
                  bytes_in(truth, buffer), bytes);
    }
    compare_total(stored, sum);
  }

  void compare_total(const LlamaCppStored& stored, const Predicted& compute) {
    const uint64_t rest =
        number_of(stored.weights.sum() + stored.kv_full.sum() + stored.kv_windowed.sum() +
                  stored.indexer.sum() + stored.state.sum() + stored.output.sum());
    uint64_t truth = 0;
    for (const std::string_view column :
         {"weights_bytes", "kv_bytes_total", "rs_bytes", "compute_bytes", "output_bytes"}) {
      truth += table_.number(row_, column).value_or(0);
    }
    scores_.add("total_bytes", name_, truth,
                {rest + compute.value, rest + compute.low, rest + compute.high});
  }

  static Predicted predicted(const LlamaCppComputeBytes& bytes) {
    return {bytes.bytes.count(), bytes.low.count(), bytes.high.count()};
  }

  void compare(std::string_view quantity, std::string_view column, CheckedU64 bytes) {
    const auto truth = table_.number(row_, column);
    if (!truth) return scores_.add_unpredicted(quantity, name_, "the truth is no number");
    scores_.add(quantity, name_, *truth, exactly(number_of(bytes)));
  }

  /// Each buffer that either side names counts as a row.
  void compare_buffers(std::string_view column, const Buffers& predicted) {
    const Buffers truth = parse_buffers(table_.cell(row_, column));
    for (const auto& [buffer, bytes] : truth)
      compare_buffer(column, buffer, bytes, bytes_in(predicted, buffer));
    for (const auto& [buffer, bytes] : predicted) {
      if (bytes_in(truth, buffer) == 0) compare_buffer(column, buffer, 0, bytes);
    }
  }

  void compare_buffer(std::string_view column, const std::string& buffer, uint64_t truth,
                      uint64_t predicted) {
    scores_.add(column, {name_.line, name_.text + " " + buffer}, truth, exactly(predicted));
  }

  const TruthTable& table_;
  uint64_t row_;
  const LlamaCppRules& rules_;
  RowName name_;
  Scores& scores_;
};

}  // namespace

const LlamaCppModel* HeaderStore::find(const std::string& name, std::string& reason) {
  auto found = entries_.find(name);
  if (found == entries_.end()) found = entries_.emplace(name, read(name)).first;
  reason = found->second.reason;
  return found->second.model.get();
}

HeaderStore::Entry HeaderStore::read(const std::string& name) const {
  Entry entry;
  const std::string file = name + std::string(kSuffix);
  for (const std::string& folder : folders_) {
    std::string path = folder;
    path.append("/").append(file);
    const auto bytes = read_packed_file(path);
    if (!bytes) continue;
    auto header = read_gguf_header(*bytes);
    auto model = header ? llama_cpp_model(*header) : fail(std::move(header.error()));
    if (model)
      entry.model = std::make_unique<LlamaCppModel>(std::move(*model));
    else
      entry.reason = message_of(model.error().front());
    return entry;
  }
  entry.reason = "no header " + file + " in the folders given";
  return entry;
}

bool is_llama_cpp_table(const TruthTable& table) {
  return table.has("llama_cpp_commit") && table.has("kv_bytes_total");
}

bool is_llama_cpp_weights_table(const TruthTable& table) {
  return table.has("cpu_plain") && table.has("gpu_all_device");
}

void score_llama_cpp(const TruthTable& table, const LlamaCppRules& rules, HeaderStore& headers,
                     Scores& scores) {
  for (uint64_t row = 0; row < table.size(); ++row)
    RowScore(table, row, rules, scores).score(headers);
}

void score_llama_cpp_weights(const TruthTable& table, const LlamaCppRules& /*rules*/,
                             HeaderStore& headers, Scores& scores) {
  constexpr std::string_view kColumns[] = {"cpu_plain", "cpu_repack", "gpu_all_device",
                                           "gpu_all_host"};
  for (uint64_t row = 0; row < table.size(); ++row) {
    std::string reason;
    const LlamaCppModel* model = headers.find(model_name(table, row), reason);
    const auto buffers = model == nullptr ? std::nullopt : llama_cpp_buffers(model->weights);
    const RowName name = row_name(table, row);
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      const auto truth = table.number(row, kColumns[i]);
      if (!buffers || !truth) {
        scores.add_unpredicted(kColumns[i], name, reason);
        continue;
      }
      const Bytes predicted[] = {buffers->cpu_plain, buffers->cpu_repack, buffers->gpu_device,
                                 buffers->gpu_host};
      scores.add(kColumns[i], name, *truth, exactly(predicted[i].count()));
    }
  }
}

}  // namespace vramgauge::tools

#include "plan/log_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

namespace vramgauge {
namespace {

constexpr int64_t kMicros = 1'000'000;

/// Caps what is summed, so that hostile figures stay in range.
int64_t sum(int64_t a, int64_t b) { return std::clamp(a + b, -kLargestLogValue, kLargestLogValue); }

/// A figure, or several made into one.
struct Measured {
  int64_t value = 0;
  int64_t tolerance = 0;
  uint64_t line = 0;
};

std::optional<Measured> measured(const LogFigure* figure) {
  if (figure == nullptr) return std::nullopt;
  const uint64_t step = std::min<uint64_t>(figure->step, uint64_t{1} << 40);
  return Measured{figure->value, static_cast<int64_t>(step / 2 + 1), figure->line};
}

std::optional<Measured> plus(const std::optional<Measured>& a, const std::optional<Measured>& b) {
  if (!a || !b) return std::nullopt;
  return Measured{sum(a->value, b->value), sum(a->tolerance, b->tolerance),
                  std::max(a->line, b->line)};
}

std::optional<Measured> minus(const std::optional<Measured>& a, std::optional<Measured> b) {
  if (b) b->value = -b->value;
  return plus(a, b);
}

std::optional<Measured> first_of(const std::optional<Measured>& a,
                                 const std::optional<Measured>& b) {
  return a ? a : b;
}

bool has_devices(const EngineLog& log) {
  return log.engine == LogEngine::llama_cpp || log.engine == LogEngine::ollama;
}

/// The peak of activations; vLLM of late 2024 prints it with the weights in it, and where it prints
/// "consumed memory" with the estimate of the graphs (v1/worker/gpu_worker.py,
/// peak_activation_memory).
std::optional<Measured> activations_of(const EngineLog& log) {
  const auto peak = measured(log.largest(LogQuantity::activation_peak));
  const auto graphs = measured(log.largest(LogQuantity::cuda_graph_est));
  const bool holds_graphs = log.find(LogQuantity::weights_plus_non_torch) != nullptr;
  if (peak && graphs && holds_graphs && graphs->value < peak->value) return minus(peak, graphs);
  return first_of(peak, minus(measured(log.largest(LogQuantity::torch_peak_total)),
                              measured(log.largest(LogQuantity::weights))));
}

/// Non-torch memory and, where the engine takes it off the budget, the estimate of the graphs.
std::optional<Measured> runtime_of(const EngineLog& log) {
  const auto outside = measured(log.largest(LogQuantity::non_torch));
  const auto graphs = measured(log.largest(LogQuantity::cuda_graph_est));
  const bool is_deducted = log.engine == LogEngine::vllm && graphs && !is_older_release(log, 0, 21);
  return is_deducted ? plus(outside, graphs) : outside;
}

/// Blocks that hold tokens of all layers, as tokens.
std::optional<Measured> block_tokens_of(const EngineLog& log) {
  constexpr int64_t kMostBlocks = int64_t{1} << 32;
  constexpr int64_t kMostTokens = int64_t{1} << 20;
  const LogFigure* blocks = log.smallest(LogQuantity::gpu_blocks);
  const LogFigure* size = log.find(LogQuantity::block_size);
  const bool is_known = blocks != nullptr && size != nullptr && blocks->value > 0 &&
                        blocks->value <= kMostBlocks && size->value > 0 &&
                        size->value <= kMostTokens;
  if (!is_known) return std::nullopt;
  return Measured{blocks->value * size->value, size->value, blocks->line};
}

/// Tokens that the pool holds. vLLM before 0.21 printed blocks of one group; its concurrency tells.
std::optional<Measured> tokens_of(const EngineLog& log, const LogFacts& facts) {
  constexpr int64_t kMostTokens = 1'000'000'000;
  const LogFigure* ratio = log.smallest(LogQuantity::max_concurrency);
  const LogFigure* length = log.smallest(LogQuantity::max_concurrency_len);
  auto line = first_of(measured(log.smallest(LogQuantity::kv_tokens)),
                       measured(log.smallest(LogQuantity::kv_tokens_full)));
  if (!line && facts.has_plain_cache) line = block_tokens_of(log);
  const bool is_known = ratio != nullptr && length != nullptr && ratio->value >= 0 &&
                        length->value > 0 && length->value <= kMostTokens &&
                        ratio->value <= kMostTokens * (kMicros / length->value + 1);
  if (log.engine != LogEngine::vllm || !is_known) return line;
  const int64_t tokens =
      ratio->value / kMicros * length->value + ratio->value % kMicros * length->value / kMicros;
  const auto step = static_cast<int64_t>(std::min<uint64_t>(ratio->step, kMicros));
  const int64_t tolerance = length->value * step / kMicros + 1;
  // Where the line says the same, it says it more exactly.
  if (line && std::abs(line->value - tokens) <= tolerance) return line;
  return Measured{tokens, tolerance, ratio->line};
}

void add_row(LogCheck& check, CheckQuantity quantity, const std::optional<Measured>& found) {
  if (!found) return;
  CheckRow row;
  row.quantity = quantity;
  row.measured = found->value;
  row.tolerance = found->tolerance;
  row.line = found->line;
  check.rows.push_back(std::move(row));
}

void add_per_token(LogCheck& check) {
  const CheckRow* pool = check.find(CheckQuantity::kv_pool);
  const CheckRow* tokens = check.find(CheckQuantity::kv_tokens);
  if (pool == nullptr || tokens == nullptr || tokens->measured <= 0 || pool->measured <= 0) return;
  const int64_t bytes = pool->measured / tokens->measured;
  const double of_tokens = static_cast<double>(bytes) * static_cast<double>(tokens->tolerance) /
                           static_cast<double>(tokens->measured);
  const int64_t tolerance = pool->tolerance / tokens->measured + 1 +
                            static_cast<int64_t>(std::min(of_tokens, static_cast<double>(bytes)));
  add_row(check, CheckQuantity::kv_bytes_per_token, Measured{bytes, tolerance, pool->line});
}

void add_ranks(LogCheck& check, const EngineLog& log, const LogFacts& facts) {
  using enum CheckQuantity;
  add_row(check, weights, measured(log.largest(LogQuantity::weights)));
  add_row(check, activations, activations_of(log));
  add_row(check, runtime, runtime_of(log));
  add_row(check, weights_and_runtime, measured(log.largest(LogQuantity::weights_plus_non_torch)));
  add_row(check, kv_pool, measured(log.smallest(LogQuantity::kv_cache)));
  add_row(check, kv_needed, measured(log.largest(LogQuantity::kv_needed)));
  add_row(check, kv_tokens, tokens_of(log, facts));
  add_per_token(check);
  add_row(check, capacity, measured(log.find(LogQuantity::gpu_total)));
}

bool is_host(std::string_view where) {
  return where.substr(0, 3) == "CPU" || where.find("Host") != std::string_view::npos;
}

/// The log's devices become "0", "1", ... in the order in which they come, and "host".
class Devices {
 public:
  std::string of(const std::string& where) {
    if (is_host(where)) return "host";
    auto known = std::find(names_.begin(), names_.end(), where);
    if (known == names_.end()) known = names_.insert(known, where);
    return std::to_string(known - names_.begin());
  }

 private:
  std::vector<std::string> names_;
};

struct BufferKind {
  LogQuantity printed;
  CheckQuantity quantity;
};
constexpr BufferKind kBufferKinds[] = {
    {LogQuantity::weights, CheckQuantity::weights},
    {LogQuantity::kv_cache, CheckQuantity::kv_cache},
    {LogQuantity::rs_buffer, CheckQuantity::states},
    {LogQuantity::compute_buffer, CheckQuantity::compute_buffer},
    {LogQuantity::output_buffer, CheckQuantity::output_buffer},
};

/// Buffers of one kind by device; those of the host are one.
void add_buffers(LogCheck& check, const EngineLog& log, const BufferKind& kind, Devices& devices) {
  const auto first = static_cast<std::ptrdiff_t>(check.rows.size());
  for (const LogFigure& figure : log.figures) {
    if (figure.quantity != kind.printed || figure.where.empty()) continue;
    const std::string where = devices.of(figure.where);
    const auto found = measured(&figure);
    const auto row = std::find_if(check.rows.begin() + first, check.rows.end(),
                                  [&where](const CheckRow& each) { return each.where == where; });
    if (row == check.rows.end()) {
      add_row(check, kind.quantity, found);
      check.rows.back().where = where;
    } else {
      row->measured = sum(row->measured, found->value);
      row->tolerance = sum(row->tolerance, found->tolerance);
    }
  }
}

bool is_large(const CheckRow& row) {
  constexpr int64_t kSmall = int64_t{64} << 20;
  const int64_t off = std::abs(row.residual());
  if (row.is_in_band || off <= row.tolerance) return false;
  const bool is_size =
      is_in_bytes(row.quantity) && row.quantity != CheckQuantity::kv_bytes_per_token;
  return off > std::abs(row.predicted->value) / 50 && (!is_size || off > kSmall);
}

void compare(CheckRow& row, const std::vector<CheckPrediction>& predictions) {
  const auto found = std::find_if(
      predictions.begin(), predictions.end(), [&row](const CheckPrediction& prediction) {
        return prediction.quantity == row.quantity && prediction.where == row.where;
      });
  if (found == predictions.end()) return;
  row.predicted = found->predicted;
  row.is_in_band = row.measured >= found->predicted.low - row.tolerance &&
                   row.measured <= found->predicted.high + row.tolerance;
  row.is_large = is_large(row);
}

}  // namespace

std::string_view check_quantity_name(CheckQuantity quantity) {
  constexpr std::string_view kNames[] = {
      "weights",       "activations", "runtime",   "weights_and_runtime",
      "kv_pool",       "kv_needed",   "kv_tokens", "kv_bytes_per_token",
      "capacity",      "kv_cache",    "states",    "compute_buffer",
      "output_buffer", "device_total"};
  return kNames[static_cast<uint8_t>(quantity)];
}

bool is_in_bytes(CheckQuantity quantity) { return quantity != CheckQuantity::kv_tokens; }

bool is_older_release(const EngineLog& log, uint64_t major, uint64_t minor) {
  uint64_t parts[2] = {0, 0};
  std::string_view text = log.flag("version");
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  for (uint64_t& part : parts) {
    while (!text.empty() && text.front() >= '0' && text.front() <= '9' && part < 100'000) {
      part = part * 10 + static_cast<uint64_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    if (!text.empty()) text.remove_prefix(1);
  }
  return parts[0] < major || (parts[0] == major && parts[1] < minor);
}

const CheckRow* LogCheck::find(CheckQuantity quantity) const {
  for (const CheckRow& row : rows) {
    if (row.quantity == quantity) return &row;
  }
  return nullptr;
}

const CheckPrediction* LogCheck::prediction(CheckQuantity quantity) const {
  for (const CheckPrediction& each : predictions) {
    if (each.quantity == quantity) return &each;
  }
  return nullptr;
}

LogCheck check_log(const EngineLog& log, const std::vector<CheckPrediction>& predictions,
                   const LogFacts& facts) {
  LogCheck check;
  check.predictions = predictions;
  Devices devices;
  if (has_devices(log)) {
    for (const BufferKind& kind : kBufferKinds)
      add_buffers(check, log, kind, devices);
    if (const LogFigure* process = log.find(LogQuantity::process)) {
      add_row(check, CheckQuantity::device_total, measured(process));
      check.rows.back().where = "0";
    }
  } else {
    add_ranks(check, log, facts);
  }
  for (CheckRow& row : check.rows)
    compare(row, predictions);
  for (CheckRow& row : check.rows) {
    if (row.is_large) row.reasons = likely_reasons(row, check, log, facts);
  }
  return check;
}

}  // namespace vramgauge

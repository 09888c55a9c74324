#include "report/log_observation.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace vramgauge {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kMicros = 1'000'000;

bool has_devices(const EngineLog& log) {
  return log.engine == LogEngine::llama_cpp || log.engine == LogEngine::ollama;
}

/// What is left is bound by the rank with the least; what is taken, by the rank with the most.
bool is_left_over(LogQuantity quantity) {
  using enum LogQuantity;
  constexpr LogQuantity kLeft[] = {kv_cache,
                                   kv_k,
                                   kv_v,
                                   kv_tokens,
                                   kv_tokens_full,
                                   kv_tokens_swa,
                                   gpu_blocks,
                                   free_at_start,
                                   free_after_profile,
                                   avail_after_weights,
                                   avail_after_pool,
                                   est_max_len,
                                   max_concurrency,
                                   gpu_total,
                                   usable};
  return std::find(std::begin(kLeft), std::end(kLeft), quantity) != std::end(kLeft);
}

/// The value as a decimal of `worth`, to four places, as JSON.
json::Value decimal_of(int64_t value, int64_t worth) {
  constexpr int64_t kPlaces = 10'000;
  const bool is_negative = value < 0;
  const int64_t magnitude = is_negative ? -value : value;
  const int64_t whole = magnitude / worth;
  // The fraction of at most 2^30 times 10^4 stays far below 2^63.
  const int64_t parts = ((magnitude % worth) * kPlaces * 2 / worth + 1) / 2;
  const auto micros = static_cast<uint64_t>(whole * kMicros + parts * (kMicros / kPlaces));
  const Decimal decimal = Decimal::from_micros(micros);
  if (!is_negative) return json::Value::decimal(decimal);
  return json::Value::real(-decimal.to_double(), "-" + decimal.text());
}

json::Value value_json(const LogFigure& figure, int64_t worth) {
  switch (log_quantity_info(figure.quantity).unit) {
    case LogUnit::bytes: return decimal_of(figure.value, worth);
    case LogUnit::ratio: return decimal_of(figure.value, kMicros);
    case LogUnit::count: break;
  }
  return json::Value::signed_integer(figure.value);
}

/// Small buffers are in MiB whatever the engine.
bool is_small(LogQuantity quantity) {
  return quantity == LogQuantity::runtime_buffers || quantity == LogQuantity::decoder;
}

void set_figure(json::Value& measured, const LogFigure& figure, int64_t worth) {
  const LogQuantityInfo& info = log_quantity_info(figure.quantity);
  if (is_small(figure.quantity)) worth = kMiB;
  std::string key(figure.quantity == LogQuantity::fit_free ? std::string_view("free") : info.name);
  if (info.unit == LogUnit::bytes) key += worth == kGiB ? "_gib" : "_mib";
  measured.set(key, value_json(figure, worth));
}

json::Value measured_by_ranks(const EngineLog& log) {
  json::Value measured = json::Value::object();
  for (uint64_t i = 0; i < log_quantities().size(); ++i) {
    const auto quantity = static_cast<LogQuantity>(i);
    const LogFigure* figure =
        is_left_over(quantity) ? log.smallest(quantity) : log.largest(quantity);
    if (figure != nullptr) set_figure(measured, *figure, kGiB);
  }
  return measured;
}

struct Buffers {
  LogFigure sum;
  LogFigure largest;
  std::vector<LogFigure> all;
};

/// The figures of a quantity on GPUs, or on the host; of the engine as a whole, on neither.
Buffers buffers_of(const EngineLog& log, LogQuantity quantity, bool on_host) {
  Buffers buffers;
  for (const LogFigure& figure : log.figures) {
    if (figure.quantity != quantity || figure.where.empty() ||
        is_host_buffer(figure.where) != on_host)
      continue;
    if (buffers.all.empty() || figure.value > buffers.largest.value) buffers.largest = figure;
    buffers.sum = figure;
    buffers.all.push_back(figure);
  }
  buffers.sum.value = 0;
  for (const LogFigure& figure : buffers.all)
    buffers.sum.value = std::min(buffers.sum.value + figure.value, kLargestLogValue);
  return buffers;
}

/// How rows name the buffers of one kind.
struct BufferKeys {
  LogQuantity quantity;
  std::string_view gpus;
  std::string_view host;
  std::string_view per_gpu;
};

constexpr BufferKeys kBufferKeys[] = {
    {LogQuantity::weights, "weights_mib", "weights_host_mib", "weights_per_gpu_mib"},
    {LogQuantity::kv_cache, "kv_cache_mib", "kv_host_mib", "kv_per_gpu_mib"},
    {LogQuantity::rs_buffer, "rs_mib", "rs_host_mib", "rs_per_gpu_mib"},
    {LogQuantity::compute_buffer, "compute_buffer_mib", "compute_host_mib", "compute_per_gpu_mib"},
    {LogQuantity::output_buffer, "output_mib", "output_host_mib", "output_per_gpu_mib"},
};

void set_buffers(json::Value& measured, const EngineLog& log, const BufferKeys& keys) {
  const Buffers gpu = buffers_of(log, keys.quantity, false);
  const Buffers host = buffers_of(log, keys.quantity, true);
  if (!gpu.all.empty()) measured.set(keys.gpus, decimal_of(gpu.sum.value, kMiB));
  if (!host.all.empty()) measured.set(keys.host, decimal_of(host.sum.value, kMiB));
  if (gpu.all.size() < 2) return;
  json::Value list = json::Value::array();
  for (const LogFigure& figure : gpu.all)
    list.push(decimal_of(figure.value, kMiB));
  measured.set(keys.per_gpu, std::move(list));
  if (keys.quantity == LogQuantity::compute_buffer)
    measured.set("compute_buffer_per_gpu_mib", decimal_of(gpu.largest.value, kMiB));
}

/// Figures of llama.cpp: buffers by kind, over GPUs and host; the rest as it is.
json::Value measured_by_devices(const EngineLog& log) {
  json::Value measured = json::Value::object();
  for (const BufferKeys& keys : kBufferKeys)
    set_buffers(measured, log, keys);
  for (const LogFigure& figure : log.figures) {
    const bool is_buffer =
        std::any_of(std::begin(kBufferKeys), std::end(kBufferKeys),
                    [&figure](const BufferKeys& keys) { return keys.quantity == figure.quantity; });
    if (!is_buffer) set_figure(measured, figure, kMiB);
  }
  return measured;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         Decimal::parse(text).has_value();
}

json::Value flag_json(const std::string& value) {
  if (value == "true" || value == "false") return json::Value::boolean(value == "true");
  if (!is_number(value)) return json::Value::string(value);
  return json::Value::decimal(*Decimal::parse(value));
}

/// Settings that say what the log is about rather than how the engine was set.
bool is_subject(std::string_view name) {
  return name == "version" || name == "model" || name == "gpu" || name == "gpu_count" ||
         name == "architecture";
}

void set_text(json::Value& row, std::string_view key, std::string_view value) {
  if (!value.empty()) row.set(key, value);
}

/// Quantities that a prediction can be judged on: it takes the model, and for pools the card.
json::Value comparable(const EngineLog& log, const json::Value& measured) {
  json::Value list = json::Value::array();
  if (log.flag("model").empty()) return list;
  const bool has_card = log.find(LogQuantity::gpu_total) != nullptr || !log.flag("gpu").empty();
  for (const std::string_view key :
       {"weights_gib", "activation_peak_gib", "kv_needed_gib", "kv_bytes_per_token_measured",
        "weights_mib", "kv_cache_mib", "compute_buffer_mib", "rs_mib"}) {
    if (measured.find(key) == nullptr) continue;
    const bool is_ratio = key == std::string_view("kv_bytes_per_token_measured");
    list.push(json::Value::string(is_ratio ? "kv_bytes_per_token" : std::string(key)));
  }
  if (has_card && measured.find("kv_cache_gib") != nullptr)
    list.push(json::Value::string("kv_cache_gib"));
  const bool is_known = log.outcome == LogOutcome::fits || log.outcome == LogOutcome::oom;
  if (has_card && is_known) list.push(json::Value::string("outcome"));
  return list;
}

/// Bytes per token, where one pool holds all tokens alike.
void set_bytes_per_token(json::Value& measured, const EngineLog& log) {
  using enum LogQuantity;
  const LogFigure* pool = log.smallest(kv_cache);
  const LogFigure* tokens = log.smallest(kv_tokens);
  const bool has_groups =
      log.find(attention_block_size) != nullptr || log.find(padding_layers) != nullptr;
  if (pool == nullptr || tokens == nullptr || tokens->value <= 0 || pool->value <= 0) return;
  constexpr int64_t kTenths = 10;
  constexpr int64_t kMostPerToken = kGiB;
  if (pool->value / tokens->value > kMostPerToken) return;
  const int64_t tenths =
      pool->value / tokens->value * kTenths + pool->value % tokens->value * kTenths / tokens->value;
  measured.set(has_groups ? "kv_bytes_per_token_line" : "kv_bytes_per_token_measured",
               decimal_of(tenths, kTenths));
}

/// Tokens per block, where blocks and what they hold are printed but not their size: vLLM's
/// concurrency is blocks x tokens / length, cut to two places.
void set_block_size(json::Value& measured, const EngineLog& log) {
  using enum LogQuantity;
  constexpr int64_t kGrain = 8;
  constexpr int64_t kMost = 1 << 16;
  constexpr int64_t kMostBlocks = 1 << 26;
  const LogFigure* blocks = log.smallest(gpu_blocks);
  const LogFigure* ratio = log.smallest(max_concurrency);
  const LogFigure* length = log.smallest(max_concurrency_len);
  if (blocks == nullptr || ratio == nullptr || length == nullptr) return;
  if (blocks->value <= 0 || blocks->value > kMostBlocks || length->value <= 0) return;
  if (measured.find("block_size") != nullptr || length->value > kMostBlocks) return;
  if (ratio->value < 0 || ratio->value > kMost * kMicros) return;
  const int64_t tokens = ratio->value / kGrain * length->value / kMicros;
  const int64_t block = (tokens + blocks->value / 2) / blocks->value * kGrain;
  const int64_t error = ratio->value - block * blocks->value * kMicros / length->value;
  const auto step = static_cast<int64_t>(ratio->step);
  if (block > 0 && block <= kMost && error <= step && -error <= step)
    measured.set("block_size", json::Value::signed_integer(block));
}

}  // namespace

bool is_host_buffer(std::string_view where) {
  constexpr std::string_view kHost = "Host";
  return where.substr(0, 3) == "CPU" ||
         (where.size() >= kHost.size() && where.substr(where.size() - kHost.size()) == kHost);
}

uint64_t log_gpu_count(const EngineLog& log) {
  const auto stated = [&log](std::string_view name) {
    return parse_count(log.flag(name)).value_or(1);
  };
  if (!log.flag("gpu_count").empty()) return stated("gpu_count");
  if (!log.flag("world_size").empty()) return stated("world_size");
  if (!log.flag("tensor_parallel_size").empty() || !log.flag("pipeline_parallel_size").empty())
    return std::min<uint64_t>(stated("tensor_parallel_size"), 4096) *
           std::min<uint64_t>(stated("pipeline_parallel_size"), 4096);
  if (!has_devices(log)) return 0;
  std::vector<std::string> devices;
  uint64_t num_listed = 0;
  for (const LogFigure& figure : log.figures) {
    // Devices of a list have only numbers; they are those that buffers name.
    const bool is_listed = figure.where.substr(0, 3) == "GPU";
    if (is_listed && figure.quantity == LogQuantity::free_at_start) ++num_listed;
    const bool is_gpu = !figure.where.empty() && !is_listed && !is_host_buffer(figure.where);
    if (is_gpu && std::find(devices.begin(), devices.end(), figure.where) == devices.end())
      devices.push_back(figure.where);
  }
  if (devices.empty()) return num_listed;
  return devices.size();
}

json::Value log_flags_json(const EngineLog& log) {
  json::Value flags = json::Value::object();
  for (const LogFlag& flag : log.flags) {
    if (!is_subject(flag.name)) flags.set(flag.name, flag_json(flag.value));
  }
  return flags;
}

json::Value log_observation(const EngineLog& log) {
  json::Value row = json::Value::object();
  row.set("id", "");
  row.set("engine", log_engine_name(log.engine));
  set_text(row, "engine_version", log.flag("version"));
  set_text(row, "model", log.flag("model"));
  set_text(row, "gpu", log.flag("gpu"));
  if (const uint64_t gpus = log_gpu_count(log); gpus != 0) row.set("gpu_count", gpus);
  if (const LogFigure* total = log.find(LogQuantity::gpu_total))
    row.set("total_gib", decimal_of(total->value, kGiB));
  row.set("flags", log_flags_json(log));
  json::Value measured = has_devices(log) ? measured_by_devices(log) : measured_by_ranks(log);
  if (!has_devices(log)) set_bytes_per_token(measured, log);
  if (log.engine == LogEngine::vllm) set_block_size(measured, log);
  measured.set("outcome", log_outcome_name(log.outcome));
  row.set("comparable", comparable(log, measured));
  row.set("measured", std::move(measured));
  return row;
}

}  // namespace vramgauge

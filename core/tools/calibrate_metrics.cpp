#include "calibrate_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "probe_json.h"
#include "units/decimal.h"

namespace vramgauge::tools {
namespace {

constexpr std::size_t kMaxLines = 100'000;
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;
constexpr int64_t kMaxCount = int64_t{1} << 40;

/// Reads labels from after "{"; returns what follows "}", or nothing when it does not close.
std::string_view read_labels(std::string_view rest, MetricLine& line) {
  while (!rest.empty() && rest[0] != '}') {
    const std::size_t equals = rest.find("=\"");
    if (equals == std::string_view::npos) return {};
    const std::string_view key = rest.substr(0, equals);
    rest.remove_prefix(equals + 2);
    std::string value;
    while (!rest.empty() && rest[0] != '"') {
      const bool is_escaped = rest[0] == '\\' && rest.size() > 1;
      if (is_escaped) rest.remove_prefix(1);
      value += is_escaped && rest[0] == 'n' ? '\n' : rest[0];
      rest.remove_prefix(1);
    }
    if (rest.empty()) return {};
    rest.remove_prefix(1);
    line.labels.emplace_back(std::string(key), std::move(value));
    if (!rest.empty() && rest[0] == ',') rest.remove_prefix(1);
  }
  return rest.empty() ? rest : rest.substr(1);
}

/// One sample; an empty name when the line is none.
MetricLine read_line(std::string_view text) {
  MetricLine line;
  const std::size_t end = text.find_first_of("{ ");
  if (text.empty() || text[0] == '#' || end == std::string_view::npos) return line;
  const std::string_view name = text.substr(0, end);
  std::string_view rest = text.substr(end);
  if (rest[0] == '{') rest = read_labels(rest.substr(1), line);
  if (rest.empty()) return line;
  const std::string number(rest);
  char* stop = nullptr;
  line.value = std::strtod(number.c_str(), &stop);
  if (stop == number.c_str() || !std::isfinite(line.value)) return line;
  line.name = name;
  return line;
}

void set_flag(EngineLog& log, std::string_view name, std::string_view value) {
  if (value.empty() || value == "None" || !log.flag(name).empty()) return;
  log.flags.push_back({std::string(name), std::string(value), 0});
}

/// Of several ranks the smallest figure counts, as the engine itself takes it.
void set_count(EngineLog& log, LogQuantity quantity, double value) {
  if (!(value >= 1) || value > static_cast<double>(kMaxCount)) return;
  const auto count = static_cast<int64_t>(value);
  for (LogFigure& figure : log.figures) {
    if (figure.quantity != quantity) continue;
    figure.value = std::min(figure.value, count);
    return;
  }
  log.figures.push_back({quantity, "", count, 1, 0});
}

double label_number(const MetricLine& line, std::string_view key) {
  return static_cast<double>(parse_count(line.label(key)).value_or(0));
}

/// vLLM states its cache's configuration as labels (vllm/v1/metrics/loggers.py since 0.3.3). Blocks
/// are not turned into tokens: a hybrid's blocks hold other numbers of them (vllm#42966).
void read_vllm(const MetricLine& line, EngineLog& log) {
  log.engine = LogEngine::vllm;
  set_flag(log, "model", line.label("model_name"));
  if (line.name != "vllm:cache_config_info") return;
  set_count(log, LogQuantity::gpu_blocks, label_number(line, "num_gpu_blocks"));
  set_count(log, LogQuantity::block_size, label_number(line, "block_size"));
  set_flag(log, "gpu_memory_utilization", line.label("gpu_memory_utilization"));
  set_flag(log, "kv_cache_dtype", line.label("cache_dtype"));
  set_flag(log, "enable_prefix_caching", line.label("enable_prefix_caching"));
}

/// SGLang gives its pool as a gauge (sglang/srt/metrics/collector.py); older versions name the
/// model in the label "name". 0 is a version that has the gauge and does not fill it.
void read_sglang(const MetricLine& line, EngineLog& log) {
  log.engine = LogEngine::sglang;
  set_flag(log, "model", line.label("model_name"));
  set_flag(log, "model", line.label("name"));
  if (line.name == "sglang:max_total_num_tokens")
    set_count(log, LogQuantity::kv_tokens, line.value);
  if (line.name == "sglang:max_running_requests")
    set_flag(log, "max_running_requests", std::to_string(static_cast<int64_t>(line.value)));
}

/// llama-server's /props: the context of one slot, slots, the file and the build.
bool read_props(std::string_view text, EngineLog& log) {
  const auto props = json::parse(text);
  if (!props || member(*props, "default_generation_settings").as_object() == nullptr) return false;
  log.engine = LogEngine::llama_cpp;
  const std::string path = text_of(member(*props, "model_path"));
  set_flag(log, "model", path.substr(path.find_last_of("/\\") + 1));
  const std::string build = text_of(member(*props, "build_info"));
  set_flag(log, "version", build.substr(0, build.find('-')));
  if (const uint64_t slots = number_of(member(*props, "total_slots")))
    set_flag(log, "n_seq_max", std::to_string(slots));
  const uint64_t context =
      number_of(member(member(*props, "default_generation_settings"), "n_ctx"));
  if (context != 0) set_flag(log, "n_ctx_seq", std::to_string(context));
  return true;
}

}  // namespace

std::string_view MetricLine::label(std::string_view key) const {
  for (const auto& [label_name, label_value] : labels) {
    if (label_name == key) return label_value;
  }
  return {};
}

std::vector<MetricLine> read_metrics(std::string_view text) {
  std::vector<MetricLine> lines;
  for (std::size_t i = 0; i < kMaxLines && !text.empty(); ++i) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    MetricLine line = read_line(text.substr(0, std::min(end, kMaxLineBytes)));
    if (!line.name.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool read_engine_answer(std::string_view text, EngineLog& log) {
  bool is_known = !text.empty() && text[0] == '{' && read_props(text, log);
  for (const MetricLine& line : read_metrics(text)) {
    const std::string_view prefix = std::string_view(line.name).substr(0, line.name.find(':'));
    if (prefix == "vllm") read_vllm(line, log);
    if (prefix == "sglang") read_sglang(line, log);
    if (prefix == "llamacpp") log.engine = LogEngine::llama_cpp;
    is_known = is_known || prefix == "vllm" || prefix == "sglang" || prefix == "llamacpp";
  }
  if (is_known) log.outcome = LogOutcome::fits;
  return is_known;
}

}  // namespace vramgauge::tools

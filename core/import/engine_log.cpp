#include "import/engine_log.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "import/engine_log_flags.h"
#include "import/engine_log_patterns.h"
#include "import/engine_log_source.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr std::string::size_type kMaxLineBytes = 65'536;
constexpr std::vector<LogFigure>::size_type kMaxFigures = 2048;
constexpr std::vector<LogFlag>::size_type kMaxFlags = 256;
constexpr std::string::size_type kMaxValueBytes = 256;
constexpr uint8_t kNone = 255;

/// A figure or setting with the engine whose line it was.
template <typename T>
struct Owned {
  LogEngine engine;
  T item;
};

const LogQuantity* find_quantity(std::string_view name) {
  static const std::vector<LogQuantity> kAll = [] {
    std::vector<LogQuantity> all;
    for (uint64_t i = 0; i < log_quantities().size(); ++i)
      all.push_back(static_cast<LogQuantity>(i));
    return all;
  }();
  for (const LogQuantity& quantity : kAll) {
    if (log_quantity_info(quantity).name == name) return &quantity;
  }
  return nullptr;
}

/// A model's name without the folders of whoever ran it.
std::string public_name(std::string name) {
  const bool is_path = name.find('\\') != std::string::npos || name.front() == '/' ||
                       name.front() == '.' || name.front() == '~';
  if (!is_path) return name;
  // The cache of a hub: models--OWNER--NAME/snapshots/HASH.
  constexpr std::string_view kHub = "models--";
  const auto hub = name.find(kHub);
  if (hub != std::string::npos) {
    name = name.substr(hub + kHub.size());
    name.resize(std::min(name.find_first_of("/\\"), name.size()));
    const auto dashes = name.find("--");
    if (dashes != std::string::npos) name.replace(dashes, 2, "/");
    return name;
  }
  while (!name.empty() && (name.back() == '/' || name.back() == '\\'))
    name.pop_back();
  return name.substr(name.find_last_of("/\\") + 1);
}

}  // namespace

std::string_view log_engine_name(LogEngine engine) {
  constexpr std::string_view kNames[kNumLogEngines] = {"unknown",      "vllm",      "sglang",
                                                       "tensorrt_llm", "llama_cpp", "ollama"};
  return kNames[static_cast<uint8_t>(engine)];
}

const std::vector<LogQuantityInfo>& log_quantities() {
  static const std::vector<LogQuantityInfo> kInfos = {
#define X(name, unit) {#name, LogUnit::unit},
#include "import/engine_log_quantities.def"
#undef X
  };
  return kInfos;
}

const LogQuantityInfo& log_quantity_info(LogQuantity quantity) {
  return log_quantities()[static_cast<uint8_t>(quantity)];
}

std::string_view log_outcome_name(LogOutcome outcome) {
  constexpr std::string_view kNames[] = {"unknown", "fits", "oom", "oom_after_start", "other"};
  return kNames[static_cast<uint8_t>(outcome)];
}

const LogFigure* EngineLog::find(LogQuantity quantity, std::string_view where) const {
  for (const LogFigure& figure : figures) {
    if (figure.quantity == quantity && (where.empty() || figure.where == where)) return &figure;
  }
  return nullptr;
}

const LogFigure* EngineLog::smallest(LogQuantity quantity) const {
  const LogFigure* best = nullptr;
  for (const LogFigure& figure : figures) {
    if (figure.quantity == quantity && (best == nullptr || figure.value < best->value))
      best = &figure;
  }
  return best;
}

const LogFigure* EngineLog::largest(LogQuantity quantity) const {
  const LogFigure* best = nullptr;
  for (const LogFigure& figure : figures) {
    if (figure.quantity == quantity && (best == nullptr || figure.value > best->value))
      best = &figure;
  }
  return best;
}

std::string_view EngineLog::flag(std::string_view name) const {
  for (const LogFlag& each : flags) {
    if (each.name == name) return each.value;
  }
  return {};
}

/// What is known so far. A line is looked at once, as soon as it is whole.
struct EngineLogReader::State {
  std::string line;
  uint64_t line_number = 0;
  LogSources sources;
  std::vector<Owned<LogFigure>> figures;
  std::vector<Owned<LogFlag>> flags;
  std::array<uint64_t, kNumLogEngines> num_hits{};
  LogOutcome outcome = LogOutcome::unknown;
  uint64_t outcome_line = 0;
  uint64_t num_restarts = 0;
  bool is_draft = false;
  LogMatch match;
  /// Patterns by their first character: the first of each, and the next of the same.
  std::array<uint8_t, 256> first{};
  std::vector<uint8_t> next;

  State();
  void take(std::string_view piece);
  void end_line();
  void read_line(std::string_view text);
  uint64_t read_pattern(const LogPattern& pattern, std::string_view text, uint64_t at);
  void apply(const LogPattern& pattern, std::string_view rest, const std::string& where);
  void mark(const LogPattern& pattern, const std::string& where);
  void start(LogEngine engine, const std::string& where);
  void forget_buffers();
  void add_figure(LogEngine engine, const LogCapture& capture, const std::string& where);
  void add_flag(LogEngine engine, std::string_view name, std::string_view value);
  LogEngine winner() const;
};

EngineLogReader::State::State() {
  const LogPatternTable table = log_patterns();
  first.fill(kNone);
  next.assign(index_of(table.size), kNone);
  for (uint64_t i = table.size; i-- > 0;) {
    uint8_t& head = first[static_cast<uint8_t>(table.rows[i].text.front())];
    next[index_of(i)] = std::exchange(head, static_cast<uint8_t>(i));
  }
}

void EngineLogReader::State::take(std::string_view piece) {
  const auto room = kMaxLineBytes - std::min(kMaxLineBytes, line.size());
  line.append(piece.substr(0, std::min(room, piece.size())));
}

void EngineLogReader::State::end_line() {
  ++line_number;
  const std::string inner = inner_text(line);
  // A progress bar overwrites its line.
  std::string_view rest = inner.empty() ? line : inner;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\r'), rest.size());
    const std::string_view text = rest.substr(0, end);
    const bool is_coloured = text.find('\x1b') != std::string_view::npos;
    is_coloured ? read_line(without_colours(text)) : read_line(text);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  line.clear();
}

void EngineLogReader::State::read_line(std::string_view text) {
  const LogPatternTable table = log_patterns();
  for (uint64_t at = 0; at < text.size();) {
    uint64_t end = at + 1;
    for (uint8_t i = first[static_cast<uint8_t>(text[index_of(at)])]; i != kNone; i = next[i])
      end = std::max(end, read_pattern(table.rows[i], text, at));
    at = end;
  }
}

/// Where the pattern ends in the line, or 0 when it does not match.
uint64_t EngineLogReader::State::read_pattern(const LogPattern& pattern, std::string_view text,
                                              uint64_t at) {
  if (!match_log_pattern(pattern.text, text, at, match)) return 0;
  std::string where = match.where.empty() ? sources.of(text) : std::string(match.where);
  apply(pattern, text.substr(index_of(match.end)), where);
  return match.end;
}

void EngineLogReader::State::apply(const LogPattern& pattern, std::string_view rest,
                                   const std::string& where) {
  mark(pattern, where);
  for (const LogCapture& capture : match.captures) {
    if (capture.target.front() == '@') {
      add_flag(pattern.engine, capture.target.substr(1), capture.text);
    } else if (!is_draft) {
      add_figure(pattern.engine, capture,
                 capture.is_listed ? "GPU" + std::to_string(capture.index) : where);
    }
  }
  if (pattern.mark != LogMark::settings && pattern.mark != LogMark::start_settings) return;
  for (const LogFlag& flag : log_settings(pattern.engine, rest))
    add_flag(pattern.engine, flag.name, flag.value);
}

void EngineLogReader::State::mark(const LogPattern& pattern, const std::string& where) {
  const bool is_setting = pattern.mark == LogMark::none && !match.captures.empty() &&
                          match.captures.front().target.front() == '@';
  // A setting may be quoted from anywhere, such as a command line.
  if (!is_setting) ++num_hits[static_cast<uint8_t>(pattern.engine)];
  switch (pattern.mark) {
    case LogMark::start:
    case LogMark::start_settings: return start(pattern.engine, where);
    case LogMark::load: return forget_buffers();
    case LogMark::draft: is_draft = true; return;
    case LogMark::fits: outcome = LogOutcome::fits; break;
    case LogMark::oom:
      outcome = outcome == LogOutcome::fits || outcome == LogOutcome::oom_after_start
                    ? LogOutcome::oom_after_start
                    : LogOutcome::oom;
      break;
    case LogMark::other: outcome = LogOutcome::other; break;
    default: return;
  }
  outcome_line = line_number;
}

/// Begins anew when the same process, or the engine as a whole, has printed figures before.
void EngineLogReader::State::start(LogEngine engine, const std::string& where) {
  // What Ollama says of GPUs it says once, before the first model.
  const auto is_lasting = [](const Owned<LogFigure>& figure) {
    return figure.engine == LogEngine::ollama &&
           (figure.item.quantity == LogQuantity::gpu_total ||
            figure.item.quantity == LogQuantity::free_at_start);
  };
  const auto is_before = [&](const Owned<LogFigure>& figure) {
    return figure.engine == engine && !is_lasting(figure) &&
           (where.empty() || figure.item.where == where);
  };
  is_draft = false;
  if (std::none_of(figures.begin(), figures.end(), is_before)) return;
  ++num_restarts;
  figures.erase(std::remove_if(figures.begin(), figures.end(),
                               [&](const auto& figure) { return !is_lasting(figure); }),
                figures.end());
  outcome = LogOutcome::unknown;
  outcome_line = 0;
}

/// llama.cpp also opens a model to see whether it fits: only the last time counts.
void EngineLogReader::State::forget_buffers() {
  if (is_draft) return;
  constexpr LogQuantity kLasting[] = {LogQuantity::free_at_start, LogQuantity::gpu_total,
                                      LogQuantity::projected, LogQuantity::fit_free};
  const auto is_buffer = [&](const Owned<LogFigure>& figure) {
    return figure.engine == LogEngine::llama_cpp &&
           std::find(std::begin(kLasting), std::end(kLasting), figure.item.quantity) ==
               std::end(kLasting);
  };
  figures.erase(std::remove_if(figures.begin(), figures.end(), is_buffer), figures.end());
}

void EngineLogReader::State::add_figure(LogEngine engine, const LogCapture& capture,
                                        const std::string& where) {
  std::string_view name = capture.target;
  const char policy = name.back() == '+' || name.back() == '^' ? name.back() : '\0';
  if (policy != '\0') name.remove_suffix(1);
  const LogQuantity* quantity = find_quantity(name);
  if (quantity == nullptr) return;
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const auto& figure) {
    return figure.item.quantity == *quantity && figure.item.where == where;
  });
  const LogFigure figure = {*quantity, where, capture.value, capture.step, line_number};
  if (found == figures.end()) {
    if (figures.size() < kMaxFigures) figures.push_back({engine, figure});
  } else if (policy == '^' || capture.step > found->item.step) {
    return;
  } else if (policy == '+' && capture.step == found->item.step) {
    found->item.value =
        std::clamp(found->item.value + capture.value, -kLargestLogValue, kLargestLogValue);
    found->item.line = line_number;
  } else {
    *found = {engine, figure};
  }
}

void EngineLogReader::State::add_flag(LogEngine engine, std::string_view name,
                                      std::string_view value) {
  if (value.empty()) return;
  LogFlag flag = {std::string(name), std::string(value.substr(0, kMaxValueBytes)), line_number};
  const auto found = std::find_if(flags.begin(), flags.end(), [&](const auto& each) {
    return each.engine == engine && each.item.name == name;
  });
  if (found != flags.end()) {
    if (!is_draft) found->item = std::move(flag);
  } else if (flags.size() < kMaxFlags) {
    flags.push_back({engine, std::move(flag)});
  }
}

/// The engine with the most lines; Ollama's llama.cpp is Ollama.
LogEngine EngineLogReader::State::winner() const {
  const auto hits_of = [this](LogEngine engine) { return num_hits[static_cast<uint8_t>(engine)]; };
  const auto best = std::max_element(num_hits.begin() + 1, num_hits.end());
  if (*best == 0) return LogEngine::unknown;
  const auto engine = static_cast<LogEngine>(best - num_hits.begin());
  if (engine == LogEngine::llama_cpp && hits_of(LogEngine::ollama) > 0) return LogEngine::ollama;
  return engine;
}

EngineLogReader::EngineLogReader() : state_(std::make_unique<State>()) {}
EngineLogReader::~EngineLogReader() = default;

void EngineLogReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    state_->take(bytes.substr(0, std::min(end, bytes.size())));
    if (end == std::string_view::npos) return;
    state_->end_line();
    bytes.remove_prefix(end + 1);
  }
}

namespace {

/// What engines leave to be inferred.
void complete(EngineLog& log) {
  const LogFigure* concurrency = log.find(LogQuantity::max_concurrency);
  if (log.outcome == LogOutcome::unknown && concurrency != nullptr) {
    // V0 prints this line and then refuses what does not hold one request.
    constexpr int64_t kOne = 1'000'000;
    log.outcome = concurrency->value >= kOne ? LogOutcome::fits : LogOutcome::oom;
    log.outcome_line = concurrency->line;
  }
  // Of two pools, K and V are those of the first alone.
  if (log.find(LogQuantity::kv_tokens_swa) == nullptr) return;
  const auto is_half = [](const LogFigure& figure) {
    return figure.quantity == LogQuantity::kv_k || figure.quantity == LogQuantity::kv_v ||
           figure.quantity == LogQuantity::kv_tokens;
  };
  log.figures.erase(std::remove_if(log.figures.begin(), log.figures.end(), is_half),
                    log.figures.end());
}

/// SGLang prints the two halves of a pool.
void add_pools(EngineLog& log) {
  std::vector<LogFigure> pools;
  for (const LogFigure& k : log.figures) {
    const LogFigure* v = log.find(LogQuantity::kv_v, k.where);
    if (k.quantity != LogQuantity::kv_k || v == nullptr || v->where != k.where) continue;
    if (log.find(LogQuantity::kv_cache) != nullptr) continue;
    pools.push_back({LogQuantity::kv_cache, k.where, k.value + v->value, k.step + v->step, k.line});
  }
  log.figures.insert(log.figures.end(), pools.begin(), pools.end());
}

}  // namespace

EngineLog EngineLogReader::finish() {
  State& state = *state_;
  if (!state.line.empty()) state.end_line();
  EngineLog log;
  log.engine = state.winner();
  const auto is_ours = [&log](LogEngine engine) {
    return engine == log.engine || engine == LogEngine::unknown ||
           (log.engine == LogEngine::ollama && engine == LogEngine::llama_cpp);
  };
  for (uint64_t i = 0; i < kNumLogEngines; ++i) {
    if (!is_ours(static_cast<LogEngine>(i))) log.num_foreign_lines += state.num_hits[index_of(i)];
  }
  for (Owned<LogFigure>& figure : state.figures) {
    if (is_ours(figure.engine)) log.figures.push_back(std::move(figure.item));
  }
  for (Owned<LogFlag>& flag : state.flags) {
    if (!is_ours(flag.engine) || !log.flag(flag.item.name).empty()) continue;
    if (flag.item.name == "model") flag.item.value = public_name(std::move(flag.item.value));
    if (flag.item.name == "build") flag.item = {"version", "b" + flag.item.value, flag.item.line};
    log.flags.push_back(std::move(flag.item));
  }
  log.outcome = log.engine == LogEngine::unknown ? LogOutcome::unknown : state.outcome;
  log.outcome_line = log.outcome == LogOutcome::unknown ? 0 : state.outcome_line;
  log.num_lines = state.line_number;
  log.num_starts = log.engine == LogEngine::unknown ? 0 : state.num_restarts + 1;
  complete(log);
  add_pools(log);
  return log;
}

}  // namespace vramgauge

// What a running engine says of itself: Prometheus text of vLLM and SGLang, and llama-server's
// /props and /metrics, read as if it were a start-up log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/engine_log.h"

namespace vramgauge::tools {

/// One line of Prometheus text: name{label="value",...} number.
struct MetricLine {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;

  /// A label's value; empty when there is none.
  std::string_view label(std::string_view key) const;
};

/// The samples of a text in Prometheus' format; comments and lines that are none are left out.
/// Bounded: at most 100,000 lines are looked at, of each the first 64 KiB.
std::vector<MetricLine> read_metrics(std::string_view text);

/// Adds what one answer of an engine states to `log`: metrics, or the JSON of /props. An engine
/// that is running has started, so the outcome is that it fits. False when the text is of no known
/// engine.
bool read_engine_answer(std::string_view text, EngineLog& log);

}  // namespace vramgauge::tools

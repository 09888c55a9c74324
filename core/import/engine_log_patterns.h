// The lines of engines' start-up logs as a table of patterns, and what matches them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/engine_log.h"

namespace vramgauge {

/// What a line means besides the figures in it.
enum class LogMark : uint8_t {
  none,
  /// The engine begins.
  start,
  /// It begins, and its settings follow on the line.
  start_settings,
  /// Settings follow on the line.
  settings,
  /// llama.cpp opens a model: buffers are counted anew.
  load,
  /// What follows is of a draft model.
  draft,
  fits,
  oom,
  other,
};

/// One line of the table. In its text a space stands for any run of blanks, or none; a quote may be
/// escaped; a part in braces takes a value:
///   {b:T} size with its unit   {g:T} {m:T} number of GiB, of MiB   {n:T} whole number   {x:T}
///   ratio {l:T} sizes up to a bracket, of devices 0, 1, ...   {w} device whose figures these are
///   {t:@T} a word, or text up to the character that follows   {e:@T} text to the end of the line
///   {*} up to 128 characters of no interest
/// T is a quantity, @T a setting. T+ sums up what one device prints several times, T^ keeps the
/// first; otherwise the finer figure counts, and the later of equals.
struct LogPattern {
  LogEngine engine = LogEngine::unknown;
  LogMark mark = LogMark::none;
  std::string_view text;
};

struct LogPatternTable {
  const LogPattern* rows;
  uint64_t size;
};
LogPatternTable log_patterns();

/// A value that a pattern took.
struct LogCapture {
  /// Quantity or @setting, with its + or ^.
  std::string_view target;
  /// As in LogFigure.
  int64_t value = 0;
  uint64_t step = 0;
  /// What stands in the line.
  std::string_view text;
  /// Index in a list of sizes.
  uint64_t index = 0;
  bool is_listed = false;
};

/// What a pattern took from one place of a line.
struct LogMatch {
  std::vector<LogCapture> captures;
  /// The device of {w}.
  std::string_view where;
  /// Where the match ends in the line.
  uint64_t end = 0;
};

/// Whether the pattern matches the line from `at` on.
bool match_log_pattern(std::string_view pattern, std::string_view line, uint64_t at,
                       LogMatch& match);

}  // namespace vramgauge

// Start-up logs of inference engines: what they state and what they measured, with the line of each
// figure. Understood are vLLM (V0 and V1, info and debug), SGLang, TensorRT-LLM, llama.cpp and
// Ollama; a log may be cut off, coloured, stamped by a container or mixed from many workers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vramgauge {

enum class LogEngine : uint8_t { unknown, vllm, sglang, tensorrt_llm, llama_cpp, ollama };

inline constexpr uint64_t kNumLogEngines = 6;

/// The engine's id, as in the catalogue where it is there.
std::string_view log_engine_name(LogEngine engine);

enum class LogUnit : uint8_t { bytes, count, ratio };

/// What a figure is. The engines' own words for it are in engine_log_patterns.cpp.
enum class LogQuantity : uint8_t {
#define X(name, unit) name,
#include "import/engine_log_quantities.def"
#undef X
};

struct LogQuantityInfo {
  std::string_view name;
  LogUnit unit;
};
/// Name and unit of a quantity; all of them, in order.
const LogQuantityInfo& log_quantity_info(LogQuantity quantity);
const std::vector<LogQuantityInfo>& log_quantities();

/// Figures are cut off here, of either sign.
inline constexpr int64_t kLargestLogValue = int64_t{1} << 53;

/// One figure that the log prints.
struct LogFigure {
  LogQuantity quantity = LogQuantity::weights;
  /// Rank ("TP0", "PP1_TP0", "worker1") or device ("CUDA0", "CPU_Mapped"); empty = the engine.
  std::string where;
  /// Bytes, a count, or a ratio in millionths. Below zero where the engine prints so.
  int64_t value = 0;
  /// What one unit of the last printed place is worth: the figure is known to half of it.
  uint64_t step = 0;
  /// Counted from 1.
  uint64_t line = 0;
};

/// One setting, in the engine's own name for it.
struct LogFlag {
  std::string name;
  std::string value;
  uint64_t line = 0;
};

/// What came of the start.
enum class LogOutcome : uint8_t {
  unknown,
  fits,
  /// Refused, or died for want of GPU memory while starting.
  oom,
  oom_after_start,
  /// Died of something else.
  other,
};
std::string_view log_outcome_name(LogOutcome outcome);

/// What a log says of its last start.
struct EngineLog {
  LogEngine engine = LogEngine::unknown;
  std::vector<LogFlag> flags;
  std::vector<LogFigure> figures;
  LogOutcome outcome = LogOutcome::unknown;
  uint64_t outcome_line = 0;
  uint64_t num_lines = 0;
  /// Starts in the log; all but the last are left out.
  uint64_t num_starts = 0;
  /// Lines of other engines in the same text.
  uint64_t num_foreign_lines = 0;

  /// The first figure of a quantity, of `where` when it is given; or nothing.
  const LogFigure* find(LogQuantity quantity, std::string_view where = {}) const;
  /// The smallest and the largest figure of a quantity over ranks or devices; or nothing.
  const LogFigure* smallest(LogQuantity quantity) const;
  const LogFigure* largest(LogQuantity quantity) const;
  /// The value of a setting; empty when it is not stated. "version", "model", "gpu" and "gpu_count"
  /// are settings too.
  std::string_view flag(std::string_view name) const;
};

/// Reads a log in one pass. Memory is bounded whatever the text: a line is read to its first 64
/// KiB, and there are at most some thousand figures.
class EngineLogReader {
 public:
  EngineLogReader();
  ~EngineLogReader();
  EngineLogReader(const EngineLogReader&) = delete;
  EngineLogReader& operator=(const EngineLogReader&) = delete;

  /// Takes the next piece, of any size.
  void feed(std::string_view bytes);
  /// What was read; the last line need not be complete. Call it once.
  EngineLog finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vramgauge

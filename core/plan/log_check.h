// A log beside an estimate: what was measured, what was predicted, what is left over, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/engine_log.h"
#include "specs/breakdown.h"

namespace vramgauge {

/// A prediction with its bounds; below zero where a pool would be.
struct PredictedValue {
  int64_t value = 0;
  int64_t low = 0;
  int64_t high = 0;
  /// Nothing that a log says can move it.
  bool is_exact = false;
};

/// Facts of the model and the set-up that explain residuals.
struct LogFacts {
  uint64_t num_kv_heads = 0;
  uint64_t num_layers = 0;
  uint64_t tensor_ranks = 1;
  bool has_towers = false;
  bool has_experts = false;
  /// All layers cache every token alike, so that a block is so many tokens of all of them.
  bool has_plain_cache = false;
};

/// What is compared. Of server engines up to `capacity`, of llama.cpp `weights` and the rest;
/// `device_total` is all that its process holds of the only GPU.
enum class CheckQuantity : uint8_t {
  weights,
  activations,
  runtime,
  weights_and_runtime,
  kv_pool,
  kv_needed,
  kv_tokens,
  kv_bytes_per_token,
  capacity,
  kv_cache,
  states,
  compute_buffer,
  output_buffer,
  device_total,
};
std::string_view check_quantity_name(CheckQuantity quantity);
/// Bytes, or a number of tokens.
bool is_in_bytes(CheckQuantity quantity);

/// One prediction. `where` is the number of a GPU, "host", or empty for the rank that decides.
struct CheckPrediction {
  CheckQuantity quantity = CheckQuantity::weights;
  std::string where;
  PredictedValue predicted;
};

/// Likely reasons of a residual.
enum class CheckReason : uint8_t {
  other_card,
  gb_read_as_gib,
  kv_heads_replicated,
  cache_type_differs,
  draft_layers,
  old_token_line,
  weight_format_differs,
  weights_of_other_ranks,
  adapters,
  sleep_mode,
  graphs_deducted,
  vision_profile,
  expert_workspace,
  token_budget,
  other_process,
  follows_from_others,
};
inline constexpr uint64_t kNumCheckReasons = 16;

/// Stable name, for translation, and English text.
struct CheckReasonInfo {
  std::string_view name;
  std::string_view text;
};
const CheckReasonInfo& check_reason_info(CheckReason reason);

/// One line of the comparison.
struct CheckRow {
  CheckQuantity quantity = CheckQuantity::weights;
  std::string where;
  std::optional<PredictedValue> predicted;
  int64_t measured = 0;
  /// How far the printed figure may be from the true one.
  int64_t tolerance = 0;
  /// Where the log says so.
  uint64_t line = 0;
  /// Inside the bounds, as far as the figure is printed.
  bool is_in_band = false;
  /// Outside them by so much that it needs a reason: 2 %, and 64 MiB of a size.
  bool is_large = false;
  std::vector<CheckReason> reasons;

  /// Measured minus predicted; 0 without a prediction.
  int64_t residual() const { return predicted ? measured - predicted->value : 0; }
};

struct LogCheck {
  std::vector<CheckRow> rows;
  /// What was predicted, also where the log says nothing of it.
  std::vector<CheckPrediction> predictions;

  const CheckRow* find(CheckQuantity quantity) const;
  const CheckPrediction* prediction(CheckQuantity quantity) const;
};

/// The figures of a log that an estimate has something to say about; of ranks that differ, the one
/// that decides. Figures without a prediction stay.
LogCheck check_log(const EngineLog& log, const std::vector<CheckPrediction>& predictions,
                   const LogFacts& facts);

/// An estimate as predictions. Of server engines the fullest device, and the smallest pool, which
/// is a device's usable memory less everything else; tokens come from the inverse answers. Of
/// llama.cpp every device, by the lines of its arithmetic.
std::vector<CheckPrediction> predictions_of(const Breakdown& breakdown, LogEngine engine);

/// Whether the release of a log comes before MAJOR.MINOR; one that is not known is not older.
bool is_older_release(const EngineLog& log, uint64_t major, uint64_t minor);

/// Reasons that the numbers of a row and the settings of its log speak for, the likeliest first.
std::vector<CheckReason> likely_reasons(const CheckRow& row, const LogCheck& check,
                                        const EngineLog& log, const LogFacts& facts);

}  // namespace vramgauge

// Runs of vLLM in a table, one start-up log a row (vllm_h100_v019.csv).
#pragma once

#include "accuracy_log_vllm.h"
#include "accuracy_score.h"
#include "accuracy_table.h"

namespace vramgauge::tools {

/// True for a table of what vLLM measured of each run.
bool is_vllm_runs_table(const TruthTable& table);

/// The rules that hold for a run: those of --engine-version, of its own column, or of 0.19.0, which
/// the campaign of these columns ran.
Predictable<VllmProfile> vllm_profile_of_run(const TruthTable& table, uint64_t row,
                                             const TruthContext& context);
/// A run's settings and the weights of each stage.
Predictable<VllmInputs> vllm_inputs_of_run(const TruthTable& table, uint64_t row,
                                           TruthContext& context);

/// Rows that started; the others cannot be compared.
std::vector<uint64_t> loaded_runs(const TruthTable& table);

/// Sets the constants that come from the campaign itself to what these rows come to: the extra of
/// the profiling run and non-torch memory on one, two and four cards. Rows that are not predicted
/// are left out.
void fit_campaign_constants(VllmProfile& profile, const TruthTable& table,
                            const std::vector<uint64_t>& rows, TruthContext& context);

/// Rows of every other model in the order of the table, and the rest.
struct RunHalves {
  std::vector<uint64_t> rows[2];
};
RunHalves halves_by_model(const TruthTable& table);

/// Predicts every run that started; what ends in _fitted and _held_out are the same figures with
/// the campaign's constants fitted on the row's own half of the models and on the other half.
void score_vllm_runs(const TruthTable& table, TruthContext& context, Scores& scores);

}  // namespace vramgauge::tools

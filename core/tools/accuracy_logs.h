// Compares predictions with start-up logs of any engine.
#pragma once

#include "accuracy_log_vllm.h"
#include "accuracy_score.h"

namespace vramgauge::tools {

/// Predicts every row. A figure counts where the row lists it under `comparable`; figures of other
/// rows are scored as "NAME (others)". Rows that nothing can be compared with are left out, and
/// listed.
void score_engine_logs(const std::vector<EngineLog>& rows, TruthContext& context, Scores& scores);

}  // namespace vramgauge::tools

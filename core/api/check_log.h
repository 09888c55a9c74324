// The method check_log: a start-up log beside what is predicted for it.
#pragma once

#include "api/envelope.h"
#include "api/parts.h"
#include "import/engine_log.h"

namespace vramgauge::api {

/// {"text" or "log", "scenario"} -> what the log says (observation, scenario_patch), each figure
/// beside its prediction with the residual and its likely reasons (rows), and calibration. `log` is
/// a log that was read in pieces (import/engine_log_json.h). The scenario's fields go before those
/// that the log states. Where nothing can be predicted the rows stand alone, and prediction_errors
/// says why. Errors: log.no_engine; those of reading the request.
Answer check_log(const Parts& parts, const Catalogue& catalogue, Models& models,
                 const json::Value& request);

/// The same for a log that was read elsewhere (`read_log` of the tools); a text is answered with
/// api.tools_needed.
Answer check_read_log(const Parts& parts, const Catalogue& catalogue, Models& models,
                      const json::Value& request);

/// What reads a log's text; null = nothing does.
using LogTextReader = Result<EngineLog> (*)(const std::string& text);

Answer check_log_with(LogTextReader read_text, const Parts& parts, const Catalogue& catalogue,
                      Models& models, const json::Value& request);

}  // namespace vramgauge::api

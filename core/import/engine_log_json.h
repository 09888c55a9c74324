// A log that was read, as JSON: so that a text of any size is read in pieces by one program or
// module and looked at by another.
#pragma once

#include "import/engine_log.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge {

/// {"engine", "outcome", "outcome_line", "lines", "starts", "foreign_lines", "settings":
/// [{"name", "value", "line"}], "figures": [{"quantity", "where", "value", "step", "line"}]}.
/// Values are bytes, counts, or millionths of a ratio.
json::Value write_engine_log(const EngineLog& log);

/// The same back. Errors carry pointers below `path`: wrong types, unknown words, figures out of
/// range.
Result<EngineLog> read_engine_log(const json::Value& document, const std::string& path);

}  // namespace vramgauge

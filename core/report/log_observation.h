// A log as a row of a truth file: the same keys and units as tests/truth/engine_logs.jsonl.
#pragma once

#include "import/engine_log.h"
#include "units/json.h"

namespace vramgauge {

/// One observation: id (empty), engine, engine_version, model, gpu, gpu_count, total_gib, flags,
/// measured and comparable. Of ranks that differ the binding one counts: the smallest pool, the
/// largest of what takes memory. llama.cpp's buffers are in MiB and summed over its GPUs.
json::Value log_observation(const EngineLog& log);

/// The settings that the log states, as numbers, switches and texts.
json::Value log_flags_json(const EngineLog& log);

/// Whether a name of a device is that of host memory.
bool is_host_buffer(std::string_view where);

/// GPUs that the log speaks of: as it states, else by ranks or devices; 0 = it does not say.
uint64_t log_gpu_count(const EngineLog& log);

}  // namespace vramgauge

// What vLLM itself says of an estimate: its figures, its refusals, and what people ran into.
#pragma once

#include "api/vllm.h"

namespace vramgauge::api {

/// The engine's own figures: budget, pool, lines of its log, defaults that it chose. Those of the
/// pool are of one replica, requests of all `replicas`.
std::vector<EngineFact> vllm_facts(const VllmQuestion& question, const VllmEstimate& estimate,
                                   uint64_t replicas);

/// Refusals and warnings; pointers below `path`.
void add_vllm_notes(Diagnostics& notes, const Resolved& resolved, const VllmQuestion& question,
                    const VllmEstimate& estimate, const std::string& path);

}  // namespace vramgauge::api

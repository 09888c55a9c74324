// The probe as an answer, for the command and for the server.
#pragma once

#include "probe.h"
#include "program.h"

namespace vramgauge::tools {

/// An envelope with the catalogue's document of this machine, or with the driver's error.
json::Value probe_answer(Program& program, const Drivers& drivers, ProbeDepth depth);

/// Prints what this machine's GPUs have; unless `only_looks`, a context is created on each.
int run_probe(bool only_looks, bool as_json);

}  // namespace vramgauge::tools

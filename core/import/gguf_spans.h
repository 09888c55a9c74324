// What each layer of a GGUF model keeps of the context.
#pragma once

#include <vector>

#include "import/gguf_layers.h"

namespace vramgauge::gguf {

/// Windows, chunks and shared caches of `num_layers` layers, by the keys and what is hard-wired for
/// the architecture.
std::vector<Span> read_spans(LayerContext& context, const GgufHeader& header, uint64_t num_layers,
                             Diagnostics& warnings);

}  // namespace vramgauge::gguf

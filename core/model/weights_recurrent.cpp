// Tensors of the recurrent mixers.
#include "model/weights_layer.h"

namespace vramgauge {

void add_mixer_weights(LayerWeights&, const Mamba1&) {}
void add_mixer_weights(LayerWeights&, const Mamba2&) {}
void add_mixer_weights(LayerWeights&, const GatedDelta&) {}
void add_mixer_weights(LayerWeights&, const LinearAttention&) {}
void add_mixer_weights(LayerWeights&, const ShortConv&) {}
void add_mixer_weights(LayerWeights&, const Rwkv&) {}
void add_mixer_weights(LayerWeights&, const GatedLru&) {}

}  // namespace vramgauge

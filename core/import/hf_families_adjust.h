// What traits cannot say about the dense families: corrections after the generic builder.
#pragma once

#include "import/hf_families.h"

namespace vramgauge::hf {

void adjust_phi(Import& import);
void adjust_phi3small(Import& import);
void adjust_gpt2(Import& import);
void adjust_gpt_neo(Import& import);
void adjust_opt(Import& import);
void adjust_bloom(Import& import);
void adjust_falcon(Import& import);
void adjust_parallel_norms(Import& import);
void adjust_parallel_ignored(Import& import);
void adjust_qk_norm_bias(Import& import);
void adjust_qwen1(Import& import);
void adjust_telechat(Import& import);
void adjust_apertus(Import& import);
void adjust_bitnet(Import& import);
void adjust_doge(Import& import);
void adjust_diffllama(Import& import);
void adjust_modernbert(Import& import);
void build_openai_gpt(Import& import, const Traits& traits);
void build_mpt(Import& import, const Traits& traits);

/// Applies `change` to the softmax attention of every layer.
template <typename Change>
void for_each_attention(ModelSpec& spec, Change change) {
  for (Layer& layer : spec.layers) {
    for (Mixer& mixer : layer.mixers) {
      if (auto* attention = std::get_if<Attention>(&mixer)) change(*attention);
    }
  }
}

/// Adds the same extra tensor to every layer.
void add_layer_extra(ModelSpec& spec, const ExtraTensor& extra);
/// Sets the number of norm vectors of every layer.
void set_norms(ModelSpec& spec, size_t count);

}  // namespace vramgauge::hf

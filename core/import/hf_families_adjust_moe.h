// What traits cannot say about the families with experts.
#pragma once

#include "import/hf_families.h"

namespace vramgauge::hf {

void adjust_bailing(Import& import);
void adjust_minimax_m2(Import& import);
void adjust_afmoe(Import& import);
void build_ernie_vl(Import& import, const Traits& traits);
void build_hunyuan_moe(Import& import, const Traits& traits);
void build_grok2(Import& import, const Traits& traits);
void build_dbrx(Import& import, const Traits& traits);

/// Applies `change` to the experts of every layer.
template <typename Change>
void for_each_moe(ModelSpec& spec, Change change) {
  for (Layer& layer : spec.layers) {
    if (auto* moe = std::get_if<MoeFfn>(&layer.ffn)) change(*moe);
  }
}

}  // namespace vramgauge::hf

// Builders of the families that traits alone cannot describe.
#pragma once

#include "import/hf_families.h"

namespace vramgauge::hf {

// hf_attention_latent.cpp
/// Mixer of the families with latent attention.
Mixer read_latent_mixer(Import& import, const Traits& traits);
/// Values as wide as hidden_size / heads unless v_head_dim says otherwise.
Mixer read_minicpm3_mixer(Import& import, const Traits& traits);
/// Indexers that reuse the scores of an earlier layer store no keys (GLM-5.2 and later).
void adjust_latent(Import& import);
/// Two attentions and two dense blocks per layer, experts beside the first (LongCat-Flash).
void build_longcat(Import& import, const Traits& traits);

// hf_attention_compressed.cpp
void build_deepseek_v4(Import& import, const Traits& traits);

// hf_families_gemma.cpp
void build_gemma3n(Import& import, const Traits& traits);
void build_gemma4(Import& import, const Traits& traits);

// hf_families_llama.cpp
void adjust_llama4(Import& import);
void build_nemotron_nas(Import& import, const Traits& traits);
void adjust_molmo(Import& import);
void adjust_cogvlm(Import& import);
/// A one-layer draft model that reads three hidden states of its target (EAGLE-3).
void adjust_eagle3(Import& import);

// hf_families_recent.cpp
void adjust_step3(Import& import);
void adjust_laguna(Import& import);
void build_minimax_m3(Import& import, const Traits& traits);
void adjust_mimo_v2(Import& import);

}  // namespace vramgauge::hf

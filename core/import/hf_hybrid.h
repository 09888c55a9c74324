// Builders of recurrent and hybrid decoders, and the few blocks they share.
#pragma once

#include "import/hf_families.h"

namespace vramgauge::hf {

// One builder per kind of architecture; each fills import.spec and reports what is wrong.
void build_mamba1(Import& import, const Traits& traits);
void build_mamba2(Import& import, const Traits& traits);
void build_recurrent_gemma(Import& import, const Traits& traits);
void build_rwkv4(Import& import, const Traits& traits);
void build_rwkv5(Import& import, const Traits& traits);
void build_rwkv6(Import& import, const Traits& traits);
void build_rwkv7(Import& import, const Traits& traits);
void build_jamba(Import& import, const Traits& traits);
void build_bamba(Import& import, const Traits& traits);
void build_falcon_h1(Import& import, const Traits& traits);
void build_granite_hybrid(Import& import, const Traits& traits);
void build_nemotron_h(Import& import, const Traits& traits);
void build_qwen_hybrid(Import& import, const Traits& traits);
void build_kimi_linear(Import& import, const Traits& traits);
void build_minimax(Import& import, const Traits& traits);
void build_lfm2(Import& import, const Traits& traits);
void build_inkling(Import& import, const Traits& traits);
void build_mllama(Import& import, const Traits& traits);
void build_t5(Import& import, const Traits& traits);
void build_bart(Import& import, const Traits& traits);
void build_whisper(Import& import, const Traits& traits);
/// Zamba shares attention blocks among layers through adapters: refused.
void build_zamba(Import& import, const Traits& traits);

/// Names under which a family gives the dimensions of its Mamba-2 layers.
struct Mamba2Keys {
  std::string_view num_heads;
  std::string_view head_dim;
  std::string_view num_groups;
  std::string_view d_state;
  std::string_view d_conv;
  std::string_view conv_bias;
  std::string_view proj_bias;
};
/// Mamba-2 dimensions; `d_inner` stands in for a head_dim of "auto" (0 = not known).
Mamba2 read_mamba2(ConfigView& view, const Mamba2Keys& keys, uint64_t d_inner);
/// The keys of Bamba, Falcon-H1 and Granite.
extern const Mamba2Keys kMambaPrefixedKeys;

/// expand x hidden_size; reports model.missing_dimension when the factor is missing.
uint64_t read_expanded(ConfigView& view, std::string_view key, uint64_t hidden_size);
/// A number, or hidden_size / 16 rounded up when it is missing or "auto".
uint64_t read_dt_rank(ConfigView& view, std::string_view key, uint64_t hidden_size);
/// True when `layer` is named in `layers`.
bool contains(const std::vector<uint64_t>& layers, uint64_t layer);
/// Marks keys as known that change no size in these families.
void ignore_recurrent_keys(ConfigView& view);
/// Appends to spec.mtp_layers one module: two norms and a projection that join the embedding to the
/// hidden state, then `layers`, then a norm.
void add_mtp_module(ModelSpec& spec, std::vector<Layer> layers);

}  // namespace vramgauge::hf

// One function per kind of tower; hf_towers.cpp chooses among them.
#pragma once

#include <string>

#include "import/hf_towers_builder.h"

namespace vramgauge::hf {

/// What the functions below read from and write to.
struct TowerInput {
  /// The tower's own object (vision_config and its like).
  TowerDims& dims;
  /// The whole configuration, for members that describe the projector.
  TowerDims& root;
  uint64_t text_hidden_size = 0;
  TowerBuilder& builder;
};

// Encoders alone. Sources: the modelling files of transformers named like the functions; counts are
// checked against published totals in tests/unit/hf_towers_test.cpp.
void clip_encoder(const TowerInput& input);
/// SigLIP; `drop_last_layer` for pipelines that read the last but one layer and never load the
/// last.
void siglip_encoder(const TowerInput& input, bool drop_last_layer = false,
                    bool head_by_default = true);
void pixtral_encoder(const TowerInput& input);
void intern_vit_encoder(const TowerInput& input);
/// ConvNeXt-XXLarge of open_clip with its projection to `image_dim`.
void convnext_xxlarge_encoder(TowerBuilder& builder, uint64_t image_dim);

/// Dimensions of Whisper's encoder.
struct WhisperShape {
  uint64_t hidden_size = 0;
  uint64_t intermediate_size = 0;
  uint64_t num_layers = 0;
  uint64_t num_mel_bins = 0;
  uint64_t max_source_positions = 0;
};
void whisper_encoder(TowerBuilder& builder, const WhisperShape& shape);

// Whole towers with projector.
void llava_tower(const TowerInput& input);
void llava_next_tower(const TowerInput& input);
void mistral3_tower(const TowerInput& input);
void paligemma_tower(const TowerInput& input);
void gemma3_tower(const TowerInput& input);
void gemma4_tower(const TowerInput& input);
void gemma4_audio_tower(const TowerInput& input);
void qwen2_audio_tower(const TowerInput& input);
void voxtral_tower(const TowerInput& input);
void qwen2_vl_tower(const TowerInput& input);
void qwen2_5_vl_tower(const TowerInput& input);
void qwen3_vl_tower(const TowerInput& input);
void glm4v_tower(const TowerInput& input);
void kimi_vl_tower(const TowerInput& input);
void kimi_k3_tower(const TowerInput& input);
void minimax_m3_tower(const TowerInput& input);
void muse_glimmer_tower(const TowerInput& input);
void intern_vl_tower(const TowerInput& input);
void mllama_tower(const TowerInput& input);
void llama4_tower(const TowerInput& input);
void phi3_v_tower(const TowerInput& input);
void idefics3_tower(const TowerInput& input);
/// Towers that the configuration only names (mm_vision_tower); false when a name is not known.
bool named_towers(const TowerInput& input, const std::string& names);

}  // namespace vramgauge::hf

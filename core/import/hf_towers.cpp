// Which tower a configuration has, and what becomes of it when it cannot be derived.
#include <algorithm>
#include <iterator>

#include "import/hf_families.h"
#include "import/hf_towers_kinds.h"

namespace vramgauge::hf {
namespace {

using TowerFn = void (*)(const TowerInput&);

/// The tower of each kind of model, by the model_type of the whole configuration.
struct TowerRow {
  std::string_view model_type;
  TowerFn build;
  /// Every released model has this tower, so that the defaults stand for a missing vision_config.
  bool has_default = false;
};

constexpr TowerRow kVisionTowers[] = {
    {"llava", llava_tower, true},
    {"llava_next", llava_next_tower, true},
    {"llava_next_video", llava_next_tower, true},
    {"llava_onevision", llava_next_tower},
    {"mistral3", mistral3_tower},
    {"ministral3", mistral3_tower},
    {"paligemma", paligemma_tower},
    {"gemma3", gemma3_tower},
    {"gemma4", gemma4_tower},
    {"qwen2_vl", qwen2_vl_tower},
    {"qwen2_5_vl", qwen2_5_vl_tower},
    {"exaone4_5", qwen2_5_vl_tower},
    {"qwen3_vl", qwen3_vl_tower},
    {"qwen3_vl_moe", qwen3_vl_tower},
    {"qwen3_5", qwen3_vl_tower},
    {"qwen3_5_moe", qwen3_vl_tower},
    {"glm4v", glm4v_tower},
    {"glm4v_moe", glm4v_tower},
    {"kimi_vl", kimi_vl_tower},
    {"kimi_k25", kimi_vl_tower},
    {"kimi_k3", kimi_k3_tower},
    {"minimax_m3_vl", minimax_m3_tower},
    {"muse_glimmer", muse_glimmer_tower},
    {"internvl", intern_vl_tower},
    {"internvl_chat", intern_vl_tower},
    {"mllama", mllama_tower},
    {"llama4", llama4_tower, true},
    {"phi3_v", phi3_v_tower, true},
    {"idefics3", idefics3_tower},
    {"smolvlm", idefics3_tower},
};

constexpr TowerRow kAudioTowers[] = {
    {"gemma4", gemma4_audio_tower},
    {"qwen2_audio", qwen2_audio_tower},
    {"voxtral", voxtral_tower},
};

/// Models that have a tower although a copy of their configuration may not speak of it.
constexpr std::string_view kMultimodal[] = {
    "qwen3_5", "qwen3_5_moe",      "molmo",           "phi4mm",   "step3p7",
    "inkling", "inkling_mm_model", "gemma3n",         "minicpmv", "minicpmo",
    "ovis",    "deepseek_vl_v2",   "phi4_multimodal",
};

constexpr std::string_view kVisionKeys[] = {"vision_config",   "visual",       "img_processor",
                                            "mm_vision_tower", "vision_tower", "vit_config",
                                            "siglip_config"};
constexpr std::string_view kAudioKeys[] = {"audio_config", "audio_processor",
                                           "audio_encoder_config", "speech_config"};
/// Keys beside the decoder's own that describe how a tower is joined to it.
constexpr std::string_view kTowerKeys[] = {
    "vision_config",
    "visual",
    "img_processor",
    "mm_vision_tower",
    "vision_tower",
    "vit_config",
    "siglip_config",
    "audio_config",
    "audio_processor",
    "audio_encoder_config",
    "speech_config",
    "embd_layer",
    "mm_hidden_size",
    "mm_projector_type",
    "mm_patch_merge_type",
    "mm_vision_select_layer",
    "mm_vision_select_feature",
    "mm_resampler_type",
    "mm_spatial_pool_mode",
    "mm_spatial_pool_stride",
    "mm_newline_position",
    "mm_projector_lr",
    "mm_tunable_parts",
    "mm_use_im_patch_token",
    "mm_use_im_start_end",
    "mm_vision_tower_lr",
    "mm_tokens_per_image",
    "multimodal_projector_bias",
    "projector_hidden_act",
    "projector_hidden_size",
    "spatial_merge_size",
    "vision_feature_layer",
    "vision_feature_select_strategy",
    "image_seq_length",
    "image_token_index",
    "downsample_ratio",
    "force_image_size",
    "dynamic_image_size",
    "scale_factor",
    "use_mm_proj",
    "image_aspect_ratio",
    "image_grid_pinpoints",
    "image_crop_resolution",
    "image_split_resolution",
    "vision_tower_pretrained",
    "tune_mm_mlp_adapter",
    "freeze_mm_mlp_adapter",
    "unfreeze_mm_vision_tower",
    "tune_mm_vision_resampler",
    "freeze_mm_vision_resampler",
    "max_dynamic_patch",
    "min_dynamic_patch",
    "select_layer",
    "ps_version",
    "use_thumbnail",
    "use_backbone_lora",
    "use_llm_lora",
    "process_image_mode",
    "vision_soft_tokens_per_image",
    "num_image_tokens",
    "language_model_only",
    "projector_ln_eps",
    "out_hidden_size",
    "pixel_shuffle_ratio",
};

bool is_given(const json::Value& config, std::string_view key) {
  const json::Value* value = config.find(key);
  return value != nullptr && !value->is_null();
}

template <size_t N>
bool any_given(const json::Value& config, const std::string_view (&keys)[N]) {
  return std::any_of(std::begin(keys), std::end(keys),
                     [&](std::string_view key) { return is_given(config, key); });
}

template <size_t N>
const TowerRow* find_tower(const TowerRow (&rows)[N], std::string_view model_type) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const TowerRow& r) { return r.model_type == model_type; });
  return row == std::end(rows) ? nullptr : row;
}

/// The object under `key`; null when there is none.
const json::Value* object_at(const json::Value& config, std::string_view key) {
  const json::Value* value = config.find(key);
  return value != nullptr && value->as_object() != nullptr ? value : nullptr;
}

/// One tower under way.
struct TowerTask {
  Import& import;
  Tower::Kind kind;
  std::string_view key;
  std::string_view name() const { return kind == Tower::Kind::audio ? "audio" : "vision"; }
  TensorRole role() const {
    return kind == Tower::Kind::audio ? TensorRole::audio : TensorRole::vision;
  }
};

void skip_tower(const TowerTask& task, std::string reason) {
  Import& import = task.import;
  Tower tower;
  tower.kind = task.kind;
  tower.is_counted = false;
  import.spec.towers.push_back(std::move(tower));
  import.notes.warnings.push_back(
      {ErrorCode::model_tower_not_counted,
       json::pointer_to("", task.key),
       {{"tower", task.name()},
        {"model_type",
         import.root_model_type.empty() ? import.spec.model_type : import.root_model_type},
        { "reason",
          std::move(reason) }},
       std::nullopt});
}

/// Enters the tower that `build` describes, unless a dimension it needs is missing.
template <typename Build>
void enter_tower(const TowerTask& task, const json::Value* object, Build build) {
  Import& import = task.import;
  TowerDims dims(object, json::pointer_to("", task.key), import.errors);
  TowerDims root(&import.config, "", import.errors);
  TowerBuilder builder(std::string(task.name()) + "_tower", task.role());
  const bool is_known = build(TowerInput{dims, root, import.spec.hidden_size, builder});
  const std::string missing = !dims.missing().empty() ? dims.missing() : root.missing();
  if (!missing.empty()) return skip_tower(task, "its configuration gives no " + missing);
  if (!is_known) return skip_tower(task, "its encoder is not known");
  Tower tower;
  tower.kind = task.kind;
  tower.tensors = builder.take();
  import.spec.towers.push_back(std::move(tower));
}

void enter_known_tower(const TowerTask& task, const TowerRow& row) {
  enter_tower(task, object_at(task.import.config, task.key), [&](const TowerInput& input) {
    row.build(input);
    return true;
  });
}

void add_vision(Import& import) {
  const json::Value& config = import.config;
  const TowerRow* row = find_tower(kVisionTowers, import.root_model_type);
  const TowerTask task{import, Tower::Kind::vision, "vision_config"};
  const std::string names = [&] {
    const json::Value* value = config.find("mm_vision_tower");
    return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
  }();
  if (!names.empty() && object_at(config, "vision_config") == nullptr) {
    enter_tower({import, Tower::Kind::vision, "mm_vision_tower"}, nullptr,
                [&](const TowerInput& input) { return named_towers(input, names); });
  } else if (row != nullptr &&
             (object_at(config, "vision_config") != nullptr || row->has_default)) {
    if (object_at(config, "vision_config") == nullptr) {
      import.root.assume("vision_config", "the tower of the released models");
    }
    enter_known_tower(task, *row);
  } else if (any_given(config, kVisionKeys)) {
    skip_tower(task, "its layout is not known");
  }
}

void add_audio(Import& import) {
  const TowerRow* row = find_tower(kAudioTowers, import.root_model_type);
  const TowerTask task{import, Tower::Kind::audio, "audio_config"};
  if (row != nullptr && object_at(import.config, "audio_config") != nullptr) {
    enter_known_tower(task, *row);
  } else if (any_given(import.config, kAudioKeys)) {
    skip_tower(task, "its layout is not known");
  }
}

/// True when the configuration, or one nested in it, speaks of a tower.
bool mentions_tower(const json::Value& config, int depth) {
  constexpr int kMaxDepth = 3;
  if (config.as_object() == nullptr || depth > kMaxDepth) return false;
  if (any_given(config, kVisionKeys) || any_given(config, kAudioKeys)) return true;
  return std::any_of(config.as_object()->begin(), config.as_object()->end(),
                     [&](const json::Member& m) { return mentions_tower(m.value, depth + 1); });
}

bool is_known_multimodal(std::string_view model_type) {
  return std::find(std::begin(kMultimodal), std::end(kMultimodal), model_type) !=
         std::end(kMultimodal);
}

}  // namespace

void add_towers(Import& import) {
  for (const std::string_view key : kTowerKeys)
    import.root.ignore(key);
  const size_t before = import.spec.towers.size();
  add_vision(import);
  add_audio(import);
  if (import.spec.towers.size() != before) return;
  const bool is_mentioned = mentions_tower(import.config, 0);
  if (!is_mentioned && !is_known_multimodal(import.root_model_type)) return;
  skip_tower({import, Tower::Kind::vision, "vision_config"},
             is_mentioned ? "its layout is not known" : "its configuration is not given");
}

}  // namespace vramgauge::hf

// Towers and encoder-decoder models: counts published with the checkpoints, less the decoder's
// where the published total holds both.
#include "hf_import_helpers.h"

namespace vramgauge {
namespace {

using test::has_warning;
using test::imported;
using test::total_parameters;

/// A decoder small enough not to matter, with the width that a projector must meet.
std::string text_of(uint64_t hidden_size) {
  return R"("text_config":{"model_type":"llama","vocab_size":8,"num_hidden_layers":1,"num_attention_heads":1,
    "num_key_value_heads":1,"intermediate_size":8,"tie_word_embeddings":true,"hidden_size":)" +
         std::to_string(hidden_size) + "},";
}

uint64_t tower_parameters(const std::string& model_type, uint64_t text_hidden_size,
                          const std::string& rest) {
  const auto model = imported(R"({"model_type":")" + model_type + R"(",)" +
                              text_of(text_hidden_size) + rest + "}");
  EXPECT_FALSE(has_warning(model, ErrorCode::model_tower_not_counted)) << model_type;
  return count_parameters(model.spec).towers.value_or(0);
}

constexpr const char* kClip336 =
    R"("vision_config":{"model_type":"clip_vision_model","hidden_size":1024,
  "intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"image_size":336,"patch_size":14})";

TEST(HfTowers, LlavaIsClipAndTwoLinearLayers) {
  // CLIP ViT-L/14-336 has 303507456 parameters; projector 1024 x 4096 + 4096 x 4096 + 2 x 4096.
  EXPECT_EQ(tower_parameters("llava", 4096, kClip336), 303507456U + 20979712U);
  // llava-hf/llava-v1.6-mistral-7b-hf: 7566747648 - 7242256384 of Mistral 7B; a newline vector
  // beside.
  EXPECT_EQ(tower_parameters("llava_next", 4096, kClip336), 7566747648U - 7242256384U);
}

TEST(HfTowers, LlavaWithoutVisionConfigTakesTheReleasedTower) {
  const auto model =
      imported(R"({"model_type":"llava",)" + text_of(4096) + R"("image_token_index":9})");
  EXPECT_EQ(count_parameters(model.spec).towers.value_or(0), 303507456U + 20979712U);
  EXPECT_TRUE(has_warning(model, ErrorCode::model_assumed_default));
}

TEST(HfTowers, SiglipOfGemma3) {
  // google/gemma-3-4b-it: 4300079472 - 3880263168 of its decoder.
  EXPECT_EQ(
      tower_parameters("gemma3", 2560,
                       R"("vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,
    "intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"image_size":896,"patch_size":14})"),
      4300079472U - 3880263168U);
}

TEST(HfTowers, SiglipOfPaligemmaAndIdefics3) {
  // google/paligemma-3b-pt-224: 2923466480 - 2508662784 of Gemma with 257216 words.
  const std::string shape =
      R"("hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,
    "patch_size":14,)";
  EXPECT_EQ(
      tower_parameters("paligemma", 2048, R"("vision_config":{)" + shape + R"("image_size":224})"),
      2923466480U - 2508662784U);
  // HuggingFaceTB/SmolVLM-Instruct: 2246272880 - 1812051968 of its decoder (untied, 49155 words).
  EXPECT_EQ(
      tower_parameters("idefics3", 2048,
                       R"("scale_factor":3,"vision_config":{)" + shape + R"("image_size":384})"),
      2246272880U - 1812051968U);
}

TEST(HfTowers, InternVit) {
  // OpenGVLab/InternVL3_5-8B: 8528318464 - 8190735360 of Qwen3-8B.
  EXPECT_EQ(tower_parameters("internvl_chat", 4096,
                             R"("downsample_ratio":0.5,"vision_config":{"hidden_size":1024,
    "intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"image_size":448,"patch_size":14,
    "norm_type":"layer_norm","qk_normalization":false,"qkv_bias":true})"),
            8528318464U - 8190735360U);
  // InternVL3-38B, the 6B tower: 38388164992 - 32759882752 of its Qwen2.5 decoder.
  EXPECT_EQ(tower_parameters("internvl", 5120,
                             R"("vision_config":{"hidden_size":3200,"intermediate_size":12800,
    "num_hidden_layers":45,"num_attention_heads":25,"image_size":[448,448],"patch_size":[14,14],
    "norm_type":"rms_norm","qk_normalization":true,"qkv_bias":false})"),
            38388164992U - 32759882752U);
}

TEST(HfTowers, QwenVl) {
  // Qwen2-VL-7B 8291375616, Qwen2.5-VL-7B 8292166656; both decoders are Qwen2-7B, 7615616512.
  EXPECT_EQ(tower_parameters("qwen2_vl", 3584,
                             R"("vision_config":{"depth":32,"embed_dim":1280,"mlp_ratio":4,
    "num_heads":16,"in_chans":3,"hidden_size":3584,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2})"),
            8291375616U - 7615616512U);
  EXPECT_EQ(tower_parameters("qwen2_5_vl", 3584, R"("vision_config":{"depth":32,"hidden_size":1280,
    "intermediate_size":3420,"num_heads":16,"in_chans":3,"out_hidden_size":3584,"patch_size":14,
    "spatial_merge_size":2,"temporal_patch_size":2})"),
            8292166656U - 7615616512U);
}

TEST(HfTowers, Qwen3VlHasDeepstackMergersAndQwen35HasNone) {
  // Qwen3-VL-8B 8767123696 - 8190735360 of Qwen3-8B.
  const std::string shape =
      R"("depth":27,"hidden_size":1152,"in_channels":3,"intermediate_size":4304,"num_heads":16,
    "num_position_embeddings":2304,"out_hidden_size":4096,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2)";
  EXPECT_EQ(
      tower_parameters("qwen3_vl", 4096,
                       R"("vision_config":{"deepstack_visual_indexes":[8,16,24],)" + shape + "}"),
      8767123696U - 8190735360U);
  // Qwen3.5-9B 9653104368 - 8953803264 of the decoder - 243290624 of the prediction layer.
  EXPECT_EQ(tower_parameters("qwen3_5", 4096,
                             R"("vision_config":{"deepstack_visual_indexes":[],)" + shape + "}"),
            9653104368U - 8953803264U - 243290624U);
}

TEST(HfTowers, Glm4vAndMoonVit) {
  // zai-org/GLM-4.1V-9B-Thinking: 10292777472 - 9400279040 of the decoder.
  EXPECT_EQ(
      tower_parameters("glm4v", 4096,
                       R"("vision_config":{"depth":24,"hidden_size":1536,"attention_bias":false,
    "num_heads":12,"in_channels":3,"image_size":336,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,
    "out_hidden_size":4096,"intermediate_size":13696})"),
      10292777472U - 9400279040U);
  // moonshotai/Kimi-VL-A3B-Instruct: 16407657776 - 15960111936 of the decoder.
  EXPECT_EQ(tower_parameters("kimi_vl", 2048,
                             R"("vision_config":{"patch_size":14,"num_attention_heads":16,
    "num_hidden_layers":27,"hidden_size":1152,"intermediate_size":4304,"merge_kernel_size":[2,2],
    "init_pos_emb_height":64,"init_pos_emb_width":64})"),
            16407657776U - 15960111936U);
}

TEST(HfTowers, Gemma4Vision) {
  // google/gemma-4-31B-it: 31273088876, decoder 30697345340 (its layers' scalars included).
  EXPECT_EQ(
      tower_parameters("gemma4", 5376, R"("audio_config":null,"vision_config":{"hidden_size":1152,
    "intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":72,
    "patch_size":16,"position_embedding_size":10240,"standardize":true})"),
      31273088876U - 30697345340U);
}

TEST(HfTowers, AudioTowers) {
  // Qwen/Qwen2-Audio-7B: 8397094912 - 7754878976 of its decoder (Qwen 7B, 156032 words).
  EXPECT_EQ(tower_parameters("qwen2_audio", 4096,
                             R"("audio_config":{"d_model":1280,"encoder_ffn_dim":5120,
    "encoder_layers":32,"num_mel_bins":128,"max_source_positions":1500})"),
            8397094912U - 7754878976U);
  // google/gemma-4-E2B-it: 5123178051 - 4647449891 of the decoder (keys and values of the layers
  // that share a cache are stored) - 168544256 of the vision tower.
  EXPECT_EQ(tower_parameters("gemma4", 1536,
                             R"("audio_config":{"hidden_size":1024,"num_hidden_layers":12,
    "num_attention_heads":8,"conv_kernel_size":5,"output_proj_dims":1536})"),
            5123178051U - 4647449891U - 168544256U);
}

TEST(HfTowers, TowerOfANestedConfigurationIsMissed) {
  const auto model =
      imported(R"({"model_type":"unheard_of","thinker_config":{"audio_config":{"depth":3},)" +
               text_of(64) + R"("x":1}})");
  EXPECT_TRUE(has_warning(model, ErrorCode::model_tower_not_counted));
}

TEST(HfTowers, PixtralOfMistral3) {
  // By hand: patches 3 x 14 x 14 x 1024, norm 1024, 24 layers of 4 x 1024^2 + 3 x 1024 x 4096 +
  // 2048; projector 1024 x 5120 + 5120^2, merger 4096 x 1024, norm 1024.
  const uint64_t tower = 3 * 196 * 1024 + 1024 + 24 * (4 * 1024 * 1024 + 3 * 1024 * 4096 + 2048);
  const uint64_t projector = 1024 * 5120 + 5120 * 5120 + 4096 * 1024 + 1024;
  EXPECT_EQ(tower_parameters("mistral3", 5120,
                             R"("spatial_merge_size":2,"multimodal_projector_bias":false,
    "vision_config":{"model_type":"pixtral","hidden_size":1024,"head_dim":64,"num_attention_heads":16,
    "num_hidden_layers":24,"intermediate_size":4096,"image_size":1540,"patch_size":14})"),
            tower + projector);
}

TEST(HfTowers, Llama32VisionCachesImagesInItsCrossAttention) {
  // meta-llama/Llama-3.2-11B-Vision-Instruct: 10670220835 parameters.
  const std::string config =
      R"({"model_type":"mllama","text_config":{"model_type":"mllama_text_model",
    "vocab_size":128256,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":40,"num_attention_heads":32,
    "num_key_value_heads":8,"cross_attention_layers":[3,8,13,18,23,28,33,38],"tie_word_embeddings":false},
    "vision_config":{"hidden_size":1280,"intermediate_size":5120,"image_size":560,"patch_size":14,"max_num_tiles":4,
    "num_hidden_layers":32,"num_global_layers":8,"vision_output_dim":7680}})";
  EXPECT_EQ(total_parameters(config), 10670220835U);
  const ModelSpec spec = imported(config).spec;
  EXPECT_EQ(spec.cross_tokens, 4U * (40U * 40U + 1U));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    EXPECT_EQ(std::get<Attention>(spec.layers[i].mixers.front()).is_cross, i % 5 == 3) << i;
  }
}

TEST(HfTowers, TowersKnownByName) {
  // liuhaotian/llava-v1.5-7b names its encoder; the same tower as the converted checkpoint spells
  // out.
  EXPECT_EQ(
      tower_parameters("llava", 4096, R"("mm_vision_tower":"openai/clip-vit-large-patch14-336",
    "mm_projector_type":"mlp2x_gelu","mm_hidden_size":1024)"),
      303507456U + 20979712U);
}

TEST(HfTowers, UnknownTowerIsNotCountedAndSaysSo) {
  for (const char* rest : {R"("mm_vision_tower":"someone/else","mm_hidden_size":1024)",
                           R"("vision_config":{"depth":3})"}) {
    const auto model = imported(R"({"model_type":"unheard_of",)" + text_of(64) + rest + "}");
    ASSERT_EQ(model.spec.towers.size(), 1U);
    EXPECT_FALSE(model.spec.towers.front().is_counted);
    EXPECT_TRUE(model.spec.towers.front().tensors.empty());
    EXPECT_TRUE(has_warning(model, ErrorCode::model_tower_not_counted));
  }
}

TEST(HfTowers, TowerWithoutADimensionIsNotCounted) {
  const auto model =
      imported(R"({"model_type":"gemma3",)" + text_of(64) +
               R"("vision_config":{"model_type":"siglip_vision_model","hidden_size":64}})");
  ASSERT_EQ(model.spec.towers.size(), 1U);
  EXPECT_FALSE(model.spec.towers.front().is_counted);
}

TEST(HfTowers, WrongTypeInATowerIsAnError) {
  const auto error = test::refusal(R"({"model_type":"gemma3",)" + text_of(64) +
                                   R"("vision_config":{"hidden_size":"x"}})");
  EXPECT_EQ(error.code, ErrorCode::json_wrong_type);
  EXPECT_EQ(error.path, "/vision_config/hidden_size");
}

std::string t5(uint64_t d_model, uint64_t d_ff, uint64_t heads, uint64_t layers,
               const std::string& extra) {
  return R"({"model_type":"t5","vocab_size":32128,"d_kv":64,"relative_attention_num_buckets":32,"n_positions":512,)"
         R"("d_model":)" +
         std::to_string(d_model) + R"(,"d_ff":)" + std::to_string(d_ff) + R"(,"num_heads":)" +
         std::to_string(heads) + R"(,"num_layers":)" + std::to_string(layers) + extra + "}";
}

TEST(HfTowers, T5) {
  // t5-small, t5-base, google/flan-t5-xl.
  EXPECT_EQ(total_parameters(t5(512, 2048, 8, 6, "")), 60506624U);
  EXPECT_EQ(total_parameters(t5(768, 3072, 12, 12, "")), 222903552U);
  EXPECT_EQ(
      total_parameters(t5(2048, 5120, 32, 24,
                          R"(,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false)")),
      2849757184U);
}

TEST(HfTowers, EncoderDecoderLayersCacheTheSourceToo) {
  const ModelSpec spec = imported(t5(512, 2048, 8, 6, "")).spec;
  ASSERT_EQ(spec.layers.size(), 6U);
  ASSERT_EQ(spec.layers.front().mixers.size(), 2U);
  EXPECT_FALSE(std::get<Attention>(spec.layers.front().mixers[0]).is_cross);
  EXPECT_TRUE(std::get<Attention>(spec.layers.front().mixers[1]).is_cross);
  EXPECT_EQ(spec.cross_tokens, 512U);
  ASSERT_EQ(spec.towers.size(), 1U);
  EXPECT_EQ(spec.towers.front().kind, Tower::Kind::encoder);
}

std::string bart(const std::string& model_type, uint64_t vocab_size) {
  return R"({"model_type":")" + model_type +
         R"(","d_model":1024,"encoder_layers":12,"decoder_layers":12,
    "encoder_attention_heads":16,"decoder_attention_heads":16,"encoder_ffn_dim":4096,"decoder_ffn_dim":4096,
    "max_position_embeddings":1024,"vocab_size":)" +
         std::to_string(vocab_size) + "}";
}

TEST(HfTowers, Bart) {
  // facebook/bart-large 406291456 and facebook/mbart-large-50 610879488, each with the logits' bias
  // of one value per word beside; facebook/m2m100_418M 483905536, without one.
  EXPECT_EQ(total_parameters(bart("bart", 50265)), 406291456U + 50265U);
  EXPECT_EQ(total_parameters(bart("mbart", 250054)), 610879488U + 250054U);
  EXPECT_EQ(total_parameters(bart("m2m_100", 128112)), 483905536U);
}

TEST(HfTowers, Whisper) {
  // openai/whisper-tiny 37760640, openai/whisper-large-v3 1543490560.
  EXPECT_EQ(total_parameters(
                R"({"model_type":"whisper","d_model":384,"encoder_layers":4,"decoder_layers":4,
    "encoder_attention_heads":6,"decoder_attention_heads":6,"encoder_ffn_dim":1536,"decoder_ffn_dim":1536,
    "vocab_size":51865,"max_source_positions":1500,"max_target_positions":448,"num_mel_bins":80})"),
            37760640U);
  const std::string large =
      R"({"model_type":"whisper","d_model":1280,"encoder_layers":32,"decoder_layers":32,
    "encoder_attention_heads":20,"decoder_attention_heads":20,"encoder_ffn_dim":5120,"decoder_ffn_dim":5120,
    "vocab_size":51866,"max_source_positions":1500,"max_target_positions":448,"num_mel_bins":128})";
  EXPECT_EQ(total_parameters(large), 1543490560U);
  EXPECT_EQ(imported(large).spec.cross_tokens, 1500U);
}

}  // namespace
}  // namespace vramgauge

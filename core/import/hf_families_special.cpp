// Families with latent, compressed, shared or uneven attention.
#include "import/hf_families_special.h"

#include <iterator>

namespace vramgauge::hf {
namespace {

constexpr Flag kNo{};
constexpr Flag kYes{"", true};

constexpr Traits kLatentDense{.mlp_bias = kNo, .mixer = read_latent_mixer, .adjust = adjust_latent};
/// DeepSeek-V2: softmax routing without a correction.
constexpr Traits kDeepseekV2{
    .mlp_bias = kNo, .is_moe = true, .mixer = read_latent_mixer, .adjust = adjust_latent};
constexpr Traits kDeepseekV3{.mlp_bias = kNo,
                             .is_moe = true,
                             .first_dense = 3,
                             .moe = {.correction_bias = kYes},
                             .mtp = MtpKind::own_embeddings,
                             .mixer = read_latent_mixer,
                             .adjust = adjust_latent};
constexpr Traits kGlmDsa{.mlp_bias = kNo,
                         .is_moe = true,
                         .first_dense = 3,
                         .moe = {.correction_bias = kYes},
                         .mixer = read_latent_mixer,
                         .adjust = adjust_latent};
constexpr Traits kGlmLite{.mlp_bias = kNo,
                          .is_moe = true,
                          .first_dense = 1,
                          .moe = {.correction_bias = kYes},
                          .mixer = read_latent_mixer,
                          .adjust = adjust_latent};
constexpr Traits kLongcat{.mlp_bias = kNo, .is_moe = true, .moe = {.router_bias = {"router_bias"}}};
constexpr Traits kDeepseekV4{.mlp_bias = kNo, .is_moe = true};
constexpr Traits kGemma{.norms = 4,
                        .mlp_bias = kNo,
                        .qk_norm = QkNorm::per_head_dim,
                        .tied = true,
                        .window = WindowRule::every_nth,
                        .window_period = 5};
constexpr Traits kLlama4{.mlp_bias = kNo, .is_moe = true, .adjust = adjust_llama4};
constexpr Traits kStep3{.qkv_bias = kNo,
                        .o_bias = kNo,
                        .mlp_bias = kNo,
                        .qk_norm = QkNorm::per_head_dim,
                        .qk_norm_if = {"use_qk_norm", true},
                        .window = WindowRule::first_of_period,
                        .window_period = 4,
                        .is_moe = true,
                        .moe = {.correction_bias = {"use_moe_router_bias"}},
                        .mtp = MtpKind::none,
                        .adjust = adjust_step3};
constexpr Traits kLaguna{.mlp_bias = kNo,
                         .qk_norm = QkNorm::per_head_dim,
                         .window = WindowRule::all,
                         .is_moe = true,
                         .moe = {.correction_bias = kYes},
                         .adjust = adjust_laguna};
constexpr Traits kMinimaxM3{.qkv_bias = kNo,
                            .o_bias = kNo,
                            .mlp_bias = kNo,
                            .qk_norm = QkNorm::per_head_dim,
                            .qk_norm_if = {"use_qk_norm", true},
                            .is_moe = true,
                            .moe = {.correction_bias = {"use_routing_bias", true}}};
constexpr Traits kMuse{.norms = 4, .mlp_bias = kNo, .output_gate = true, .window = WindowRule::all};
constexpr Traits kMimoV2{.o_bias = kNo,
                         .mlp_bias = kNo,
                         .is_moe = true,
                         .moe = {.correction_bias = kYes},
                         .adjust = adjust_mimo_v2};

constexpr Family kFamilies[] = {
    {"deepseek_v2", kDeepseekV2},
    {"deepseek_v3", kDeepseekV3},
    {"deepseek_v32", kDeepseekV3},
    {"kimi_k2", kDeepseekV3},
    {"glm_moe_dsa", kGlmDsa},
    {"glm4_moe_lite", kGlmLite},
    {"mistral4", kDeepseekV2},
    {"minicpm3",
     {.mlp_bias = kNo, .tied = true, .mixer = read_minicpm3_mixer, .adjust = adjust_latent}},
    {"youtu", kLatentDense},
    {"plm", kLatentDense},
    {"longcat_flash", kLongcat, build_longcat},
    {"deepseek_v4", kDeepseekV4, build_deepseek_v4},
    {"deepseek_ref", kDeepseekV4, build_deepseek_v4},
    {"gemma3n_text", kGemma, build_gemma3n},
    {"gemma4_text", kGemma, build_gemma4},
    {"llama4_text", kLlama4},
    {"nemotron-nas", {}, build_nemotron_nas},
    {"molmo",
     {.qkv_bias = {"qkv_bias"},
      .o_bias = kNo,
      .mlp_bias = kNo,
      .fused_qkv = true,
      .adjust = adjust_molmo}},
    {"cogvlm2", {.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true}},
    {"cogvlm",
     {.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true, .adjust = adjust_cogvlm}},
    {"step3p5", kStep3},
    {"step3p7", kStep3},
    {"laguna", kLaguna},
    {"minimax_m3", kMinimaxM3, build_minimax_m3},
    {"minimax_m3_vl", kMinimaxM3, build_minimax_m3},
    {"minimax_m3_vl_text", kMinimaxM3, build_minimax_m3},
    {"muse_glimmer_text", kMuse},
    {"mimo_v2_flash", kMimoV2},
    {"mimo_v2", kMimoV2},
    {"llama_eagle3", {.mtp = MtpKind::none, .adjust = adjust_eagle3}},
};

}  // namespace

FamilyTable special_families() { return {kFamilies, std::size(kFamilies)}; }

}  // namespace vramgauge::hf

// Decoders with a mixture of experts whose shape traits can say.
#include <iterator>

#include "import/hf_families.h"
#include "import/hf_families_adjust.h"
#include "import/hf_families_adjust_moe.h"

namespace vramgauge::hf {
namespace {

constexpr Flag kNo{};
constexpr Flag kYes{"", true};
constexpr MoeTraits kCorrected{.correction_bias = kYes};

constexpr Traits kQwen2Moe{.qkv_bias = {"qkv_bias", true},
                           .o_bias = kNo,
                           .mlp_bias = kNo,
                           .window = WindowRule::upper,
                           .is_moe = true,
                           .moe = {.shared_gate = true}};
constexpr Traits kQwen3Moe{
    .mlp_bias = kNo, .qk_norm = QkNorm::per_head_dim, .window = WindowRule::upper, .is_moe = true};
constexpr Traits kMixtral{
    .qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .window = WindowRule::all, .is_moe = true};
constexpr Traits kGlm4Moe{.o_bias = kNo,
                          .mlp_bias = kNo,
                          .qk_norm = QkNorm::per_head_dim,
                          .qk_norm_if = {"use_qk_norm"},
                          .is_moe = true,
                          .first_dense = 1,
                          .moe = kCorrected,
                          .mtp = MtpKind::own_embeddings};
constexpr Traits kErnieMoe{.qkv_bias = {"use_bias"},
                           .o_bias = {"use_bias"},
                           .mlp_bias = {"use_bias"},
                           .tied = true,
                           .is_moe = true,
                           .first_dense = 1,
                           .moe = kCorrected,
                           .mtp = MtpKind::dense_block};
constexpr Traits kBailing{.qkv_bias = {"use_qkv_bias"},
                          .o_bias = {"use_bias"},
                          .mlp_bias = kNo,
                          .qk_norm = QkNorm::per_head_dim,
                          .qk_norm_if = {"use_qk_norm"},
                          .fused_qkv = true,
                          .is_moe = true,
                          .moe = {.correction_bias = {"moe_router_enable_expert_bias"}},
                          .adjust = adjust_bailing};
constexpr Traits kGraniteMoe{.mlp_bias = kNo, .is_moe = true};
constexpr Traits kMinimaxM2{.qkv_bias = kNo,
                            .o_bias = kNo,
                            .mlp_bias = kNo,
                            .qk_norm = QkNorm::per_head,
                            .qk_norm_if = {"use_qk_norm", true},
                            .is_moe = true,
                            .moe = {.correction_bias = {"use_routing_bias", true}},
                            .mtp = MtpKind::none,
                            .adjust = adjust_minimax_m2};
constexpr Traits kHyV3{.o_bias = {"attention_bias"},
                       .mlp_bias = kNo,
                       .qk_norm = QkNorm::per_head_dim,
                       .qk_norm_if = {"qk_norm", true},
                       .is_moe = true,
                       .moe = kCorrected};
constexpr Traits kGrok{.norms = 4, .qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .is_moe = true};

constexpr Family kFamilies[] = {
    {"mixtral", kMixtral},
    {"qwen2_moe", kQwen2Moe},
    {"qwen3_moe", kQwen3Moe},
    {"qwen3_vl_moe_text", kQwen3Moe},
    {"qwen3_omni_moe_text", kQwen3Moe},
    {"olmoe", {.mlp_bias = kNo, .qk_norm = QkNorm::per_head, .is_moe = true}},
    {"flex_olmo", {.mlp_bias = kNo, .qk_norm = QkNorm::per_head, .is_moe = true}},
    {"granitemoe", kGraniteMoe},
    {"granitemoeshared", kGraniteMoe},
    {"phimoe", {.norm_bias = true, .mlp_bias = kNo, .window = WindowRule::all, .is_moe = true}},
    {"gpt_oss",
     {.qkv_bias = {"attention_bias", true},
      .o_bias = {"attention_bias", true},
      .mlp_bias = kNo,
      .has_sinks = true,
      .window = WindowRule::every_nth,
      .window_period = 2,
      .is_moe = true,
      .moe = {.router_bias = kYes, .expert_bias = true}}},
    {"deepseek", {.mlp_bias = kNo}},
    {"dots1",
     {.mlp_bias = kNo,
      .qk_norm = QkNorm::per_head_dim,
      .window = WindowRule::upper,
      .is_moe = true,
      .moe = kCorrected}},
    {"ernie4_5_moe", kErnieMoe},
    {"ernie4_5_vl_moe_text", kErnieMoe, build_ernie_vl},
    {"glm4_moe", kGlm4Moe},
    {"glm4v_moe_text", kGlm4Moe},
    {"solar_open", {.o_bias = kNo, .mlp_bias = kNo, .is_moe = true, .moe = kCorrected}},
    {"minimax_m2", kMinimaxM2},
    {"bailing_moe", kBailing},
    {"bailing_moe_v2", kBailing},
    {"hy_v3", kHyV3},
    {"hunyuan_v1_moe",
     {.mlp_bias = kNo,
      .qk_norm = QkNorm::per_head_dim,
      .qk_norm_if = {"use_qk_norm", true},
      .is_moe = true},
     build_hunyuan_moe},
    {"afmoe",
     {.norms = 4,
      .qkv_bias = kNo,
      .o_bias = kNo,
      .mlp_bias = kNo,
      .qk_norm = QkNorm::per_head_dim,
      .output_gate = true,
      .window = WindowRule::every_nth,
      .window_period = 4,
      .is_moe = true,
      .moe = kCorrected,
      .adjust = adjust_afmoe}},
    {"exaone_moe",
     {.qkv_bias = kNo,
      .o_bias = kNo,
      .mlp_bias = kNo,
      .qk_norm = QkNorm::per_head_dim,
      .window = WindowRule::every_nth,
      .window_period = 4,
      .is_moe = true,
      .first_dense = 1,
      .moe = kCorrected}},
    {"aria_text", {.is_moe = true}},
    {"grok-1", kGrok},
    {"grok-2", kGrok, build_grok2},
    {"dbrx",
     {.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true, .is_moe = true},
     build_dbrx},
};

}  // namespace

FamilyTable moe_families() { return {kFamilies, std::size(kFamilies)}; }

}  // namespace vramgauge::hf

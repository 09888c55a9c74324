// Decoders with dense feed-forward blocks whose shape traits alone can say.
#include <iterator>

#include "import/hf_families.h"
#include "import/hf_families_adjust.h"

namespace vramgauge::hf {
namespace {

constexpr Flag kNo{};
constexpr Flag kYes{"", true};

/// LLaMA without biases, whatever keys a copy carries.
constexpr Traits kPlain{.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo};
constexpr Traits kMistral{.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .window = WindowRule::all};
constexpr Traits kQwen2{.qkv_bias = kYes, .o_bias = kNo, .mlp_bias = kNo, .window = WindowRule::upper};
constexpr Traits kQwen3{.mlp_bias = kNo, .qk_norm = QkNorm::per_head_dim, .window = WindowRule::upper};
constexpr Traits kPhi3{.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true,
                       .fused_gate_up = true, .window = WindowRule::all};
constexpr Traits kPhi{.norms = 1, .norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes,
                      .is_gated = false, .output_bias = true, .ffn_ratio = 4, .adjust = adjust_phi};
constexpr Traits kGpt2{.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes,
                       .is_gated = false, .tied = true, .fused_qkv = true, .ffn_ratio = 4,
                       .positions = Positions::learned, .adjust = adjust_gpt2};
constexpr Traits kGptJ{.norms = 1, .norm_bias = true, .qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kYes,
                       .is_gated = false, .output_bias = true, .ffn_ratio = 4};
constexpr Traits kStableLm{.norm_bias = true, .qkv_bias = {"use_qkv_bias"}, .o_bias = kNo, .mlp_bias = kNo,
                           .qk_norm = QkNorm::per_head, .qk_norm_if = {"qk_layernorm"},
                           .adjust = adjust_parallel_norms};
constexpr Traits kFalcon{.norm_bias = true, .qkv_bias = {"bias"}, .o_bias = {"bias"}, .mlp_bias = {"bias"},
                         .is_gated = false, .tied = true, .fused_qkv = true, .ffn_ratio = 4,
                         .adjust = adjust_falcon};
constexpr Traits kGlm4{.norms = 4, .o_bias = kNo, .mlp_bias = kNo, .fused_gate_up = true};
constexpr Traits kExaone4{.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .qk_norm = QkNorm::per_head_dim,
                          .window = WindowRule::every_nth, .window_period = 4};
constexpr Traits kChatGlm{.qkv_bias = {"add_qkv_bias"}, .o_bias = {"add_bias_linear"},
                          .mlp_bias = {"add_bias_linear"}, .fused_qkv = true, .fused_gate_up = true};
constexpr Traits kBaichuan{.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true};
constexpr Traits kGemma3{.norms = 4, .mlp_bias = kNo, .qk_norm = QkNorm::per_head_dim, .tied = true,
                         .window = WindowRule::every_nth, .window_period = 6};
constexpr Traits kErnie{.qkv_bias = {"use_bias"}, .o_bias = {"use_bias"}, .mlp_bias = {"use_bias"}, .tied = true};

constexpr Family kFamilies[] = {
    {"llama", {}},
    {"llava", {}},
    {"Yi", kPlain},
    {"aquila", kPlain},
    {"xverse", kPlain},
    {"open-llama", kPlain},
    {"mistral", kMistral},
    {"ministral", kMistral},
    {"ministral3", kMistral},
    {"pixtral", kMistral},
    {"qwen2", kQwen2},
    {"qwen2_vl", kQwen2},
    {"qwen2_vl_text", kQwen2},
    {"qwen2_5_vl", kQwen2},
    {"qwen2_5_vl_text", kQwen2},
    {"qwen2_5_omni_text", kQwen2},
    {"qwen2_audio", kQwen2},
    {"mimo", {.qkv_bias = {"attention_bias", true}, .o_bias = kNo, .mlp_bias = kNo, .window = WindowRule::upper}},
    {"qwen3", kQwen3},
    {"qwen3_vl_text", kQwen3},
    {"logics", kQwen3},
    {"qwen", {.qkv_bias = kYes, .o_bias = kNo, .mlp_bias = kNo, .fused_qkv = true, .adjust = adjust_qwen1}},
    {"gemma", {.mlp_bias = kNo, .tied = true}},
    {"gemma2", {.norms = 4, .mlp_bias = kNo, .tied = true, .window = WindowRule::every_nth, .window_period = 2}},
    {"gemma3_text", kGemma3},
    {"vaultgemma", {.mlp_bias = kNo, .tied = true, .window = WindowRule::every_nth, .window_period = 2}},
    {"cohere", {.norms = 1, .mlp_bias = kNo, .qk_norm = QkNorm::per_head, .qk_norm_if = {"use_qk_norm"}, .tied = true}},
    {"cohere2", {.norms = 1, .mlp_bias = kNo, .tied = true, .window = WindowRule::every_nth, .window_period = 4}},
    {"granite", {}},
    {"olmo", {.has_norm_weights = false, .mlp_bias = kNo}},
    {"olmo2", {.mlp_bias = kNo, .qk_norm = QkNorm::per_head}},
    {"olmo3", {.mlp_bias = kNo, .qk_norm = QkNorm::per_head, .window = WindowRule::every_nth, .window_period = 4}},
    {"cwm", {.window = WindowRule::first_of_period, .window_period = 4}},
    {"phi3", kPhi3},
    {"phi3_v", kPhi3},
    {"phi4mm", kPhi3},
    {"phi4_multimodal", kPhi3},
    {"phi", kPhi},
    {"phi-msft", kPhi},
    {"mixformer-sequential", kPhi},
    {"phi3small", {.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes, .tied = true,
                   .fused_qkv = true, .fused_gate_up = true, .adjust = adjust_phi3small}},
    {"gpt2", kGpt2},
    {"gpt_bigcode", kGpt2},
    {"openai-gpt", kGpt2, build_openai_gpt},
    {"gpt_neo", {.norm_bias = true, .qkv_bias = kNo, .o_bias = kYes, .mlp_bias = kYes, .is_gated = false,
                 .tied = true, .ffn_ratio = 4, .positions = Positions::learned, .adjust = adjust_gpt_neo}},
    {"gptj", kGptJ},
    {"codegen", kGptJ},
    {"gpt_neox", {.norm_bias = true, .qkv_bias = {"attention_bias", true}, .o_bias = {"attention_bias", true},
                  .mlp_bias = kYes, .is_gated = false, .fused_qkv = true, .adjust = adjust_parallel_ignored}},
    {"gpt_neox_japanese", {.norm_bias = true, .qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .is_gated = false,
                           .fused_qkv = true, .ffn_ratio = 4}},
    {"opt", {.norm_bias = true, .qkv_bias = {"enable_bias", true}, .o_bias = {"enable_bias", true},
             .mlp_bias = {"enable_bias", true}, .is_gated = false, .tied = true,
             .positions = Positions::learned_plus_2, .adjust = adjust_opt}},
    {"bloom", {.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes, .is_gated = false,
               .tied = true, .fused_qkv = true, .ffn_ratio = 4, .adjust = adjust_bloom}},
    {"falcon", kFalcon},
    {"RefinedWeb", kFalcon},
    {"RefinedWebModel", kFalcon},
    {"starcoder2", {.norm_bias = true, .qkv_bias = {"use_bias", true}, .o_bias = {"use_bias", true},
                    .mlp_bias = {"use_bias", true}, .is_gated = false, .tied = true, .window = WindowRule::all}},
    {"stablelm", kStableLm},
    {"stablelm_epoch", kStableLm},
    {"persimmon", {.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes,
                   .qk_norm = QkNorm::per_head_dim, .qk_norm_if = {"qk_layernorm", true}, .is_gated = false,
                   .fused_qkv = true, .adjust = adjust_qk_norm_bias}},
    {"xglm", {.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes, .is_gated = false, .tied = true}},
    {"ctrl", {.norm_bias = true, .qkv_bias = kYes, .o_bias = kYes, .mlp_bias = kYes, .is_gated = false,
              .tied = true, .output_bias = true}},
    {"nemotron", {.norm_bias = true, .is_gated = false}},
    {"helium", {.mlp_bias = kNo}},
    {"glm", {.o_bias = kNo, .mlp_bias = kNo, .fused_gate_up = true}},
    {"glm4", kGlm4},
    {"glm4v_text", kGlm4},
    {"glm_ocr_text", kGlm4},
    {"chatglm", kChatGlm},
    {"baichuan", kBaichuan},
    {"internlm", {.qkv_bias = {"bias", true}, .o_bias = {"bias", true}, .mlp_bias = kNo}},
    {"internlm2", {.qkv_bias = {"bias"}, .o_bias = {"bias"}, .mlp_bias = kNo, .fused_qkv = true}},
    {"internlm3", {.qkv_bias = {"qkv_bias"}, .o_bias = {"bias"}, .mlp_bias = {"bias"}}},
    {"PanguEmbedded", {.qkv_bias = {"bias", true}, .o_bias = {"bias", true}, .mlp_bias = kNo}},
    {"minicpm", {.mlp_bias = kNo, .tied = true}},
    {"orion", {.norm_bias = true, .mlp_bias = kNo}},
    {"telechat", {.qkv_bias = kNo, .o_bias = kYes, .mlp_bias = kNo, .adjust = adjust_telechat}},
    {"exaone", {.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo}},
    {"exaone4", kExaone4},
    {"exaone4_5_text", kExaone4},
    {"smollm3", {.tied = true, .window = WindowRule::upper}},
    {"seed_oss", {.o_bias = {"attention_out_bias"}}},
    {"ernie4_5", kErnie},
    {"paddleocr_vl_text", kErnie},
    {"hunyuan_v1_dense", {.mlp_bias = kNo, .qk_norm = QkNorm::per_head_dim, .qk_norm_if = {"use_qk_norm", true}}},
    {"arcee", {.is_gated = false}},
    {"apertus", {.qk_norm = QkNorm::per_head_dim, .is_gated = false, .adjust = adjust_apertus}},
    {"bitnet", {.mlp_bias = kNo, .tied = true, .adjust = adjust_bitnet}},
    {"doge", {.qk_norm = QkNorm::per_head_dim, .adjust = adjust_doge}},
    {"diffllama", {.mlp_bias = kNo, .adjust = adjust_diffllama}},
    {"jais2", {.norm_bias = true, .qkv_bias = {"attention_bias", true}, .o_bias = {"attention_bias", true},
               .mlp_bias = {"mlp_bias", true}, .is_gated = false}},
    {"nanochat", {.has_norm_weights = false, .mlp_bias = kNo, .is_gated = false}},
    {"modernbert-decoder", {.mlp_bias = kNo, .tied = true, .fused_qkv = true, .output_bias = true,
                            .window = WindowRule::first_of_period, .window_period = 3,
                            .adjust = adjust_modernbert}},
    {"mpt", {.qkv_bias = kNo, .o_bias = kNo, .mlp_bias = kNo, .is_gated = false, .tied = true, .fused_qkv = true,
             .ffn_ratio = 4},
     build_mpt},
};

}  // namespace

FamilyTable dense_families() { return {kFamilies, std::size(kFamilies)}; }

}  // namespace vramgauge::hf

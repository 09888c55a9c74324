// Recurrent and hybrid decoders: parameter counts as published with the checkpoints or derived by
// hand from the papers, and the elements of their states.
#include "hf_import_helpers.h"
#include "model/cache_state.h"

namespace vramgauge {
namespace {

using test::has_warning;
using test::imported;
using test::json_cycle;
using test::refusal;
using test::total_parameters;

const CheckedU64 kOneRank = uint64_t{1};

template <typename T>
const T& first_mixer(const ModelSpec& spec) {
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      if (const T* found = std::get_if<T>(&mixer)) return *found;
    }
  }
  ADD_FAILURE() << "no such mixer";
  static const T kNothing{};
  return kNothing;
}

template <typename T>
void expect_state(const ModelSpec& spec, uint64_t conv_elements, uint64_t temporal_elements) {
  const StateShape shape = state_shape(first_mixer<T>(spec), kOneRank);
  EXPECT_EQ(shape.conv_elements.value_or(0), conv_elements);
  EXPECT_EQ(shape.temporal_elements.value_or(0), temporal_elements);
}

// state-spaces/mamba-130m-hf, 129135360 parameters. By hand: per layer 768 (norm) + 768 x 3072 (in)
// + 1536 x 4 + 1536 (conv) + 1536 x 80 (x) + 48 x 1536 + 1536 (dt) + 1536 x 16 (A) + 1536 (D) +
// 1536 x 768 (out) = 3771648; 24 of them, 50280 x 768 of embedding, 768 of the last norm.
constexpr const char* kMamba130m =
    R"({"model_type":"mamba","hidden_size":768,"intermediate_size":1536,
  "num_hidden_layers":24,"state_size":16,"conv_kernel":4,"time_step_rank":48,"vocab_size":50280,
  "use_bias":false,"use_conv_bias":true,"expand":2})";

TEST(HfRecurrent, MambaCountsAndState) {
  EXPECT_EQ(total_parameters(kMamba130m), 24U * 3771648U + 50280U * 768U + 768U);
  EXPECT_EQ(total_parameters(kMamba130m), 129135360U);
  expect_state<Mamba1>(imported(kMamba130m).spec, 3 * 1536, 1536 * 16);
}

TEST(HfRecurrent, MambaDerivesWidthAndRank) {
  // Without intermediate_size: expand x 768 = 1536; "auto" rank: 768 / 16 = 48.
  EXPECT_EQ(total_parameters(
                R"({"model_type":"mamba","hidden_size":768,"num_hidden_layers":24,"state_size":16,
    "conv_kernel":4,"time_step_rank":"auto","vocab_size":50280,"expand":2})"),
            129135360U);
}

TEST(HfRecurrent, MambaCodestralIsMamba2) {
  // Model card: 7285403648 parameters.
  const std::string config =
      R"({"model_type":"mamba2","hidden_size":4096,"num_heads":128,"head_dim":64,"n_groups":8,
    "state_size":128,"conv_kernel":4,"expand":2,"num_hidden_layers":64,"vocab_size":32768,"tie_word_embeddings":false})";
  EXPECT_EQ(total_parameters(config), 7285403648U);
  expect_state<Mamba2>(imported(config).spec, 3 * (8192 + 2 * 8 * 128), 128 * 64 * 128);
}

TEST(HfRecurrent, RecurrentGemmaHasOneStateElementPerChannel) {
  // google/recurrentgemma-2b: 2682862080 parameters.
  const std::string config =
      R"({"model_type":"recurrent_gemma","hidden_size":2560,"intermediate_size":15360,
    "num_hidden_layers":26,"num_attention_heads":10,"num_key_value_heads":1,"head_dim":256,"lru_width":2560,
    "vocab_size":256000,"attention_window_size":2048,"conv1d_width":4,
    "block_types":["recurrent","recurrent","attention"]})";
  EXPECT_EQ(total_parameters(config), 2682862080U);
  const ModelSpec spec = imported(config).spec;
  expect_state<GatedLru>(spec, 3 * 2560, 2560);
  EXPECT_EQ(first_mixer<Attention>(spec).window_tokens, 2048U);
}

// Parameters of RWKV, arXiv 2404.05892, appendix on parameter counts: Eagle (version 5)
// 13 D^2 L + 14 D L + 4 D + 2 D V, Finch (version 6) 13 D^2 L + 464 D L + 4 D + 2 D V.
TEST(HfRecurrent, RwkvFollowsTheFormulasOfItsPaper) {
  const uint64_t d = 2560;
  const uint64_t layers = 32;
  const uint64_t vocab = 65536;
  const std::string shape =
      R"("hidden_size":2560,"num_hidden_layers":32,"vocab_size":65536,"head_size":64})";
  EXPECT_EQ(total_parameters(R"({"model_type":"rwkv5","model_version":"5_2",)" + shape),
            13 * d * d * layers + 14 * d * layers + 4 * d + 2 * d * vocab);
  EXPECT_EQ(total_parameters(R"({"model_type":"rwkv6",)" + shape),
            13 * d * d * layers + 464 * d * layers + 4 * d + 2 * d * vocab);
}

TEST(HfRecurrent, RwkvStateIsAMatrixPerHeadAndTwoTokens) {
  const auto model = imported(
      R"({"model_type":"rwkv6","hidden_size":4096,"num_hidden_layers":32,"vocab_size":65536,"head_size":64})");
  expect_state<Rwkv>(model.spec, 2 * 4096, 64 * 64 * 64);
}

TEST(HfRecurrent, Rwkv4And7MatchTheirCheckpoints) {
  // RWKV/rwkv-4-169m-pile and RWKV-7 "Goose" World 0.1B.
  EXPECT_EQ(total_parameters(
                R"({"model_type":"rwkv","hidden_size":768,"num_hidden_layers":12,"vocab_size":50277,
    "attention_hidden_size":768,"intermediate_size":3072,"context_length":1024})"),
            169342464U);
  EXPECT_EQ(
      total_parameters(
          R"({"model_type":"rwkv7","hidden_size":768,"num_hidden_layers":12,"vocab_size":65536,
    "head_dim":64,"decay_low_rank_dim":64,"gate_low_rank_dim":128,"a_low_rank_dim":64,"v_low_rank_dim":32})"),
      191034624U);
}

TEST(HfRecurrent, JambaMixesByPeriod) {
  const auto model = imported(R"({"model_type":"jamba","hidden_size":4096,"intermediate_size":14336,
    "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,
    "attn_layer_period":8,"attn_layer_offset":4,"expert_layer_period":2,"expert_layer_offset":1,
    "num_experts":16,"num_experts_per_tok":2,"mamba_d_state":16,"mamba_d_conv":4,"mamba_expand":2,
    "mamba_dt_rank":256,"tie_word_embeddings":false})");
  // Published 51.57B (Jamba-v0.1, 51570323328 in its index).
  EXPECT_EQ(count_parameters(model.spec).total.value_or(0), 51570323328U);
  for (size_t i = 0; i < model.spec.layers.size(); ++i) {
    const Layer& layer = model.spec.layers[i];
    EXPECT_EQ(std::holds_alternative<Attention>(layer.mixers.front()), i % 8 == 4) << i;
    EXPECT_EQ(std::holds_alternative<MoeFfn>(layer.ffn), i % 2 == 1) << i;
  }
}

TEST(HfRecurrent, FalconH1RunsTwoMixersPerLayer) {
  // tiiuae/Falcon-H1-0.5B-Base: 521411104 parameters.
  const std::string config =
      R"({"model_type":"falcon_h1","vocab_size":32784,"hidden_size":1024,"intermediate_size":2048,
    "num_hidden_layers":36,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":64,"mamba_d_ssm":1536,
    "mamba_n_heads":24,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":128,"mamba_d_conv":4,
    "mamba_rms_norm":false,"tie_word_embeddings":false})";
  EXPECT_EQ(total_parameters(config), 521411104U);
  EXPECT_EQ(imported(config).spec.layers.front().mixers.size(), 2U);
  expect_state<Mamba2>(imported(config).spec, 3 * (1536 + 2 * 128), 24 * 64 * 128);
}

TEST(HfRecurrent, BambaAndGraniteHybrid) {
  // ibm-ai-platform/Bamba-9B-v1: 9780235392; ibm-granite/granite-4.0-h-tiny: 6939037248.
  EXPECT_EQ(
      total_parameters(
          R"({"model_type":"bamba","vocab_size":128256,"hidden_size":4096,"intermediate_size":14336,
    "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"attn_layer_indices":[9,18,27],
    "mamba_n_heads":128,"mamba_d_head":64,"mamba_n_groups":1,"mamba_d_state":128,"mamba_d_conv":4,
    "mamba_expand":2,"tie_word_embeddings":false})"),
      9780235392U);
  const std::string types = json_cycle({"mamba", "mamba", "mamba", "mamba", "mamba", "attention",
                                        "mamba", "mamba", "mamba", "mamba"},
                                       40);
  EXPECT_EQ(
      total_parameters(R"({"model_type":"granitemoehybrid","vocab_size":100352,"hidden_size":1536,
    "intermediate_size":512,"shared_intermediate_size":1024,"num_local_experts":64,"num_experts_per_tok":6,
    "num_hidden_layers":40,"num_attention_heads":12,"num_key_value_heads":4,"mamba_n_heads":48,"mamba_d_head":64,
    "mamba_n_groups":1,"mamba_d_state":128,"mamba_d_conv":4,"mamba_expand":2,"tie_word_embeddings":true,
    "layer_types":)" + types +
                       "}"),
      6939037248U);
}

std::string nemotron(const std::string& pattern) {
  return R"({"model_type":"nemotron_h","vocab_size":131072,"hidden_size":4480,"intermediate_size":15680,
    "num_hidden_layers":56,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"mamba_num_heads":128,
    "mamba_head_dim":80,"n_groups":8,"ssm_state_size":128,"conv_kernel":4,"tie_word_embeddings":false,)" +
         pattern + "}";
}

TEST(HfRecurrent, NemotronReadsLetters) {
  // nvidia/NVIDIA-Nemotron-Nano-9B-v2: 8888227328 parameters.
  EXPECT_EQ(
      total_parameters(nemotron(
          R"("hybrid_override_pattern":"M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-")")),
      8888227328U);
}

TEST(HfRecurrent, NemotronNamesAnUnknownLetter) {
  const Diagnostic error = refusal(nemotron(R"("hybrid_override_pattern":"MXM")"));
  EXPECT_EQ(error.code, ErrorCode::model_unknown_layer_type);
  EXPECT_EQ(error.path, "/hybrid_override_pattern");
  EXPECT_EQ(std::get<std::string>(error.args.front().value), "X");
}

TEST(HfRecurrent, NemotronRefusesAPatternOfAnotherLength) {
  EXPECT_EQ(refusal(nemotron(R"("hybrid_override_pattern":"M-")")).code,
            ErrorCode::model_bad_pattern);
}

TEST(HfRecurrent, NemotronLatentExpertsAndPrediction) {
  // By hand, hidden 64, 4 experts of 32 in a latent width of 16, one shared of 48, not gated:
  // router 4 x 64 + 4 (correction), experts 4 x 2 x 16 x 32, shared 2 x 64 x 48, latent 2 x 64 x
  // 16, norm 64.
  const uint64_t moe = 4 * 64 + 4 + 4 * 2 * 16 * 32 + 2 * 64 * 48 + 2 * 64 * 16 + 64;
  // Attention, 4 heads of 16 over 2 of keys: 64 x 64 + 2 x 64 x 32 + 64 x 64, norm 64.
  const uint64_t attention = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 64;
  // Prediction: one attention, one mixture, a projection of 64 x 128, three norms.
  const uint64_t prediction = attention + moe + 64 * 128 + 3 * 64;
  const auto model = imported(
      R"({"model_type":"nemotron_h","vocab_size":100,"hidden_size":64,"num_attention_heads":4,
    "num_key_value_heads":2,"head_dim":16,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32,
    "moe_latent_size":16,"n_shared_experts":1,"moe_shared_expert_intermediate_size":48,"tie_word_embeddings":false,
    "layers_block_type":["attention","moe"],"num_nextn_predict_layers":1,"mtp_layers_block_type":["attention","moe"]})");
  const ParameterCount count = count_parameters(model.spec);
  EXPECT_EQ(count.text.value_or(0), 2 * 100 * 64 + 64 + attention + moe);
  EXPECT_EQ(count.mtp.value_or(0), prediction);
}

std::string qwen3_next(const std::string& extra) {
  return R"({"model_type":"qwen3_next","vocab_size":151936,"hidden_size":2048,"intermediate_size":5120,
    "num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,
    "linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,
    "linear_value_head_dim":128,"num_experts":512,"num_experts_per_tok":10,"moe_intermediate_size":512,
    "shared_expert_intermediate_size":512,"tie_word_embeddings":false)" +
         extra + "}";
}

TEST(HfRecurrent, Qwen3NextCountsWithItsPredictionLayer) {
  // Qwen/Qwen3-Next-80B-A3B-Instruct: 81324862720 parameters in the checkpoint, one prediction
  // layer among them.
  const std::string config = qwen3_next(R"(,"full_attention_interval":4)");
  EXPECT_EQ(total_parameters(config), 81324862720U);
  const ModelSpec spec = imported(config).spec;
  expect_state<GatedDelta>(spec, 3 * (2 * 16 * 128 + 32 * 128), 32 * 128 * 128);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Attention>(spec.layers[i].mixers.front()), i % 4 == 3) << i;
  }
}

TEST(HfRecurrent, QwenRefusesAnUnknownLayerType) {
  const std::string types = json_cycle({"linear_attention", "ring_attention"}, 48);
  const Diagnostic error = refusal(qwen3_next(R"(,"layer_types":)" + types));
  EXPECT_EQ(error.code, ErrorCode::model_unknown_layer_type);
  EXPECT_EQ(std::get<std::string>(error.args.front().value), "ring_attention");
}

constexpr const char* kKimiLinear =
    R"({"model_type":"kimi_linear","vocab_size":163840,"hidden_size":2304,
  "intermediate_size":9216,"num_hidden_layers":27,"num_attention_heads":32,"num_key_value_heads":32,"head_dim":72,
  "kv_lora_rank":512,"q_lora_rank":null,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
  "first_k_dense_replace":1,"moe_layer_freq":1,"num_experts":256,"num_experts_per_token":8,
  "moe_intermediate_size":1024,"num_shared_experts":1,"num_nextn_predict_layers":0,"tie_word_embeddings":false,
  "linear_attn_config":{"full_attn_layers":[4,8,12,16,20,24,27],"head_dim":128,"num_heads":32,
    "kda_layers":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26],"short_conv_kernel_size":4}})";

TEST(HfRecurrent, KimiLinearMatchesItsCheckpoint) {
  EXPECT_EQ(total_parameters(kKimiLinear), 49122681728U);
  expect_state<GatedDelta>(imported(kKimiLinear).spec, 3 * 3 * 4096, 32 * 128 * 128);
}

TEST(HfRecurrent, KimiLinearRefusesALayerInNeitherList) {
  std::string config = kKimiLinear;
  config.replace(config.find("[4,8,"), 5, "[8,");
  EXPECT_EQ(refusal(config).code, ErrorCode::model_bad_pattern);
}

TEST(HfRecurrent, MinimaxAlternatesLightningAndSoftmax) {
  std::string types = "[";
  for (int i = 0; i < 80; ++i)
    types += i % 8 == 7 ? "1," : "0,";
  types.back() = ']';
  const std::string config =
      R"({"model_type":"minimax_m1","vocab_size":200064,"hidden_size":6144,"head_dim":128,
    "intermediate_size":9216,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,
    "num_local_experts":32,"num_experts_per_tok":2,"shared_intermediate_size":0,"tie_word_embeddings":false,
    "attn_type_list":)" +
      types + "}";
  // MiniMaxAI/MiniMax-M1-80k: its index counts 912210767872 bytes, in which the 80 routers of 32 x
  // 6144 are stored in 4 bytes instead of 2: (912210767872 - 80 x 32 x 6144 x 2) / 2 parameters.
  EXPECT_EQ(total_parameters(config), (912210767872U - 80U * 32U * 6144U * 2U) / 2U);
  expect_state<LinearAttention>(imported(config).spec, 0, 64 * 128 * 128);
}

TEST(HfRecurrent, Lfm2AdjustsItsFeedForward) {
  // LiquidAI/LFM2-1.2B: 1170340608 parameters; 12288 x 2/3 = 8192, a multiple of 256.
  const std::string config =
      R"({"model_type":"lfm2","vocab_size":65536,"hidden_size":2048,"block_ff_dim":12288,
    "block_auto_adjust_ff_dim":true,"block_ffn_dim_multiplier":1.0,"block_multiple_of":256,"conv_L_cache":3,
    "conv_bias":false,"full_attn_idxs":[2,5,8,10,12,14],"num_hidden_layers":16,"num_attention_heads":32,
    "num_key_value_heads":8,"tie_word_embeddings":true})";
  EXPECT_EQ(total_parameters(config), 1170340608U);
  expect_state<ShortConv>(imported(config).spec, 2 * 2048, 0);
}

TEST(HfRecurrent, InklingSmoothsKeysValuesAndOutputs) {
  const auto model = imported(
      R"({"model_type":"inkling","text_config":{"model_type":"inkling_text","vocab_size":201024,
    "hidden_size":6144,"num_hidden_layers":66,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":128,
    "swa_num_attention_heads":64,"swa_num_key_value_heads":16,"swa_head_dim":128,"sliding_window_size":512,
    "conv_kernel_size":4,"intermediate_size":24576,"moe_intermediate_size":3072,"n_routed_experts":256,
    "num_experts_per_tok":6,"n_shared_experts":2}})");
  // Published as 975B; by hand 258 experts of 3 x 6144 x 3072 in 66 layers are 964.2B of it.
  EXPECT_NEAR(static_cast<double>(count_parameters(model.spec).text.value_or(0)), 975e9, 0.5e9);
  const Layer& windowed = model.spec.layers.front();
  ASSERT_EQ(windowed.mixers.size(), 5U);
  EXPECT_EQ(std::get<Attention>(windowed.mixers.front()).window_tokens, 512U);
  EXPECT_EQ(std::get<ShortConv>(windowed.mixers[1]).dim, 16U * 128U);
  EXPECT_EQ(std::get<ShortConv>(windowed.mixers[3]).dim, 6144U);
  EXPECT_EQ(std::get<Attention>(model.spec.layers[5].mixers.front()).num_kv_heads, 8U);
  EXPECT_TRUE(has_warning(model, ErrorCode::model_tower_not_counted));
}

TEST(HfRecurrent, ZambaIsRefusedWithAReason) {
  EXPECT_EQ(
      refusal(
          R"({"model_type":"zamba2","hidden_size":2560,"num_hidden_layers":54,"vocab_size":32000})")
          .code,
      ErrorCode::model_unsupported);
}

TEST(HfRecurrent, MissingDimensionIsNamed) {
  const Diagnostic error =
      refusal(R"({"model_type":"mamba2","hidden_size":64,"num_hidden_layers":2,"vocab_size":100,
    "num_heads":2,"head_dim":64,"n_groups":1,"conv_kernel":4})");
  EXPECT_EQ(error.code, ErrorCode::model_missing_dimension);
  EXPECT_EQ(error.path, "/state_size");
}

}  // namespace
}  // namespace vramgauge

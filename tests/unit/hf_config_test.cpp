// Dialects of config.json, counts derived by hand, and refusals with their place.
#include "import/hf_config.h"

#include "hf_import_helpers.h"

namespace vramgauge::test {
namespace {

/// Llama-3.1-8B. Per layer: q and o 4096 x 4096, k and v 1024 x 4096, gate, up and down 4096 x
/// 14336, two norms of 4096 = 218,112,000; x 32 = 6,979,584,000. Embedding and output 128256 x 4096
/// each = 1,050,673,152; final norm 4096. Together 8,030,261,248.
constexpr const char* kLlama31 =
    R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
  "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,
  "max_position_embeddings":131072,"tie_word_embeddings":false)";

std::string llama(const std::string& more = "") { return std::string(kLlama31) + more + "}"; }

const Attention& attention_of(const ImportedModel& model, size_t layer) {
  return std::get<Attention>(model.spec.layers.at(layer).mixers.front());
}

TEST(HfConfig, Llama31ByHand) {
  const ParameterCount count = count_parameters(imported(llama()).spec);
  EXPECT_EQ(count.total.value_or(0), 8'030'261'248U);
  EXPECT_EQ(count.of(RoleGroup::embedding).value_or(0), uint64_t{128256} * 4096U);
  EXPECT_EQ(count.of(RoleGroup::output).value_or(0), uint64_t{128256} * 4096U);
  EXPECT_EQ(count.of(RoleGroup::attention).value_or(0), uint64_t{32} * 41'943'040U);
  EXPECT_EQ(count.of(RoleGroup::mlp).value_or(0), uint64_t{32} * 176'160'768U);
  EXPECT_EQ(count.of(RoleGroup::norm).value_or(0), 65U * 4096U);
}

TEST(HfConfig, TiedOutputIsCountedOnce) {
  const std::string tied =
      R"({"model_type":"llama","hidden_size":8,"intermediate_size":16,"num_hidden_layers":1,
    "num_attention_heads":2,"vocab_size":10,"tie_word_embeddings":true})";
  // 80 embedding; 4 x 64 attention; 3 x 128 feed-forward; 3 norms of 8.
  EXPECT_EQ(total_parameters(tied), 80U + 256U + 384U + 24U);
}

/// GPT-2: 12 layers of 768; per layer 4 x 768^2 + 4 x 768 attention, 8 x 768^2 + 5 x 768
/// feed-forward, 4 x 768 norms; 50257 + 1024 embeddings; final norm 2 x 768: the published
/// 124,439,808.
TEST(HfConfig, Gpt2Dialect) {
  EXPECT_EQ(
      total_parameters(R"({"model_type":"gpt2","n_embd":768,"n_head":12,"n_layer":12,"n_inner":null,
    "n_positions":1024,"vocab_size":50257})"),
      124'439'808U);
}

TEST(HfConfig, MultiQueryIsOneKvHead) {
  const ImportedModel model =
      imported(R"({"model_type":"gpt_bigcode","n_embd":64,"n_head":4,"n_layer":2,"n_inner":256,
    "n_positions":32,"vocab_size":100,"multi_query":true})");
  EXPECT_EQ(attention_of(model, 0).num_kv_heads, 1U);
}

TEST(HfConfig, ExplicitHeadDimWins) {
  const ImportedModel model = imported(llama(R"(,"head_dim":256)"));
  EXPECT_EQ(attention_of(model, 0).head_dim, 256U);
  EXPECT_EQ(attention_of(model, 0).v_head_dim, 256U);
}

TEST(HfConfig, NestedTextConfigIsFound) {
  const ImportedModel model = imported(R"({"model_type":"llava","text_config":)" + llama() + "}");
  EXPECT_EQ(model.spec.model_type, "llama");
  EXPECT_EQ(model.spec.layers.size(), 32U);
}

TEST(HfConfig, ChatGlmNames) {
  const ImportedModel model =
      imported(R"({"model_type":"chatglm","add_bias_linear":false,"add_qkv_bias":true,
    "ffn_hidden_size":13696,"hidden_size":4096,"kv_channels":128,"multi_query_attention":true,
    "multi_query_group_num":2,"num_attention_heads":32,"num_layers":28,"padded_vocab_size":65024,
    "seq_length":32768,"tie_word_embeddings":false})");
  EXPECT_EQ(attention_of(model, 0).num_kv_heads, 2U);
  // ChatGLM2-6B is published with 6,243,584,000 parameters.
  EXPECT_EQ(count_parameters(model.spec).total.value_or(0), 6'243'584'000U);
}

std::vector<uint64_t> windows_of(const ImportedModel& model) {
  std::vector<uint64_t> windows;
  for (size_t i = 0; i < model.spec.layers.size(); ++i)
    windows.push_back(attention_of(model, i).window_tokens);
  return windows;
}

std::string small(const std::string& type, const std::string& more) {
  return R"({"model_type":")" + type +
         R"(","hidden_size":64,"intermediate_size":128,"num_hidden_layers":6,
    "num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":100,"max_position_embeddings":4096)" +
         more + "}";
}

using Windows = std::vector<uint64_t>;

TEST(HfConfig, WindowsOfTheFamilies) {
  const std::string window = R"(,"sliding_window":512)";
  EXPECT_EQ(windows_of(imported(small("mistral", window))), Windows(6, 512));
  EXPECT_EQ(windows_of(imported(small("mistral", R"(,"sliding_window":null)"))), Windows(6, 0));
  EXPECT_EQ(windows_of(imported(small("llama", window))), Windows(6, 0));
  EXPECT_EQ(windows_of(imported(small("gemma2", window))), (Windows{512, 0, 512, 0, 512, 0}));
  EXPECT_EQ(windows_of(imported(small("gemma3_text", window))),
            (Windows{512, 512, 512, 512, 512, 0}));
  EXPECT_EQ(windows_of(imported(small("cohere2", window + R"(,"sliding_window_pattern":3)"))),
            (Windows{512, 512, 0, 512, 512, 0}));
  EXPECT_EQ(windows_of(imported(small("exaone4", window + R"(,"sliding_window_pattern":"LLLG")"))),
            (Windows{512, 512, 512, 0, 512, 512}));
}

TEST(HfConfig, Qwen2WindowsOnlyTheUpperLayers) {
  const std::string more = R"(,"sliding_window":512,"max_window_layers":4,"use_sliding_window":)";
  EXPECT_EQ(windows_of(imported(small("qwen2", more + "true"))), (Windows{0, 0, 0, 0, 512, 512}));
  EXPECT_EQ(windows_of(imported(small("qwen2", more + "false"))), Windows(6, 0));
}

TEST(HfConfig, LayerTypesDecide) {
  const std::string types =
      json_cycle({"sliding_attention", "full_attention", "full_attention"}, 6);
  EXPECT_EQ(windows_of(imported(small("qwen3", R"(,"sliding_window":512,"layer_types":)" + types))),
            (Windows{512, 0, 0, 512, 0, 0}));
}

TEST(HfConfig, Llama4ChunksAllButEveryFourthLayer) {
  const ImportedModel model =
      imported(small("llama4_text", R"(,"num_local_experts":4,"num_experts_per_tok":1,
    "intermediate_size_mlp":256,"interleave_moe_layer_step":2,"attention_chunk_size":1024)"));
  EXPECT_EQ(attention_of(model, 0).chunk_tokens, 1024U);
  EXPECT_EQ(attention_of(model, 3).chunk_tokens, 0U);
  EXPECT_EQ(std::get<DenseFfn>(model.spec.layers[0].ffn).intermediate_size, 256U);
  EXPECT_EQ(std::get<MoeFfn>(model.spec.layers[1].ffn).shared_intermediate_size, 128U);
}

TEST(HfConfig, Gemma4SharesTheLastCacheOfTheSameKind) {
  const std::string types =
      json_cycle({"sliding_attention", "sliding_attention", "full_attention"}, 6);
  const ImportedModel model =
      imported(small("gemma4_text", R"(,"sliding_window":512,"num_kv_shared_layers":3,
    "global_head_dim":32,"attention_k_eq_v":false,"layer_types":)" +
                                        types));
  EXPECT_EQ(attention_of(model, 3).cache_shared_with, std::optional<uint64_t>(1));
  EXPECT_EQ(attention_of(model, 5).cache_shared_with, std::optional<uint64_t>(2));
  EXPECT_EQ(attention_of(model, 2).head_dim, 32U);
  EXPECT_FALSE(attention_of(model, 2).cache_shared_with.has_value());
}

TEST(HfConfig, LatentAttentionAndSharedIndexers) {
  const ImportedModel model =
      imported(R"({"model_type":"glm_moe_dsa","hidden_size":64,"intermediate_size":128,
    "moe_intermediate_size":32,"num_hidden_layers":6,"num_attention_heads":4,"vocab_size":100,"n_routed_experts":8,
    "num_experts_per_tok":2,"first_k_dense_replace":1,"q_lora_rank":16,"kv_lora_rank":32,"qk_nope_head_dim":8,
    "qk_rope_head_dim":4,"v_head_dim":8,"index_n_heads":2,"index_head_dim":8,"index_topk":64,"index_topk_freq":4,
    "index_skip_topk_offset":3,"tie_word_embeddings":false})");
  std::vector<bool> stores;
  for (const Layer& layer : model.spec.layers)
    stores.push_back(std::get<LatentAttention>(layer.mixers[0]).indexer->stores_keys);
  EXPECT_EQ(stores, (std::vector<bool>{true, true, true, false, false, false}));
  EXPECT_TRUE(std::holds_alternative<DenseFfn>(model.spec.layers[0].ffn));
  EXPECT_TRUE(std::holds_alternative<MoeFfn>(model.spec.layers[1].ffn));
}

void expect_refused(const std::string& config, ErrorCode code, const std::string& path) {
  const Diagnostic error = refusal(config);
  EXPECT_EQ(error_info(error.code).name, error_info(code).name) << config;
  EXPECT_EQ(error.path, path) << config;
}

TEST(HfConfig, RefusalsNameThePlace) {
  expect_refused("[]", ErrorCode::json_wrong_type, "");
  expect_refused("{}", ErrorCode::json_missing_key, "/model_type");
  expect_refused(R"({"model_type":7})", ErrorCode::json_wrong_type, "/model_type");
  expect_refused(R"({"model_type":"bert","hidden_size":768})", ErrorCode::model_encoder_only,
                 "/model_type");
  expect_refused(R"({"peft_type":"LORA","r":16})", ErrorCode::model_adapter, "/peft_type");
  expect_refused(R"({"model_type":"llama","hidden_size":64})", ErrorCode::model_missing_dimension,
                 "/vocab_size");
}

TEST(HfConfig, HeadsThatDoNotDivide) {
  const std::string bad =
      R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
    "num_attention_heads":6,"num_key_value_heads":4,"head_dim":16,"vocab_size":100})";
  expect_refused(bad, ErrorCode::model_heads_not_divisible, "/num_key_value_heads");
  expect_refused(R"({"model_type":"mistral3","text_config":)" + bad + "}",
                 ErrorCode::model_heads_not_divisible, "/text_config/num_key_value_heads");
}

TEST(HfConfig, UnlistedArchitectures) {
  EXPECT_TRUE(has_warning(imported(small("brandnew", "")), ErrorCode::model_unlisted_architecture));
  const Diagnostic error = refusal(small("brandnew", R"(,"memory_slots_per_layer":4)"));
  EXPECT_EQ(error.code, ErrorCode::model_unknown_architecture);
  EXPECT_EQ(error.path, "/memory_slots_per_layer");
  expect_refused(small("brandnew", R"(,"is_encoder_decoder":true)"),
                 ErrorCode::model_unknown_architecture, "/is_encoder_decoder");
}

TEST(HfConfig, UnknownKeysOfKnownFamilies) {
  EXPECT_TRUE(has_warning(imported(llama(R"(,"experimental_state_size":4)")),
                          ErrorCode::model_unknown_key));
  EXPECT_FALSE(has_warning(
      imported(llama(R"(,"bos_token_id":1,"rope_theta":500000.0,"attention_dropout":0.0)")),
      ErrorCode::model_unknown_key));
}

TEST(HfConfig, BareInfinityIsRead) {
  EXPECT_EQ(imported(llama(R"(,"time_step_limit":[0.0,Infinity])")).spec.layers.size(), 32U);
}

TEST(HfConfig, AliasesThatDisagree) {
  expect_refused(small("llama", R"(,"n_embd":128)"), ErrorCode::model_inconsistent, "/n_embd");
}

TEST(HfConfig, ClassDefaultsFillGapsAndSaySo) {
  const auto defaults =
      json::parse(R"({"llama":{"vocab_size":32000,"tie_word_embeddings":false}})");
  const auto config = json::parse(
      R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
    "num_attention_heads":4})");
  const auto model = import_hf_config(*config, &*defaults);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->spec.vocab_size, 32000U);
  EXPECT_TRUE(has_warning(*model, ErrorCode::model_assumed_default));
}

/// Every number of a configuration replaced by something hostile: an error or a model, never a
/// crash.
TEST(HfConfig, HostileValues) {
  const char* const keys[] = {
      "hidden_size",         "intermediate_size", "num_hidden_layers",       "num_attention_heads",
      "num_key_value_heads", "vocab_size",        "max_position_embeddings", "head_dim"};
  const char* const values[] = {
      "-1",       "0",  "1.5", "1e300", "NaN", "18446744073709551616", "18446744073709551615",
      "\"4096\"", "[]", "{}",  "true"};
  for (const char* key : keys) {
    for (const char* value : values) {
      const std::string config = llama(std::string(",\"placeholder\":0"));
      auto parsed = json::parse(config);
      ASSERT_TRUE(parsed.has_value());
      auto replacement = json::parse(std::string("[") + value + "]");
      ASSERT_TRUE(replacement.has_value()) << value;
      parsed->set(key, replacement->as_array()->front());
      const auto model = import_hf_config(*parsed, nullptr);
      ASSERT_FALSE(model.has_value()) << key << " = " << value;
      EXPECT_EQ(model.error().front().path, std::string("/") + key) << value;
    }
  }
}

/// Counts that the model pages on the hub print from the tensor headers.
TEST(HfConfig, PublishedCountsOfFamiliesWithoutPreset) {
  EXPECT_EQ(
      total_parameters(
          R"({"model_type":"dbrx","d_model":6144,"n_heads":48,"n_layers":40,"vocab_size":100352,
    "max_seq_len":32768,"tie_word_embeddings":false,"attn_config":{"clip_qkv":8,"kv_n_heads":8},
    "ffn_config":{"ffn_hidden_size":10752,"moe_num_experts":16,"moe_top_k":4}})"),
      131'596'523'520U);
  EXPECT_EQ(total_parameters(R"({"model_type":"olmoe","hidden_size":2048,"intermediate_size":1024,
    "num_hidden_layers":16,"num_attention_heads":16,"num_experts":64,"num_experts_per_tok":8,"vocab_size":50304,
    "tie_word_embeddings":false})"),
            6'919'161'856U);
  EXPECT_EQ(total_parameters(R"({"model_type":"dots1","hidden_size":4096,"intermediate_size":10944,
    "moe_intermediate_size":1408,"num_hidden_layers":62,"num_attention_heads":32,"n_routed_experts":128,
    "n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"vocab_size":152064,
    "tie_word_embeddings":false})"),
            142'774'381'696U);
  EXPECT_EQ(total_parameters(R"({"model_type":"bitnet","hidden_size":2560,"intermediate_size":6912,
    "num_hidden_layers":30,"num_attention_heads":20,"num_key_value_heads":5,"vocab_size":128256,
    "tie_word_embeddings":true})"),
            2'412'820'480U);
  EXPECT_EQ(total_parameters(
                R"({"model_type":"opt","hidden_size":1024,"ffn_dim":4096,"num_hidden_layers":24,
    "num_attention_heads":16,"vocab_size":50272,"max_position_embeddings":2048,"word_embed_proj_dim":512,
    "do_layer_norm_before":false})"),
            331'196'416U);
  EXPECT_EQ(
      total_parameters(R"({"model_type":"gpt_neo","hidden_size":2560,"num_layers":32,"num_heads":20,
    "vocab_size":50257,"max_position_embeddings":2048,"attention_types":[[["global","local"],16]]})"),
      2'651'307'520U);
  EXPECT_EQ(
      total_parameters(R"({"model_type":"ernie4_5_moe","hidden_size":8192,"intermediate_size":28672,
    "moe_intermediate_size":3584,"moe_num_experts":64,"moe_k":8,"moe_num_shared_experts":0,
    "moe_layer_start_index":3,"num_hidden_layers":54,"num_attention_heads":64,"num_key_value_heads":8,
    "vocab_size":103424,"tie_word_embeddings":false,"use_bias":false,"num_nextn_predict_layers":1})"),
      300'474'051'776U);
}

/// A dense family to which somebody adds experts.
TEST(HfConfig, KeysOfAnotherFamilyDoNotCrash) {
  const std::string experts =
      R"(,"num_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32)";
  for (const char* type : {"bitnet", "molmo", "cogvlm", "qwen", "phi", "apertus", "llama4_text",
                           "step3p5", "laguna"}) {
    const auto config = json::parse(small(type, experts));
    ASSERT_TRUE(config.has_value());
    const auto model = import_hf_config(*config, nullptr);
    ASSERT_TRUE(model.has_value()) << type;
    EXPECT_TRUE(count_parameters(model->spec).total.valid()) << type;
  }
}

TEST(HfConfig, ListsOfTheWrongLength) {
  expect_refused(small("qwen3", R"(,"layer_types":["full_attention"])"),
                 ErrorCode::model_bad_pattern, "/layer_types");
  expect_refused(small("qwen3", R"(,"layer_types":)" + json_cycle({"quantum_attention"}, 6)),
                 ErrorCode::model_unknown_layer_type, "/layer_types");
}

}  // namespace
}  // namespace vramgauge::test

#include "model/cache_layout.h"

#include <gtest/gtest.h>

#include "../truth/preset_files.h"
#include "cache_models.h"

namespace vramgauge {
namespace {

using namespace test;

constexpr uint64_t kKib = uint64_t{1} << 10;
constexpr uint64_t kMib = uint64_t{1} << 20;
constexpr uint64_t kGib = uint64_t{1} << 30;

const CacheType& fp16() {
  static const CacheType type = cache_type_named("fp16");
  return type;
}

uint64_t per_token(const ModelSpec& spec, const CacheType& type = fp16(),
                   uint64_t tensor_parallel = 1) {
  return bytes_per_token(layout_of(spec, type, tensor_parallel)).get().value();
}

uint64_t bytes_at(const ModelSpec& spec, uint64_t tokens, const CacheType& type = fp16()) {
  return cache_bytes(layout_of(spec, type), tokens, kUnpaged).get().value();
}

TEST(CacheLayout, PlainAttentionPerToken) {
  // 2 x 80 layers x 8 heads x 128 x 2 B.
  EXPECT_EQ(per_token(llama_70b()), 327'680U);
  // 32 layers of 128: 32, 8 and 1 KV heads.
  EXPECT_EQ(per_token(uniform_model(32, attention_of(32, 128))), 512 * kKib);
  EXPECT_EQ(per_token(uniform_model(32, attention_of(8, 128))), 128 * kKib);
  EXPECT_EQ(per_token(uniform_model(32, attention_of(1, 128))), 16 * kKib);
  // Qwen3-4B has head_dim 128, not hidden / heads = 80 (vllm#38516: 5.62 GiB for 40,960 tokens).
  EXPECT_EQ(per_token(uniform_model(36, attention_of(8, 128))), 147'456U);
}

TEST(CacheLayout, EqualLayersAreOneSegment) {
  const CacheLayout layout = layout_of(llama_70b(), fp16());
  ASSERT_EQ(layout.segments.size(), 1U);
  const CacheSegment& segment = layout.segments.front();
  EXPECT_EQ(segment.kind, CacheKind::full);
  EXPECT_EQ(segment.layers, 80U);
  EXPECT_EQ(segment.entry_bytes, 4'096U);
  EXPECT_EQ(segment.num_kv_heads, 8U);
  EXPECT_EQ(segment.k_elements, 128U);
  EXPECT_EQ(segment.k_bytes, 256U);
  EXPECT_EQ(segment.saturation_tokens, 0U);
  EXPECT_EQ(segment.basis, Basis::exact);
}

TEST(CacheLayout, KeysAndValuesMayDiffer) {
  // 8 heads x (q8_0 136 B + q4_0 72 B) x 80 layers.
  const auto layout =
      cache_layout(llama_70b(), cache_type_named("q8_0"), cache_type_named("q4_0"), 1);
  EXPECT_EQ(bytes_per_token(layout.value()).get(), 80U * 8 * (136 + 72));
  // MiMo-V2.5: keys of 192, values of 128, 4 heads.
  Attention mimo = attention_of(4, 192);
  mimo.v_head_dim = 128;
  EXPECT_EQ(per_token(uniform_model(1, mimo)), 4U * (192 + 128) * 2);
}

TEST(CacheLayout, ValuesThatEqualKeysAreStillCached) {
  Attention attention = attention_of(2, 512);
  attention.v_equals_k = true;
  EXPECT_EQ(per_token(uniform_model(1, attention)), 2U * 2 * 512 * 2);
}

TEST(CacheLayout, LatentAttentionHasNoFactorTwo) {
  // DeepSeek-V3: 61 layers x (512 + 64) x 2 B; DeepSeek-V2-Lite: 27 layers.
  EXPECT_EQ(per_token(uniform_model(61, latent_of(512, 64))), 70'272U);
  EXPECT_EQ(per_token(uniform_model(27, latent_of(512, 64))), 31'104U);
  // llama.cpp on a GLM-5 file: 44,928 MiB of latents at 524,288 tokens, 78 layers.
  EXPECT_EQ(bytes_at(uniform_model(78, latent_of(512, 64)), 524'288), 44'928 * kMib);
}

TEST(CacheLayout, SparseLatentAttentionAddsIndexKeys) {
  LatentAttention attention = latent_of(512, 64);
  attention.indexer = indexer_of(128);
  const ModelSpec v32 = uniform_model(61, attention);
  EXPECT_EQ(per_token(v32), 61U * (576 + 128) * 2);
  // vLLM: 656 B of packed latent and 132 B of fp8 index key (128 + one fp32 scale).
  EXPECT_EQ(per_token(v32, cache_type_named("fp8_ds_mla")), 61U * (656 + 132));
}

TEST(CacheLayout, LayersThatReuseScoresStoreNoIndexKeys) {
  LatentAttention storing = latent_of(512, 64);
  storing.indexer = indexer_of(128);
  LatentAttention reusing = storing;
  reusing.indexer->stores_keys = false;
  ModelSpec spec = uniform_model(1, storing);
  add_layers(spec, 3, reusing);
  EXPECT_EQ(per_token(spec), 4U * 576 * 2 + 128 * 2);
  EXPECT_EQ(per_token(spec, cache_type_named("fp8_ds_mla")), 4U * 656 + 132);
}

TEST(CacheLayout, PlainSparseAttentionAddsIndexKeys) {
  // MiniMax-M3: 60 layers of 4 heads x 128; 57 of them keep one 16-bit index key of 128 a token.
  Attention sparse = attention_of(4, 128);
  sparse.indexer = indexer_of(128);
  ModelSpec spec = uniform_model(3, attention_of(4, 128));
  add_layers(spec, 57, sparse);
  EXPECT_EQ(per_token(spec), 60U * 2'048 + 57 * 256);
}

TEST(CacheLayout, WindowsSaturate) {
  // gpt-oss: 2,048 B per layer and token; 20b has 12 full and 12 windowed layers, 120b 18 and 18.
  const CacheLayout small = layout_of(gpt_oss(24), fp16());
  EXPECT_EQ(bytes_per_token(small).get(), 49'152U);
  EXPECT_EQ(long_context_bytes_per_token(small).get(), 24'576U);
  // gpustack/gguf-parser-go#32: 3.00 GiB at 131,072 for the full layers, plus 128 tokens in the
  // others.
  EXPECT_EQ(bytes_at(gpt_oss(24), 131'072), 3 * kGib + 12U * 2'048 * 128);
  // vllm-project/vllm#27508: one 131,072-token request of 120b needs 4.5 GiB and its windows.
  EXPECT_EQ(bytes_at(gpt_oss(36), 131'072), 4 * kGib + kGib / 2 + 18U * 2'048 * 128);
  // hf-mem#60: 73,728 B a token while no window is full.
  EXPECT_EQ(per_token(gpt_oss(36)), 73'728U);
  EXPECT_EQ(bytes_at(gpt_oss(36), 100), 100U * 73'728);
}

TEST(CacheLayout, Gemma4AgreesWithALlamaCppLog) {
  // Gemma-4-26B-A4B, q8_0, 262,144 tokens: full layers 2,720.00 MiB; a window of 1,536 cells 159.38
  // MiB.
  ModelSpec spec = uniform_model(5, attention_of(2, 512));
  const CacheType q8_0 = cache_type_named("q8_0");
  EXPECT_EQ(bytes_at(spec, 262'144, q8_0), 2'720 * kMib);
  const ModelSpec windows = uniform_model(25, window_of(attention_of(8, 256), 1'536));
  EXPECT_EQ(bytes_at(windows, 262'144, q8_0), 159 * kMib + 384 * kKib);
}

TEST(CacheLayout, ChunksSaturate) {
  // Llama-4-Scout at 10 M tokens: 12 full layers, 36 that keep a chunk of 8,192; 4,096 B a layer.
  Attention chunked = attention_of(8, 128);
  chunked.chunk_tokens = 8'192;
  ModelSpec spec = uniform_model(12, attention_of(8, 128));
  add_layers(spec, 36, chunked);
  EXPECT_EQ(bytes_at(spec, 10'000'000), 12U * 4'096 * uint64_t{10'000'000} + 36U * 4'096 * 8'192);
}

TEST(CacheLayout, AWindowIsNotMergedWithAChunkOfItsSize) {
  Attention chunked = attention_of(8, 128);
  chunked.chunk_tokens = 512;
  ModelSpec spec = uniform_model(3, chunked);
  add_layers(spec, 1, window_of(attention_of(8, 128), 512));
  EXPECT_EQ(layout_of(spec, fp16()).segments.size(), 2U);
}

TEST(CacheLayout, LayersThatShareACacheStoreNothing) {
  Attention sharing = attention_of(1, 256);
  sharing.cache_shared_with = 0;
  ModelSpec spec = uniform_model(1, attention_of(1, 256));
  add_layers(spec, 20, sharing);
  EXPECT_EQ(per_token(spec), 2U * 256 * 2);
}

TEST(CacheLayout, ParallelMixersBothCache) {
  ModelSpec spec = uniform_model(1, attention_of(2, 128));
  Mamba1 mamba;
  mamba.d_inner = 16;
  mamba.d_state = 4;
  mamba.d_conv = 4;
  spec.layers.front().mixers.push_back(mamba);
  const CacheLayout layout = layout_of(spec, fp16());
  EXPECT_EQ(bytes_per_token(layout).get(), 1'024U);
  EXPECT_EQ(fixed_bytes_per_request(layout).get(), 3U * 16 * 2 + 16 * 4 * 4);
}

TEST(CacheLayout, EncoderTokensAreCachedOnce) {
  // mllama: 8 cross-attention layers of 8 heads x 128 over 4 tiles x 1,601 patches.
  Attention cross = attention_of(8, 128);
  cross.is_cross = true;
  ModelSpec spec = uniform_model(8, cross);
  spec.cross_tokens = 6'404;
  const CacheLayout layout = layout_of(spec, fp16());
  EXPECT_EQ(layout.segments.front().kind, CacheKind::cross);
  EXPECT_EQ(bytes_per_token(layout).get(), 0U);
  EXPECT_EQ(fixed_bytes_per_request(layout).get(), 8U * 4'096 * 6'404);
  EXPECT_EQ(cache_bytes(layout, 100'000, kUnpaged).get(), 8U * 4'096 * 6'404);
}

ModelSpec deepseek_v4_flash() {
  // 43 layers of head_dim 512, window 128: 2 with the window alone, 21 at ratio 4 with an indexer,
  // 20 at 128.
  CompressedAttention window;
  window.head_dim = 512;
  window.window_tokens = 128;
  CompressedAttention sparse = window;
  sparse.compress_ratio = 4;
  sparse.indexer = indexer_of(128, 4);
  CompressedAttention heavy = window;
  heavy.compress_ratio = 128;
  ModelSpec spec = uniform_model(2, window);
  add_layers(spec, 21, sparse);
  add_layers(spec, 20, heavy);
  return spec;
}

TEST(CacheLayout, CompressedCacheOfDeepSeekV4) {
  const CacheLayout layout = layout_of(deepseek_v4_flash(), fp16());
  // A latent is 1,024 B, an index key 256 B: 21 x (1,024 + 256) / 4 + 20 x 1,024 / 128.
  EXPECT_EQ(long_context_bytes_per_token(layout).get(), 21U * 320 + 20 * 8);
  // fp32 keys and scores of the unfinished entry (engines' tables: 8 tokens x 8,192 B at ratio 4,
  // 128 x 4,096 B at 128, 8 x 2,048 B for the index keys).
  EXPECT_EQ(fixed_bytes_per_request(layout).get(),
            21U * (8 * 8'192 + 8 * 2'048) + 20U * 128 * 4'096);
  const uint64_t windows = 43U * 128 * 1'024;
  EXPECT_EQ(cache_bytes(layout, 1'048'576, kUnpaged).get(),
            uint64_t{1'048'576} * (21U * 320 + 20 * 8) + windows +
                fixed_bytes_per_request(layout).value_or(0));
}

TEST(CacheLayout, CompressedEntriesAreCountedWhole) {
  const CacheLayout layout = layout_of(deepseek_v4_flash(), fp16());
  const uint64_t fixed = fixed_bytes_per_request(layout).value_or(0);
  // One token: an entry of each compressed layer, an index key, and the window's first latent.
  EXPECT_EQ(cache_bytes(layout, 1, kUnpaged).get(),
            fixed + 43U * 1'024 + 21 * (1'024 + 256) + 20 * 1'024);
  EXPECT_EQ(
      cache_bytes(layout, 4, kUnpaged).value_or(0) - cache_bytes(layout, 1, kUnpaged).value_or(0),
      43U * 3 * 1'024);
}

TEST(CacheLayout, EdgeLayersOfPackedSlotsStayAt16Bits) {
  // vLLM keeps the first and last two layers of a model without recurrent layers: 4 x 4,096 + 76 x
  // 8 x 196.
  const CacheType packed = cache_type_named("turboquant_k8v4");
  EXPECT_EQ(per_token(llama_70b(), packed), 4U * 4'096 + 76 * 8 * 196);
  ModelSpec hybrid = uniform_model(8, attention_of(8, 128));
  add_layers(hybrid, 1, LinearAttention{1, 1});
  EXPECT_EQ(per_token(hybrid, packed), 8U * 8 * 196);
  EXPECT_EQ(per_token(uniform_model(3, attention_of(8, 128)), packed), 2U * 4'096 + 8 * 196);
}

TEST(CacheLayout, TensorParallelDividesHeadsButNotBelowOne) {
  // Qwen3-235B: 94 layers, 4 KV heads of 128: TP 8 costs each GPU what TP 4 costs, 48,128 B (engine
  // logs).
  const ModelSpec qwen = uniform_model(94, attention_of(4, 128));
  EXPECT_EQ(per_token(qwen, fp16(), 2), 96'256U);
  EXPECT_EQ(per_token(qwen, fp16(), 4), 48'128U);
  EXPECT_EQ(per_token(qwen, fp16(), 8), 48'128U);
  // 10 heads on 4 ranks: the fullest holds 3.
  EXPECT_EQ(per_token(uniform_model(1, attention_of(10, 128)), fp16(), 4), 3U * 512);
  // Kimi-K2: the latent is whole on every rank, 70,272 B.
  EXPECT_EQ(per_token(uniform_model(61, latent_of(512, 64)), fp16(), 8), 70'272U);
}

TEST(CacheLayout, SaysWhatIsReplicated) {
  const CacheLayout heads = layout_of(uniform_model(2, attention_of(4, 128)), fp16(), 8);
  ASSERT_EQ(heads.notes.size(), 1U);
  EXPECT_EQ(heads.notes.front().code, ErrorCode::engine_heads_replicated);
  const CacheLayout latent = layout_of(uniform_model(2, latent_of(512, 64)), fp16(), 8);
  ASSERT_EQ(latent.notes.size(), 1U);
  EXPECT_EQ(latent.notes.front().code, ErrorCode::engine_latent_replicated);
  EXPECT_TRUE(layout_of(llama_70b(), fp16(), 8).notes.empty());
  EXPECT_TRUE(layout_of(uniform_model(2, latent_of(512, 64)), fp16()).notes.empty());
}

TEST(CacheLayout, DraftLayersAreApart) {
  ModelSpec spec = llama_70b();
  spec.mtp_layers = spec.layers;
  EXPECT_EQ(per_token(spec), 327'680U);
}

ErrorCode refusal(const ModelSpec& spec, std::string_view k_type, std::string_view v_type,
                  uint64_t tensor_parallel = 1) {
  const auto layout =
      cache_layout(spec, cache_type_named(k_type), cache_type_named(v_type), tensor_parallel);
  return layout ? ErrorCode::api_internal : layout.error().front().code;
}

TEST(CacheLayout, RefusesWhatItCannotCount) {
  const ModelSpec llama = llama_70b();
  EXPECT_EQ(refusal(llama, "int4_per_token_head", "int4_per_token_head"),
            ErrorCode::cache_type_refused);
  EXPECT_EQ(refusal(llama, "fp16", "q8_kv"), ErrorCode::cache_type_refused);
  EXPECT_EQ(refusal(llama, "fp8_ds_mla", "fp8_ds_mla"), ErrorCode::cache_type_not_applicable);
  EXPECT_EQ(refusal(uniform_model(2, latent_of(512, 64)), "fp8_ds_mla", "fp8_ds_mla"),
            ErrorCode::cache_type_not_applicable);
  LatentAttention other_rank = latent_of(256, 64);
  other_rank.indexer = indexer_of(128);
  EXPECT_EQ(refusal(uniform_model(2, other_rank), "fp8_ds_mla", "fp8_ds_mla"),
            ErrorCode::cache_type_not_applicable);
  EXPECT_EQ(refusal(uniform_model(8, latent_of(512, 64)), "turboquant_k8v4", "turboquant_k8v4"),
            ErrorCode::cache_type_not_applicable);
  EXPECT_EQ(refusal(deepseek_v4_flash(), "fp8_ds_mla", "fp8_ds_mla"),
            ErrorCode::cache_type_not_applicable);
  EXPECT_EQ(refusal(llama, "turboquant_k8v4", "fp16"), ErrorCode::value_not_a_choice);
  EXPECT_EQ(refusal(uniform_model(1, attention_of(8, 80)), "q4_0", "q4_0"),
            ErrorCode::cache_row_not_divisible);
  EXPECT_EQ(refusal(llama, "fp16", "fp16", 0), ErrorCode::value_out_of_range);
  EXPECT_EQ(refusal(uniform_model(1, attention_of(UINT64_MAX, 128)), "fp16", "fp16"),
            ErrorCode::value_overflow);
  EXPECT_EQ(refusal(uniform_model(1, latent_of(UINT64_MAX, 64)), "fp16", "fp16"),
            ErrorCode::value_overflow);
}

TEST(CacheLayout, RefusalNamesTheFieldOfTheValues) {
  const auto layout = cache_layout(uniform_model(1, attention_of(8, 80)), cache_type_named("fp16"),
                                   cache_type_named("q4_0"), 1);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().front().path, "/cache_type_v");
}

}  // namespace
}  // namespace vramgauge

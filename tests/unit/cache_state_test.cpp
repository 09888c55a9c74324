#include "model/cache_state.h"

#include <gtest/gtest.h>

#include "../truth/preset_files.h"
#include "cache_models.h"

namespace vramgauge {
namespace {

using namespace test;

constexpr uint64_t kMib = uint64_t{1} << 20;
constexpr uint64_t kWhole = 1;

Mamba1 mamba1_of(uint64_t d_inner, uint64_t d_state, uint64_t d_conv) {
  Mamba1 mixer;
  mixer.d_inner = d_inner;
  mixer.d_state = d_state;
  mixer.d_conv = d_conv;
  return mixer;
}

Mamba2 mamba2_of(uint64_t heads, uint64_t head_dim, uint64_t groups, uint64_t d_state) {
  Mamba2 mixer;
  mixer.num_heads = heads;
  mixer.head_dim = head_dim;
  mixer.num_groups = groups;
  mixer.d_state = d_state;
  mixer.d_conv = 4;
  return mixer;
}

GatedDelta delta_of(uint64_t k_heads, uint64_t v_heads) {
  GatedDelta mixer;
  mixer.num_k_heads = k_heads;
  mixer.num_v_heads = v_heads;
  mixer.k_head_dim = 128;
  mixer.v_head_dim = 128;
  mixer.d_conv = 4;
  return mixer;
}

template <typename Recurrent>
void expect_elements(const Recurrent& mixer, uint64_t conv, uint64_t temporal,
                     uint64_t tensor_parallel = kWhole) {
  const StateShape shape = state_shape(mixer, tensor_parallel);
  EXPECT_EQ(shape.conv_elements.get(), conv) << shape.mixer;
  EXPECT_EQ(shape.temporal_elements.get(), temporal) << shape.mixer;
}

// n_embd_r and n_embd_s that libllama reports for each model (elements a layer and sequence).
TEST(CacheState, AgreesWithLlamaCpp) {
  expect_elements(mamba1_of(5'120, 16, 4), 15'360, 81'920);        // mamba-2.8b
  expect_elements(mamba1_of(8'192, 16, 4), 24'576, 131'072);       // jamba-mini-1.5
  expect_elements(mamba2_of(128, 64, 1, 128), 25'344, 1'048'576);  // granite-4.0-h-small
  expect_elements(mamba2_of(128, 64, 8, 128), 30'720, 1'048'576);  // nemotron-h-8b
  expect_elements(mamba2_of(24, 128, 1, 256), 10'752, 786'432);    // falcon-h1-7b
  expect_elements(delta_of(16, 32), 24'576, 524'288);              // qwen3-next-80b-a3b
  expect_elements(delta_of(16, 48), 30'720, 786'432);              // qwen3.5-27b
  expect_elements(ShortConv{2'048, 3, false}, 4'096, 0);           // lfm2-1.2b
  Rwkv rwkv;
  rwkv.version = 7;
  rwkv.hidden_size = 2'560;
  rwkv.num_heads = 40;
  rwkv.head_dim = 64;
  expect_elements(rwkv, 5'120, 163'840);  // rwkv7-2.9b
}

TEST(CacheState, OtherRecurrences) {
  // MiniMax-Text-01: 64 heads x 128 x 128 and no convolution.
  expect_elements(LinearAttention{64, 128}, 0, 64 * 128 * 128);
  // Kimi-Linear: 32 heads of 128 in q, k and v, three convolutions of 4 taps.
  GatedDelta kimi = delta_of(32, 32);
  kimi.is_channel_wise = true;
  expect_elements(kimi, 3 * 3 * 32 * 128, 32 * 128 * 128);
  // RWKV-4 of transformers: two shifted tokens, and numerator, denominator and maximum.
  Rwkv rwkv4;
  rwkv4.version = 4;
  rwkv4.hidden_size = 2'048;
  expect_elements(rwkv4, 2 * 2'048, 3 * 2'048);
  // RecurrentGemma-2B: lru_width 2,560, conv1d_width 4.
  expect_elements(GatedLru{2'560, 10, 4}, 3 * 2'560, 2'560);
}

TEST(CacheState, TensorParallelDividesHeads) {
  expect_elements(mamba2_of(128, 64, 8, 128), 3 * (1'024 + 2 * 128), 1'024 * 128, 8);
  // One group: each rank needs it whole.
  expect_elements(mamba2_of(128, 64, 1, 128), 3 * (1'024 + 2 * 128), 1'024 * 128, 8);
  expect_elements(delta_of(16, 32), 3 * (2 * 4 * 128 + 8 * 128), 8 * 128 * 128, 4);
  expect_elements(mamba1_of(5'120, 16, 4), 3 * 1'280, 1'280 * 16, 4);
}

uint64_t state_bytes(const ModelSpec& spec, const StatePrecision& precision) {
  return fixed_bytes_per_request(layout_of(spec, sixteen_bit_cache(), 1, precision)).get().value();
}

constexpr StatePrecision kBothFp32 = {4, 4};

TEST(CacheState, BytesAgreeWithEngineLogs) {
  // lmstudio-bug-tracker#1862: Qwen3.6-27B, 598.5 MiB of state for 4 slots, fp32.
  EXPECT_EQ(4 * state_bytes(uniform_model(48, delta_of(16, 48)), kBothFp32), 598 * kMib + kMib / 2);
  // llama.cpp, Qwen3.6-35B-A3B: R 2.81 MiB + S 60.00 MiB.
  EXPECT_EQ(state_bytes(uniform_model(30, delta_of(16, 32)), kBothFp32),
            30U * 24'576 * 4 + 60 * kMib);
  // vllm-project/vllm#23230, Nemotron-Nano-9B-v2: 27 layers x 128 heads x 80 x 128 x 4 B = 135 MiB
  // a sequence, beside the convolution's 16-bit tail.
  const ModelSpec nemotron = uniform_model(27, mamba2_of(128, 80, 8, 128));
  EXPECT_EQ(state_bytes(nemotron, StatePrecision{}),
            135 * kMib + 27U * 3 * (10'240 + 2 * 8 * 128) * 2);
}

TEST(CacheState, DoesNotDependOnLength) {
  const CacheLayout layout = layout_of(uniform_model(4, delta_of(16, 32)), sixteen_bit_cache());
  EXPECT_EQ(bytes_per_token(layout).get(), 0U);
  EXPECT_EQ(cache_bytes(layout, 0, kUnpaged).get(), cache_bytes(layout, 1'000'000, kUnpaged).get());
  EXPECT_EQ(layout.segments.front().kind, CacheKind::state);
  EXPECT_EQ(layout.segments.front().basis, Basis::modelled);
}

TEST(CacheState, CompressorOverlapsOnlyAtRatioFour) {
  // kv_state and score_state of DeepSeek-V4: (coff x ratio) x (coff x head_dim) each, coff 2 at
  // ratio 4.
  EXPECT_EQ(compressor_state_elements(uint64_t{512}, 4).get(), 2U * (2 * 4) * (2 * 512));
  EXPECT_EQ(compressor_state_elements(uint64_t{512}, 128).get(), 2U * 128 * 512);
}

}  // namespace
}  // namespace vramgauge

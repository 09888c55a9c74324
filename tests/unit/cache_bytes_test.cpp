#include "model/cache_bytes.h"

#include <gtest/gtest.h>

#include "cache_models.h"

namespace vramgauge {
namespace {

using namespace test;

constexpr Paging kBlocksOf16 = {16};

const CacheType& fp16() {
  static const CacheType type = sixteen_bit_cache();
  return type;
}

/// One layer, one head, 64 elements: 256 B a token, so that bytes / 256 reads as tokens.
constexpr uint64_t kTokenBytes = 256;
ModelSpec one_layer(uint64_t window_tokens = 0) {
  return uniform_model(1, window_of(attention_of(1, 64), window_tokens));
}

uint64_t tokens_held(const ModelSpec& spec, uint64_t tokens, const Paging& paging) {
  return cache_bytes(layout_of(spec, fp16()), tokens, paging).get().value() / kTokenBytes;
}

uint64_t tokens_held_by(const ModelSpec& spec, uint64_t tokens, uint64_t requests, uint64_t prefix,
                        const Paging& paging = kUnpaged) {
  return cache_bytes_for_requests(layout_of(spec, fp16()), tokens, requests, prefix, paging)
             .get()
             .value() /
         kTokenBytes;
}

TEST(CacheBytes, DoesNotOverflow32Bits) {
  // 64K x 2 requests of Llama-3.3-70B: 40 GiB; one of 10 M tokens: 10,000,000 x 327,680.
  const CacheLayout layout = layout_of(llama_70b(), fp16());
  EXPECT_EQ(cache_bytes_for_requests(layout, 65'536, 2, 0, kUnpaged).get(), uint64_t{40} << 30);
  EXPECT_EQ(cache_bytes(layout, 10'000'000, kUnpaged).get(), uint64_t{3'276'800'000'000});
}

TEST(CacheBytes, OverflowPoisons) {
  const CacheLayout layout = layout_of(llama_70b(), fp16());
  EXPECT_FALSE(cache_bytes(layout, UINT64_MAX, kUnpaged).valid());
  EXPECT_FALSE(cache_bytes(layout, UINT64_MAX - 3, kBlocksOf16).valid());
  EXPECT_FALSE(cache_bytes_for_requests(layout, 65'536, UINT64_MAX, 0, kUnpaged).valid());
  EXPECT_FALSE(cache_bytes(layout, 1, Paging{0}).valid());
}

TEST(CacheBytes, BlocksOf16WasteAtMost15Tokens) {
  EXPECT_EQ(tokens_held(one_layer(), 0, kBlocksOf16), 0U);
  for (uint64_t tokens = 1; tokens <= 64; ++tokens) {
    const uint64_t held = tokens_held(one_layer(), tokens, kBlocksOf16);
    EXPECT_EQ(held % 16, 0U);
    EXPECT_GE(held, tokens);
    EXPECT_LE(held - tokens, 15U);
  }
  EXPECT_EQ(tokens_held(one_layer(), 17, kBlocksOf16), 32U);
}

TEST(CacheBytes, WindowsAreRoundedUpToo) {
  EXPECT_EQ(tokens_held(one_layer(100), 5, kBlocksOf16), 16U);
  EXPECT_EQ(tokens_held(one_layer(100), 10'000, kBlocksOf16), 112U);
  EXPECT_EQ(tokens_held(one_layer(100), 10'000, kUnpaged), 100U);
}

TEST(CacheBytes, SharesWholeBlocksOfAPrefix) {
  EXPECT_EQ(tokens_held_by(one_layer(), 1'000, 4, 500), 500U + 4 * 500);
  // Blocks of 16: 31 whole blocks of the prefix (496 tokens), each request 63 blocks (1,008
  // tokens).
  EXPECT_EQ(tokens_held_by(one_layer(), 1'000, 4, 500, kBlocksOf16), 496U + 4 * (1'008 - 496));
  EXPECT_EQ(tokens_held_by(one_layer(), 1'000, 4, 15, kBlocksOf16), 4U * 1'008);
  EXPECT_EQ(tokens_held_by(one_layer(), 1'000, 1, 500), 1'000U);
  EXPECT_EQ(tokens_held_by(one_layer(), 1'000, 0, 500), 0U);
}

TEST(CacheBytes, APrefixLongerThanTheRequestIsTheRequest) {
  EXPECT_EQ(tokens_held_by(one_layer(), 100, 3, 5'000), 100U);
}

TEST(CacheBytes, WindowsShareOnlyWhatIsStillInThem) {
  // At 1,000 tokens a window of 128 holds tokens 872 to 999: a prefix of 500 has slid out.
  EXPECT_EQ(tokens_held_by(one_layer(128), 1'000, 4, 500), 4U * 128);
  // At 600 it holds 472 to 599: of a prefix of 550, 78 tokens are shared.
  EXPECT_EQ(tokens_held_by(one_layer(128), 600, 4, 550), 78U + 4 * (128 - 78));
  // In blocks of 16: from 480 (the first whole block) to 544 (the last): 64 tokens.
  EXPECT_EQ(tokens_held_by(one_layer(128), 600, 4, 550, kBlocksOf16), 64U + 4 * (128 - 64));
  // Before the window is full it shares like any other.
  EXPECT_EQ(tokens_held_by(one_layer(128), 100, 4, 50), 50U + 4 * 50);
}

TEST(CacheBytes, ChunksShareOnlyInTheFirst) {
  Attention chunked = attention_of(1, 64);
  chunked.chunk_tokens = 128;
  const ModelSpec spec = uniform_model(1, chunked);
  EXPECT_EQ(tokens_held_by(spec, 128, 4, 50), 50U + 4 * 78);
  EXPECT_EQ(tokens_held_by(spec, 129, 4, 50), 4U * 128);
}

TEST(CacheBytes, CompressedEntriesShareOnlyWholeOnes) {
  CompressedAttention compressed;
  compressed.head_dim = 128;
  compressed.compress_ratio = 4;
  const CacheLayout layout = layout_of(uniform_model(1, compressed), fp16());
  const uint64_t state = fixed_bytes_per_request(layout).value_or(0);
  // 10 tokens are 3 entries of 256 B; 7 shared tokens hold one whole entry.
  EXPECT_EQ(cache_bytes_for_requests(layout, 10, 2, 7, kUnpaged).get(),
            2 * state + 256 * (1 + 2 * 2));
}

TEST(CacheBytes, StatesAreNeverShared) {
  const CacheLayout layout = layout_of(uniform_model(1, LinearAttention{2, 8}), fp16());
  EXPECT_EQ(cache_bytes_for_requests(layout, 1'000, 5, 1'000, kUnpaged).get(), 5U * 2 * 8 * 8 * 4);
}

}  // namespace
}  // namespace vramgauge

// Transformers' generate(): what its code keeps alive, counted by hand. Shapes of Llama-3.1-8B: 32
// layers, 32 heads, 8 of them cached, 128 wide, hidden 4,096, feed-forward 14,336, vocabulary
// 128,256.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/torch_allocator.h"
#include "engine/transformers.h"
#include "vllm_engine_support.h"

namespace vramgauge::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TransformersProfile profile_named(const char* version) {
  static const json::Value entry = read_json(VRAMGAUGE_PRESET_DIR "/engines/transformers.json");
  return value_or_throw(transformers_profile(entry, *release_number(version)), version);
}

TransformersInputs inputs_of(const std::string& slug, uint64_t prompt, uint64_t context) {
  TransformersInputs inputs;
  inputs.spec = &preset_spec(slug);
  inputs.stage_weights = {bytes_from_gib(15)};
  inputs.device_total = bytes_from_gib(79.19);
  inputs.cache_type = sixteen_bit_cache();
  inputs.prompt_tokens = prompt;
  inputs.context_tokens = context;
  return inputs;
}

TransformersEstimate estimated(const TransformersInputs& inputs, const char* version = "5.0") {
  return value_or_throw(estimate_transformers(inputs, profile_named(version)), "estimate");
}

const Term& term(const TransformersEstimate& estimate, size_t index) {
  return estimate.breakdown.devices.front().terms[index];
}

// 4,096 tokens x (2 x 4,096 + 3 x 14,336) x 2 B; the cache is 131,072 B per token.
TEST(Transformers, ThePromptDecidesWhenItIsLong) {
  const auto estimate = estimated(inputs_of("meta-llama__Llama-3.1-8B-Instruct", 4096, 4096));
  EXPECT_TRUE(estimate.is_prefill_higher);
  EXPECT_EQ(term(estimate, 1).bytes.count(), 512 * kMiB);
  EXPECT_EQ(term(estimate, 2).bytes.count(), 419'430'400U);
  EXPECT_EQ(estimate.breakdown.cache.bytes_per_token.count(), 131'072U);
}

// Logits of all tokens in bf16 and fp32: 4,096 x 128,256 x 6 B, beside two hidden states.
TEST(Transformers, EarlierVersionsMadeLogitsOfThePrompt) {
  const auto inputs = inputs_of("meta-llama__Llama-3.1-8B-Instruct", 4096, 4096);
  EXPECT_EQ(term(estimated(inputs, "4.44"), 2).bytes.count(),
            4096ULL * 128'256 * 6 + 4096ULL * 4096 * 2 * 2);
  EXPECT_EQ(term(estimated(inputs, "4.45"), 2).bytes.count(), 419'430'400U);
}

// The last token's keys of one layer stand beside the ones before: 4,096 x 1,024 x 2 B.
TEST(Transformers, AGrowingCacheHoldsALayersKeysTwice) {
  const auto estimate = estimated(inputs_of("meta-llama__Llama-3.1-8B-Instruct", 16, 4096));
  EXPECT_FALSE(estimate.is_prefill_higher);
  EXPECT_EQ(term(estimate, 1).bytes.count(), 512 * kMiB);
  EXPECT_EQ(term(estimate, 2).bytes.count(), 8 * kMiB);
  EXPECT_GT(term(estimate, 1).high, term(estimate, 1).bytes);
}

// What 32 layers of 2,048 B a token for keys and for values hold in PyTorch's segments as they
// grow: within the constant's band between 2 and 10 MiB a block, and past half of it at some point.
TEST(Transformers, GapsOfAGrowingCacheAreWithinItsBand) {
  constexpr uint64_t kTokenBytes = 2048;
  constexpr size_t kBlocks = 64;
  TorchAllocator allocator;
  std::vector<TorchAllocator::Handle> blocks;
  for (size_t i = 0; i < kBlocks; ++i)
    blocks.push_back(allocator.allocate(CheckedU64(kTokenBytes)));
  double most = 0;
  for (uint64_t tokens = 2; tokens * kTokenBytes < 10 * kMiB; ++tokens) {
    for (TorchAllocator::Handle& block : blocks) {
      const auto grown = allocator.allocate(CheckedU64(tokens * kTokenBytes));
      allocator.release(block);
      block = grown;
    }
    if (tokens * kTokenBytes < 2 * kMiB) continue;
    const auto reserved = static_cast<double>(allocator.reserved_bytes().value_or(0));
    most = std::max(most, reserved / static_cast<double>(tokens * kTokenBytes * kBlocks));
  }
  const double high = profile_named("5.0").growth_factor.high.to_double();
  EXPECT_LE(most, high);
  EXPECT_GT(most, 1 + (high - 1) / 2);
}

// All slots from the start; a mask of 1 + 2 B per pair, and keys and values repeated for 32 heads:
// 4,096 slots x 4,096 x 2 x 2 B.
TEST(Transformers, AStaticCacheRepeatsItsHeadsForTheMask) {
  auto inputs = inputs_of("meta-llama__Llama-3.1-8B-Instruct", 100, 4096);
  inputs.is_static = true;
  const auto estimate = estimated(inputs);
  EXPECT_TRUE(estimate.is_prefill_higher);
  EXPECT_EQ(term(estimate, 1).bytes.count(), 512 * kMiB);
  EXPECT_EQ(term(estimate, 1).high, term(estimate, 1).bytes);
  EXPECT_EQ(term(estimate, 2).bytes.count(),
            100ULL * 28'672 * 2 + 100ULL * 4096 * 3 + 4096ULL * 4096 * 4);
}

// Plain attention keeps 10 B for each of 32 x 4,096 x 4,096 scores: 5 GiB.
TEST(Transformers, PlainAttentionKeepsItsScores) {
  auto inputs = inputs_of("meta-llama__Llama-3.1-8B-Instruct", 4096, 4096);
  inputs.is_eager = true;
  EXPECT_GT(gib(term(estimated(inputs), 2).bytes), 5.0);
  EXPECT_LT(gib(term(estimated(inputs), 2).bytes), 5.5);
}

// transformers pull request 40039: the cache of Mistral 7B stops at its window of 4,096 tokens
// (131,072 B each); before 4.56 it grew on, and while a prompt is read it still does.
TEST(Transformers, WindowsEndAGrowingCache) {
  const auto inputs = inputs_of("mistralai__Mistral-7B-v0.1", 16, 16'384);
  EXPECT_EQ(term(estimated(inputs), 1).bytes.count(), 512 * kMiB);
  EXPECT_EQ(term(estimated(inputs, "4.55"), 1).bytes.count(), 2048 * kMiB);
  const auto prompt = estimated(inputs_of("mistralai__Mistral-7B-v0.1", 16'384, 16'384));
  EXPECT_TRUE(prompt.is_prefill_higher);
  EXPECT_EQ(term(prompt, 1).bytes.count(), 2048 * kMiB);
}

// 27 layers of 16 heads, 192 wide keys and 128 wide values: 276,480 B, not the latent's 31,104.
TEST(Transformers, LatentsAreExpandedBeforeTheyAreCached) {
  const auto estimate = estimated(inputs_of("deepseek-ai__DeepSeek-V2-Lite", 16, 1024));
  EXPECT_EQ(estimate.breakdown.cache.bytes_per_token.count(), 276'480U);
}

// Qwen3-30B-A3B: 8 of 128 experts, 2,048 and 768 wide. One by one: three streams, a mask of 8 x 128
// integers of 8 B, scores of 4 B and a 128th of the chosen tokens' (3 x 2,048 + 3 x 768) x 2 B x 8.
// Grouped: 8 x (4 x 2,048 + 3 x 768) x 2 B in place of the last two.
TEST(Transformers, ExpertsOneByOneOrGrouped) {
  const auto inputs = inputs_of("Qwen__Qwen3-30B-A3B", 4096, 4096);
  const uint64_t streams = 3 * 2048 * 2 + 128 * 4;
  EXPECT_EQ(estimated(inputs, "4.57").prefill.feed_forward,
            CheckedU64(4096 * (streams + 8 * 128 * 8 + 8 * (3 * 2048 + 3 * 768) * 2 / 128)));
  EXPECT_EQ(estimated(inputs).prefill.feed_forward,
            CheckedU64(4096 * (streams + 8 * (4 * 2048 + 3 * 768) * 2)));
}

// Mamba 2.8B: two streams of 2,560 and four of 5,120 channels, 2 B each.
TEST(Transformers, RecurrentLayersHaveAPeakOfTheirOwn) {
  const auto estimate = estimated(inputs_of("state-spaces__mamba-2.8b-hf", 1000, 1000));
  EXPECT_EQ(estimate.prefill.feed_forward, CheckedU64(uint64_t{1000} * (2 * 2560 + 4 * 5120) * 2));
}

TEST(Transformers, AnswersAreTheMostThatFits) {
  auto inputs = inputs_of("meta-llama__Llama-3.1-8B-Instruct", 4096, 4096);
  const auto answers = transformers_answers(inputs, profile_named("5.0"), estimated(inputs).caches);
  inputs.num_requests = *answers.max_requests;
  EXPECT_EQ(estimated(inputs).breakdown.verdict.state, VerdictState::tight);
  ++inputs.num_requests;
  EXPECT_EQ(estimated(inputs).breakdown.verdict.state, VerdictState::does_not_fit);
}

}  // namespace
}  // namespace vramgauge::test

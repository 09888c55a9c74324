#include "engine/generic.h"

#include <random>

#include <gtest/gtest.h>

namespace vramgauge {
namespace {

/// Plain attention: 2 x 32 layers x 8 heads x 128 x 2 B = 131,072 B a token, in one segment.
CacheLayout plain_cache() {
  CacheSegment segment;
  segment.layers = 32;
  segment.entry_bytes = 2 * 8 * 128 * 2;
  CacheLayout layout;
  layout.segments.push_back(segment);
  return layout;
}

GenericConstants constants_of(const Scenario& scenario) {
  const auto exact = [](Decimal value) { return BandedDecimal{value, value, value}; };
  return {exact(scenario.overhead_factor), exact(scenario.fixed_gib), exact(scenario.live_buffers),
          "test"};
}

GenericModel model_with(const CacheLayout& cache) {
  GenericModel model;
  model.weights = GiB(15);
  model.cache = &cache;
  model.hidden_size = 4096;
  model.intermediate_size = 14336;
  return model;
}

Breakdown estimate(const Scenario& scenario, Bytes memory, const CacheLayout& cache) {
  Result<Breakdown> result = estimate_generic(scenario, model_with(cache), custom_hardware(memory),
                                              constants_of(scenario));
  EXPECT_TRUE(result.has_value());
  return result.value_or(Breakdown{});
}

Answers answers_of(const Scenario& scenario, Bytes memory, const CacheLayout& cache) {
  const Bytes usable = estimate(scenario, memory, cache).devices.front().usable;
  return generic_answers(scenario, model_with(cache), constants_of(scenario), usable);
}

Scenario random_scenario(std::mt19937_64& random) {
  Scenario scenario;
  scenario.context_tokens = 1 + random() % 200000;
  scenario.num_requests = 1 + random() % 64;
  scenario.shared_prefix_tokens = random() % 2 == 0 ? 0 : random() % scenario.context_tokens;
  scenario.kv_block_tokens = uint64_t{1} << (random() % 6);
  scenario.gpu_count = uint64_t{1} << (random() % 4);
  scenario.live_buffers = Decimal::from_micros(random() % 2 == 0 ? 0 : random() % 5'000'000);
  scenario.gpu_memory_utilization_frac = Decimal::from_micros(500'000 + random() % 500'001);
  return scenario;
}

bool fits(const Breakdown& breakdown) {
  return breakdown.verdict.state != VerdictState::does_not_fit;
}

// Each inverse answer is proved: the answer fits, one step more does not.
TEST(Generic, AnswersFitAndTheNextStepDoesNot) {
  const CacheLayout cache = plain_cache();
  std::mt19937_64 random(7);
  uint64_t proved = 0;
  for (int round = 0; round < 2000; ++round) {
    const Scenario scenario = random_scenario(random);
    const Bytes memory = GiB(16 + random() % 180);
    const Answers answers = answers_of(scenario, memory, cache);
    Scenario at = scenario;
    if (answers.max_requests.value_or(0) > 0) {
      at.num_requests = *answers.max_requests;
      EXPECT_TRUE(fits(estimate(at, memory, cache)));
      at.num_requests += 1;
      EXPECT_FALSE(fits(estimate(at, memory, cache)));
      ++proved;
    }
    at = scenario;
    if (answers.max_context_tokens.value_or(0) > scenario.shared_prefix_tokens) {
      at.context_tokens = *answers.max_context_tokens;
      EXPECT_TRUE(fits(estimate(at, memory, cache)));
      at.context_tokens += 1;
      EXPECT_FALSE(fits(estimate(at, memory, cache)));
      ++proved;
    }
  }
  EXPECT_GT(proved, 1000U);
}

TEST(Generic, MoreTokensOrRequestsNeverNeedLess) {
  const CacheLayout cache = plain_cache();
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    const Scenario scenario = random_scenario(random);
    Scenario more = scenario;
    more.context_tokens += random() % 1000;
    more.num_requests += random() % 10;
    EXPECT_LE(estimate(scenario, GiB(80), cache).verdict.needed,
              estimate(more, GiB(80), cache).verdict.needed);
  }
}

TEST(Generic, RanksHoldAtLeastTheWhole) {
  const CacheLayout cache = plain_cache();
  Scenario scenario;
  for (const uint64_t gpus : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{64}}) {
    scenario.gpu_count = gpus;
    const Breakdown breakdown = estimate(scenario, GiB(80), cache);
    const DeviceBreakdown& device = breakdown.devices.front();
    EXPECT_GE(device.terms.front().bytes.count() * device.count, GiB(15).count());
  }
}

TEST(Generic, ABandMakesTheVerdictTight) {
  const CacheLayout cache = plain_cache();
  GenericModel model;
  model.weights = GiB(10);
  model.cache = &cache;
  Scenario scenario;
  scenario.context_tokens = 1;
  scenario.num_requests = 1;
  GenericConstants constants = constants_of(scenario);
  constants.fixed_gib.high = *Decimal::parse("20");
  const auto state = [&](uint64_t gib) {
    return estimate_generic(scenario, model, custom_hardware(GiB(gib)), constants)->verdict.state;
  };
  // Needs 10 x 1.15 + 1 = 12.5 GiB and a little cache, at most 31.5 GiB.
  EXPECT_EQ(state(12), VerdictState::does_not_fit);
  EXPECT_EQ(state(13), VerdictState::tight);
  EXPECT_EQ(state(32), VerdictState::fits);
}

TEST(Generic, RefusesAPrefixLongerThanTheContext) {
  const CacheLayout cache = plain_cache();
  GenericModel model;
  model.cache = &cache;
  Scenario scenario;
  scenario.context_tokens = 10;
  scenario.shared_prefix_tokens = 11;
  const auto result =
      estimate_generic(scenario, model, custom_hardware(GiB(1)), constants_of(scenario));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().front().code, ErrorCode::engine_prefix_longer_than_context);
}

}  // namespace
}  // namespace vramgauge

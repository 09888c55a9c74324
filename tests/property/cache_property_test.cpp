// What must hold for the cache of any model, on 2,000 random models and on every preset.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "../truth/models.h"
#include "enumerated_cache.h"
#include "model/cache_bytes.h"
#include "random_models.h"

namespace vramgauge {
namespace {

using namespace test;

constexpr uint64_t kCases = 2'000;

struct Case {
  std::string name;
  ModelSpec spec;
  CacheType type;
  uint64_t tokens = 0;
  uint64_t requests = 0;
  uint64_t prefix_tokens = 0;
  uint64_t tensor_parallel = 1;
  Paging paging;
};

CacheLayout layout_of(const Case& it, uint64_t tensor_parallel = 1) {
  auto layout = cache_layout(it.spec, it.type, it.type, tensor_parallel);
  if (!layout) throw std::runtime_error(it.name + ": " + first_message(layout.error()));
  return std::move(*layout);
}

uint64_t total_of(const CacheLayout& layout, const Case& it) {
  return cache_bytes_for_requests(layout, it.tokens, it.requests, it.prefix_tokens, it.paging)
      .get()
      .value();
}

Case random_case(Random& random, std::string name, ModelSpec spec,
                 const std::vector<std::string>& types) {
  Case it;
  it.name = std::move(name);
  it.spec = std::move(spec);
  it.type = cache_type_named(random.choice(types));
  it.tokens = random.between(0, 600);
  it.requests = random.between(0, 9);
  it.prefix_tokens = random.between(0, it.tokens + 10);
  it.tensor_parallel = random.between(1, 16);
  it.paging.block_tokens = random.choice(std::vector<uint64_t>{1, 3, 16, 64, 256});
  return it;
}

void for_random_models(const std::function<void(const Case&, Random&)>& check) {
  const std::vector<std::string> types = {
      "fp16", "fp8", "fp32", "q8_0", "q4_0", "nvfp4", "fp8_per_token_head"};
  for (uint64_t seed = 1; seed <= kCases; ++seed) {
    Random random(seed);
    ModelSpec spec = random_model(random);
    check(random_case(random, "seed " + std::to_string(seed), std::move(spec), types), random);
    if (testing::Test::HasFailure()) return;
  }
}

/// Models of all presets that import; a refusal is the importer's business, but nearly all must be
/// there.
const std::vector<std::pair<std::string, ModelSpec>>& preset_models() {
  static const auto models = [] {
    std::vector<std::pair<std::string, ModelSpec>> found;
    for (const auto& file : std::filesystem::directory_iterator(VRAMGAUGE_PRESET_DIR "/models")) {
      if (file.path().extension() != ".json") continue;
      const json::Value preset = read_json(file.path().string());
      auto model = import_hf_config(*preset.find("config"), &class_defaults());
      if (model) found.emplace_back(file.path().stem().string(), std::move(model->spec));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return found;
  }();
  return models;
}

void for_presets(const std::function<void(const Case&, Random&)>& check) {
  ASSERT_GE(preset_models().size(), 435U);
  uint64_t seed = 0;
  for (const auto& [name, spec] : preset_models()) {
    Random random(++seed);
    check(random_case(random, name, spec, {"fp16", "fp8"}), random);
    if (testing::Test::HasFailure()) return;
  }
}

void closed_form_equals_enumeration(const Case& it, Random&) {
  EXPECT_EQ(cache_bytes(layout_of(it), it.tokens, Paging{}).get(),
            EnumeratedCache(it.spec, it.type, it.tokens).bytes())
      << it.name << " at " << it.tokens;
}

void more_tokens_or_requests_never_cost_less(const Case& it, Random& random) {
  const CacheLayout layout = layout_of(it);
  Case longer = it;
  longer.tokens += random.between(1, 300);
  EXPECT_GE(total_of(layout, longer), total_of(layout, it)) << it.name << " at " << it.tokens;
  Case busier = it;
  busier.requests += 1;
  EXPECT_GE(total_of(layout, busier), total_of(layout, it)) << it.name;
}

void more_layers_never_cost_less(const Case& it, Random& random) {
  Case deeper = it;
  deeper.spec.layers.push_back(random_layer(random));
  EXPECT_GE(total_of(layout_of(deeper), it), total_of(layout_of(it), it)) << it.name;
}

void ranks_hold_at_least_the_whole(const Case& it, Random&) {
  const uint64_t one_rank = total_of(layout_of(it, it.tensor_parallel), it);
  EXPECT_GE(one_rank * it.tensor_parallel, total_of(layout_of(it), it))
      << it.name << " on " << it.tensor_parallel;
  EXPECT_LE(one_rank, total_of(layout_of(it), it)) << it.name << " on " << it.tensor_parallel;
}

void blocks_waste_less_than_one_each(const Case& it, Random&) {
  for (const CacheSegment& segment : layout_of(it).segments) {
    const uint64_t paged = segment_bytes(segment, it.tokens, it.paging).get().value();
    const uint64_t unpaged = segment_bytes(segment, it.tokens, Paging{}).get().value();
    const CheckedU64 spare_entries = ceil_div(it.paging.block_tokens - 1, segment.tokens_per_entry);
    EXPECT_GE(paged, unpaged) << it.name;
    EXPECT_LE(paged - unpaged, (spare_entries * segment.layers * segment.entry_bytes).get().value())
        << it.name;
  }
}

void sharing_saves_but_keeps_one_request(const Case& it, Random&) {
  const CacheLayout layout = layout_of(it);
  Case unshared = it;
  unshared.prefix_tokens = 0;
  const uint64_t one = cache_bytes(layout, it.tokens, it.paging).get().value();
  EXPECT_EQ(total_of(layout, unshared), it.requests * one) << it.name;
  EXPECT_LE(total_of(layout, it), it.requests * one) << it.name;
  EXPECT_GE(total_of(layout, it), it.requests > 0 ? one : 0) << it.name;
}

TEST(CacheProperty, ClosedFormEqualsEnumeration) {
  for_random_models(closed_form_equals_enumeration);
}
TEST(CacheProperty, MoreTokensOrRequestsNeverCostLess) {
  for_random_models(more_tokens_or_requests_never_cost_less);
}
TEST(CacheProperty, MoreLayersNeverCostLess) { for_random_models(more_layers_never_cost_less); }
TEST(CacheProperty, RanksHoldAtLeastTheWhole) { for_random_models(ranks_hold_at_least_the_whole); }
TEST(CacheProperty, BlocksWasteLessThanOneEach) {
  for_random_models(blocks_waste_less_than_one_each);
}
TEST(CacheProperty, SharingSavesButKeepsOneRequest) {
  for_random_models(sharing_saves_but_keeps_one_request);
}

TEST(PresetCacheProperty, ClosedFormEqualsEnumeration) {
  for_presets(closed_form_equals_enumeration);
}
TEST(PresetCacheProperty, MoreTokensOrRequestsNeverCostLess) {
  for_presets(more_tokens_or_requests_never_cost_less);
}
TEST(PresetCacheProperty, RanksHoldAtLeastTheWhole) { for_presets(ranks_hold_at_least_the_whole); }
TEST(PresetCacheProperty, BlocksWasteLessThanOneEach) {
  for_presets(blocks_waste_less_than_one_each);
}
TEST(PresetCacheProperty, SharingSavesButKeepsOneRequest) {
  for_presets(sharing_saves_but_keeps_one_request);
}

}  // namespace
}  // namespace vramgauge

#include <algorithm>

#include "engine/cache_sums.h"
#include "engine/vllm_kv_specs.h"
#include "units/index.h"

namespace vramgauge {
namespace {

/// Of a latent of DeepSeek-V4: 448 B without rotation, 128 B rotary key, 8 B of scales.
constexpr uint64_t kEntryBytes = 584;
/// Pages are whole multiples of what FlashMLA reads.
constexpr uint64_t kPageMultiple = 576;
constexpr uint64_t kBlockTokens = 256;
constexpr uint64_t kWindowBlockTokens = 64;
constexpr uint64_t kFloatBytes = 4;
/// Neighbouring entries overlap at this ratio.
constexpr uint64_t kOverlappingRatio = 4;

/// Stands for a page that cannot be counted: the sum over layers is refused.
constexpr uint64_t kTooMany = UINT64_MAX;

uint64_t aligned(CheckedU64 bytes) { return round_up(bytes, kPageMultiple).value_or(kTooMany); }

/// The unfinished entry: a key and a score, in fp32, for the tokens it covers.
VllmKvSpec compressor_state(uint64_t width, uint64_t ratio) {
  const uint64_t overlap = ratio == kOverlappingRatio ? 2 : 1;
  VllmKvSpec spec;
  spec.kind = VllmKvKind::sliding;
  spec.block_tokens = 8 / overlap;
  spec.span_tokens = overlap * ratio;
  spec.page_bytes = aligned(CheckedU64(width) * (spec.block_tokens * overlap * 2 * kFloatBytes));
  return spec;
}

/// Stages of the layers that have pages of one size.
struct Bucket {
  uint64_t page_bytes = 0;
  std::vector<uint64_t> stages;
};
using Buckets = std::vector<Bucket>;

void add_to(Buckets& buckets, uint64_t page_bytes, const std::vector<uint64_t>& stages) {
  auto bucket = std::find_if(buckets.begin(), buckets.end(), [page_bytes](const Bucket& each) {
    return each.page_bytes == page_bytes;
  });
  if (bucket == buckets.end()) {
    buckets.push_back({page_bytes, {}});
    bucket = buckets.end() - 1;
  }
  for (const uint64_t stage : stages)
    bucket->stages.push_back(stage);
}

/// The smallest page of full attention that holds one of `page_bytes`; 0 = none.
uint64_t page_that_holds(const Buckets& full, uint64_t page_bytes) {
  uint64_t best = 0;
  for (const Bucket& bucket : full) {
    if (bucket.page_bytes >= page_bytes && (best == 0 || bucket.page_bytes < best))
      best = bucket.page_bytes;
  }
  return best;
}

/// Groups of one kind of layer, told apart by block length and window.
struct Family {
  VllmKvSpec spec;
  Buckets buckets;

  uint64_t tuples() const {
    uint64_t most = 0;
    for (const Bucket& bucket : buckets)
      most = std::max<uint64_t>(most, bucket.stages.size());
    return most;
  }
};

bool is_family(const Family& family, const VllmKvSpec& spec) {
  return family.spec.kind == spec.kind && family.spec.block_tokens == spec.block_tokens &&
         family.spec.span_tokens == spec.span_tokens;
}

/// Full attention first: its pages are what the others are padded to.
std::vector<Family> families_of(const std::vector<VllmKvLayers>& list) {
  std::vector<Family> families;
  for (const bool is_full : {true, false}) {
    for (const VllmKvLayers& layers : list) {
      if ((layers.spec.kind == VllmKvKind::full) != is_full) continue;
      auto family = std::find_if(families.begin(), families.end(),
                                 [&](const Family& each) { return is_family(each, layers.spec); });
      if (family == families.end()) {
        families.push_back({layers.spec, {}});
        family = families.end() - 1;
      }
      add_to(family->buckets, layers.spec.page_bytes, layers.stages);
    }
  }
  return families;
}

/// Tuples of a group that pad all families the least; the larger of equals (_approximate_gcd).
uint64_t tuples_per_group(const std::vector<Family>& families) {
  uint64_t most = 0;
  for (const Family& family : families)
    most = std::max(most, family.tuples());
  uint64_t best = families.front().tuples();
  uint64_t least_padding = UINT64_MAX;
  for (uint64_t size = best; size <= most; ++size) {
    uint64_t padding = 0;
    for (const Family& family : families)
      padding += (size - family.tuples() % size) % size;
    if (padding > least_padding) continue;
    least_padding = padding;
    best = size;
  }
  return best;
}

/// Pads the pages of a family to those of full attention.
bool pad_pages(Family& family, const Buckets& full) {
  Buckets padded;
  for (const Bucket& bucket : family.buckets) {
    const uint64_t page_bytes = page_that_holds(full, bucket.page_bytes);
    if (page_bytes == 0) return false;
    add_to(padded, page_bytes, bucket.stages);
  }
  family.buckets = std::move(padded);
  return true;
}

/// The longest list of one page size in any group, of the layers that a stage holds.
uint64_t tuples_on_stage(const std::vector<Family>& families, uint64_t size, uint64_t stage) {
  uint64_t most = 0;
  for (const Family& family : families) {
    const uint64_t groups = (family.tuples() + size - 1) / size;
    for (const Bucket& bucket : family.buckets) {
      for (uint64_t group = 0; group < groups; ++group) {
        uint64_t count = 0;
        for (uint64_t i = group; i < bucket.stages.size(); i += groups)
          count += bucket.stages[index_of(i)] == stage ? 1 : 0;
        most = std::max(most, count);
      }
    }
  }
  return most;
}

/// The engine knows no others (models/deepseek_v4/compressor.py).
bool is_known_ratio(uint64_t ratio) {
  return ratio <= 1 || ratio == kOverlappingRatio || ratio == 128;
}

}  // namespace

bool add_compressed_layer(std::vector<VllmKvLayers>& list, const CompressedAttention& attention,
                          uint64_t stage) {
  const uint64_t ratio = attention.compress_ratio;
  const std::optional<Indexer>& indexer = attention.indexer;
  const uint64_t key_ratio = indexer ? std::max<uint64_t>(indexer->tokens_per_key, 1) : 1;
  if (!is_known_ratio(ratio) || !is_known_ratio(key_ratio)) return false;
  const auto entries_page = [&](uint64_t entry_bytes, uint64_t tokens_per_entry) {
    return VllmKvSpec{VllmKvKind::full, kBlockTokens,
                      aligned(CheckedU64(entry_bytes) * (kBlockTokens / tokens_per_entry)), 0};
  };
  if (ratio != 0) add_kv_layer(list, entries_page(kEntryBytes, ratio), stage);
  if (indexer && indexer->stores_keys) {
    const uint64_t key_bytes = fp8_index_key_bytes(indexer->head_dim);
    add_kv_layer(list, entries_page(key_bytes, key_ratio), stage);
    if (key_ratio > 1) add_kv_layer(list, compressor_state(indexer->head_dim, key_ratio), stage);
  }
  if (ratio != 0) add_kv_layer(list, compressor_state(attention.head_dim, ratio), stage);
  add_kv_layer(list,
               {VllmKvKind::sliding, kWindowBlockTokens, aligned(kWindowBlockTokens * kEntryBytes),
                attention.window_tokens},
               stage);
  return true;
}

bool group_compressed(const std::vector<VllmKvLayers>& list, VllmKvPlan& plan) {
  std::vector<Family> families = families_of(list);
  if (families.front().spec.kind != VllmKvKind::full) return false;
  const Buckets& full = families.front().buckets;
  uint64_t tuple_bytes = 0;
  for (const Bucket& bucket : full)
    tuple_bytes += bucket.page_bytes;
  for (size_t i = 1; i < families.size(); ++i) {
    if (!pad_pages(families[i], full)) return false;
  }
  const uint64_t size = tuples_per_group(families);
  for (const Family& family : families) {
    const uint64_t groups = (family.tuples() + size - 1) / size;
    for (uint64_t group = 0; group < groups; ++group) {
      plan.groups.push_back({family.spec.kind, family.spec.block_tokens, family.spec.span_tokens,
                             (family.tuples() + groups - 1 - group) / groups});
    }
    plan.padding_layers += groups * size - family.tuples();
  }
  uint64_t all = 0;
  for (const VllmKvGroup& group : plan.groups)
    all = std::max(all, group.layers);
  const auto num_stages = plan.stage_block_bytes.size();
  for (size_t stage = 0; stage < num_stages; ++stage) {
    const uint64_t tuples =
        num_stages == 1 ? all : tuples_on_stage(families, size, uint64_t{stage});
    plan.stage_block_bytes[stage] = tuples * tuple_bytes;
  }
  plan.model_block_bytes = all * tuple_bytes;
  return true;
}

}  // namespace vramgauge

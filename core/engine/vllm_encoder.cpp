// The largest image that a vision tower takes.
#include <algorithm>
#include <array>

#include "engine/vllm_activation.h"

namespace vramgauge {
namespace {

constexpr uint64_t kChannels = 3;

/// How a family cuts its largest image into patches.
struct ImageRule {
  std::string_view vision_type;
  /// Patches of the largest image; 0 = from image_size.
  uint64_t most_patches = 0;
  /// Frames that a patch spans.
  uint64_t frames = 1;
  /// A token ends each row.
  bool has_row_breaks = false;
  bool is_gated = false;
  uint64_t streams = 7;
};

/// Widths of a block's attention in hidden sizes: the stream and its normed copy, queries, keys and
/// values, output and projection; with queries and keys turned in fp32 (4) into results as wide (4)
/// and copies of the three (Qwen2.5-VL on 0.9.2: 16.0); with a kernel that turns them in place
/// (vllm issue 52872: 13).
constexpr uint64_t kPlainStreams = 7;
constexpr uint64_t kTurnedStreams = 16;
constexpr uint64_t kKernelStreams = 13;

/// Qwen's largest image is 16,384 tokens of four patches (max_pixels of their processors).
constexpr uint64_t kQwenPatches = 65536;
constexpr std::array<ImageRule, 9> kImageRules = {{
    {"siglip_vision_model", 0, 1, false, false, kPlainStreams},
    {"pixtral", 0, 1, true, true, kTurnedStreams},
    {"qwen2_vl", kQwenPatches, 2, false, false, kTurnedStreams},
    {"qwen2_5_vl", kQwenPatches, 2, false, true, kTurnedStreams},
    {"qwen3_vl", kQwenPatches, 2, false, false, kKernelStreams},
    {"qwen3_vl_moe", kQwenPatches, 2, false, false, kKernelStreams},
    {"qwen3_5", kQwenPatches, 2, false, false, kKernelStreams},
    {"qwen3_5_moe", kQwenPatches, 2, false, false, kKernelStreams},
    {"qwen3_8", kQwenPatches, 2, false, false, kKernelStreams},
}};

uint64_t number(const json::Value& object, std::string_view key, uint64_t fallback) {
  constexpr uint64_t kLimit = uint64_t{1} << 24;
  const json::Value* value = object.find(key);
  const std::optional<uint64_t> found = value == nullptr ? std::nullopt : value->as_u64();
  return found && *found <= kLimit ? *found : fallback;
}

std::string_view text(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const std::string* found = value == nullptr ? nullptr : value->as_string();
  return found == nullptr ? std::string_view() : std::string_view(*found);
}

const ImageRule* rule_of(std::string_view vision_type) {
  for (const ImageRule& rule : kImageRules) {
    if (rule.vision_type == vision_type) return &rule;
  }
  return nullptr;
}

/// Widths of the tower's blocks; Qwen2-VL calls them embed_dim and mlp_ratio.
void add_widths(VllmEncoderItem& item, const json::Value& vision) {
  const uint64_t embed = number(vision, "embed_dim", 0);
  item.hidden_size = embed != 0 ? embed : number(vision, "hidden_size", 0);
  item.intermediate_size =
      number(vision, "intermediate_size", item.hidden_size * number(vision, "mlp_ratio", 4));
}

}  // namespace

std::optional<VllmEncoderItem> vllm_encoder_item(const json::Value& config) {
  const json::Value* vision = config.find("vision_config");
  if (vision == nullptr || vision->as_object() == nullptr) return VllmEncoderItem{};
  std::string_view type = text(*vision, "model_type");
  if (rule_of(type) == nullptr) type = text(config, "model_type");
  const ImageRule* rule = rule_of(type);
  const uint64_t patch = number(*vision, "patch_size", 14);
  if (rule == nullptr || patch == 0) return std::nullopt;
  VllmEncoderItem item;
  add_widths(item, *vision);
  item.is_gated = rule->is_gated;
  item.streams = rule->streams;
  const uint64_t merge = std::max<uint64_t>(
      number(*vision, "spatial_merge_size", number(config, "spatial_merge_size", 1)), 1);
  if (rule->most_patches != 0) {
    item.patches = rule->most_patches;
    item.tokens = item.patches / (merge * merge);
    item.input_elements = item.patches * patch * patch * kChannels * rule->frames;
    return item;
  }
  const uint64_t image = number(*vision, "image_size", 0);
  const uint64_t side = (image + patch * merge - 1) / (patch * merge);
  if (rule->has_row_breaks) {
    item.tokens = side * (side + 1);
  } else {
    // A fixed number of tokens is pooled from the patches; other families of this tower tile.
    item.tokens = number(config, "mm_tokens_per_image", 0);
    if (item.tokens == 0) return std::nullopt;
  }
  item.patches = side * side * merge * merge;
  item.input_elements = image * image * kChannels;
  return item;
}

}  // namespace vramgauge

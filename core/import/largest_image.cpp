// The largest image that a vision tower takes.
#include "import/largest_image.h"

#include <algorithm>

namespace vramgauge {
namespace {

constexpr uint64_t kChannels = 3;
/// Qwen's largest image is 16,384 tokens of four patches (max_pixels of their processors).
constexpr uint64_t kQwenPatches = 65536;

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
};

constexpr ImageRule kImageRules[] = {
    {"siglip_vision_model", 0, 1, false, false}, {"pixtral", 0, 1, true, true},
    {"qwen2_vl", kQwenPatches, 2, false, false}, {"qwen2_5_vl", kQwenPatches, 2, false, true},
    {"qwen3_vl", kQwenPatches, 2, false, false}, {"qwen3_vl_moe", kQwenPatches, 2, false, false},
    {"qwen3_5", kQwenPatches, 2, false, false},  {"qwen3_5_moe", kQwenPatches, 2, false, false},
    {"qwen3_8", kQwenPatches, 2, false, false},
};

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
void add_widths(LargestImage& image, const json::Value& vision) {
  const uint64_t embed = number(vision, "embed_dim", 0);
  image.hidden_size = embed != 0 ? embed : number(vision, "hidden_size", 0);
  image.intermediate_size =
      number(vision, "intermediate_size", image.hidden_size * number(vision, "mlp_ratio", 4));
}

/// Tokens and patches of a square image.
void cut(LargestImage& image, const ImageRule& rule, const json::Value& config,
         const json::Value& vision, uint64_t patch) {
  const uint64_t merge = std::max<uint64_t>(
      number(vision, "spatial_merge_size", number(config, "spatial_merge_size", 1)), 1);
  if (rule.most_patches != 0) {
    image.patches = rule.most_patches;
    image.tokens = image.patches / (merge * merge);
    image.input_elements = image.patches * patch * patch * kChannels * rule.frames;
    return;
  }
  const uint64_t pixels = number(vision, "image_size", 0);
  const uint64_t side = (pixels + patch * merge - 1) / (patch * merge);
  // Others pool a fixed number of tokens from the patches; families of this tower that tile give
  // none.
  image.tokens = rule.has_row_breaks ? side * (side + 1) : number(config, "mm_tokens_per_image", 0);
  image.patches = side * side * merge * merge;
  image.input_elements = pixels * pixels * kChannels;
}

/// Nothing that a file would not be refused for.
bool is_sound(const LargestImage& image) {
  constexpr uint64_t kLimit = uint64_t{1} << 28;
  for (const uint64_t size :
       {image.tokens, image.patches, image.hidden_size, image.intermediate_size}) {
    if (size == 0 || size > kLimit) return false;
  }
  return image.input_elements > 0 && image.input_elements < uint64_t{1} << 32;
}

}  // namespace

std::optional<LargestImage> largest_image(const json::Value& config) {
  const json::Value* vision = config.find("vision_config");
  if (vision == nullptr || vision->as_object() == nullptr) return std::nullopt;
  std::string_view type = text(*vision, "model_type");
  if (rule_of(type) == nullptr) type = text(config, "model_type");
  const ImageRule* rule = rule_of(type);
  const uint64_t patch = number(*vision, "patch_size", 14);
  if (rule == nullptr || patch == 0) return std::nullopt;
  LargestImage image;
  image.tower = std::string(type);
  image.is_gated = rule->is_gated;
  add_widths(image, *vision);
  cut(image, *rule, config, *vision, patch);
  if (!is_sound(image)) return std::nullopt;
  return image;
}

}  // namespace vramgauge

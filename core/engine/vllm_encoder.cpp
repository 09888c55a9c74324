// How wide a vision tower computes.
#include "engine/vllm_activation.h"

namespace vramgauge {
namespace {

/// Widths of a block's attention in hidden sizes: the stream and its normed copy, queries, keys and
/// values, output and projection; with queries and keys turned in fp32 (4) into results as wide (4)
/// and copies of the three (Qwen2.5-VL on 0.9.2: 16.0); with a kernel that turns them in place
/// (vllm issue 52872: 13).
constexpr uint64_t kPlainStreams = 7;
constexpr uint64_t kTurnedStreams = 16;
constexpr uint64_t kKernelStreams = 13;

uint64_t streams_of(std::string_view tower) {
  if (tower == "siglip_vision_model") return kPlainStreams;
  const bool is_turned = tower == "pixtral" || tower == "qwen2_vl" || tower == "qwen2_5_vl";
  return is_turned ? kTurnedStreams : kKernelStreams;
}

}  // namespace

VllmEncoderItem vllm_encoder_item(const ModelSpec& spec) {
  if (!spec.largest_image) return {};
  const LargestImage& image = *spec.largest_image;
  return {image.tokens,           image.patches,           image.input_elements,
          image.hidden_size,      image.intermediate_size, image.is_gated,
          streams_of(image.tower)};
}

}  // namespace vramgauge

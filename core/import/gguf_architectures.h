// The architectures of GGUF files: what their files leave unsaid.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramgauge::gguf {

/// Which layers keep a window of ARCH.attention.sliding_window tokens.
enum class WindowRule {
  none,             ///< the key has no meaning
  all,              ///< every layer, when the key is there
  every_nth,        ///< all but each period-th layer
  first_of_period,  ///< all but the first layer of each period
  chunked,          ///< as every_nth, with chunks of a fixed length
  listed,           ///< only as ARCH.attention.sliding_window_pattern says
};

struct Architecture {
  /// general.architecture.
  std::string_view name;
  /// model_type of the Hugging Face configuration it is converted from.
  std::string_view model_type;
  WindowRule window = WindowRule::none;
  /// Unless ARCH.attention.sliding_window_pattern says otherwise.
  uint64_t window_period = 0;
  /// Window or chunk of files that leave the key out; 0 = none.
  uint64_t default_window_tokens = 0;
  /// Layers from this one on read the caches of earlier ones; 0 = as
  /// ARCH.attention.shared_kv_layers says.
  uint64_t first_shared_layer = 0;
  /// Some layers may have no tensors at all.
  bool has_empty_layers = false;
};

/// Null for an unknown architecture.
const Architecture* find_architecture(std::string_view name);
/// The first architecture that is converted from this model_type; null when there is none.
const Architecture* find_architecture_of(std::string_view model_type);
/// True for architectures that generate nothing.
bool is_encoder(std::string_view name);

}  // namespace vramgauge::gguf

// What each attention layer keeps: the whole context, a sliding window or a chunk.
#include "import/hf_families.h"
#include "units/index.h"

namespace vramgauge::hf {
namespace {

uint64_t window_of(ConfigView& view) {
  return view.require("sliding_window", {1, kTokenRange.max});
}

LayerSpan span_of_type(ConfigView& view, const std::string& type) {
  // A sparse layer reads part of the context but keeps all of it.
  if (type == "full_attention" || type == "global" || type == "attention" ||
      type == "deepseek_sparse_attention") {
    return {};
  }
  if (type == "sliding_attention" || type == "local") return {window_of(view), 0};
  if (type == "chunked_attention") {
    return {0, view.require("attention_chunk_size", {1, kTokenRange.max})};
  }
  view.error(ErrorCode::model_unknown_layer_type, "layer_types", {{"layer_type", type}});
  return {};
}

std::vector<LayerSpan> spans_of_types(ConfigView& view, const std::vector<std::string>& types) {
  std::vector<LayerSpan> spans;
  for (const std::string& type : types) {
    spans.push_back(span_of_type(view, type));
    if (!view.reader().errors().empty()) break;
  }
  spans.resize(types.size());
  return spans;
}

/// The period of full layers: a number, or a string such as "LLLG".
uint64_t read_period(ConfigView& view, uint64_t fallback) {
  const json::Value* value = view.raw("sliding_window_pattern");
  if (value == nullptr) return fallback;
  const std::string* letters = value->as_string();
  if (letters == nullptr) return view.u64_or("sliding_window_pattern", fallback, kLayerRange);
  const bool is_period = !letters->empty() && letters->find('G') == letters->size() - 1 &&
                         letters->find_first_not_of("LG") == std::string::npos;
  if (is_period) return letters->size();
  view.error(ErrorCode::model_unknown_layer_type, "sliding_window_pattern",
             {{"layer_type", *letters}});
  return 1;
}

bool is_windowed(WindowRule rule, uint64_t layer, uint64_t first, uint64_t period) {
  switch (rule) {
    case WindowRule::none: return false;
    case WindowRule::all: return true;
    case WindowRule::upper: return layer >= first;
    case WindowRule::every_nth: return (layer + 1) % period != 0;
    case WindowRule::first_of_period: return layer % period != 0;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> read_layer_types(ConfigView& view, uint64_t num_layers) {
  auto types = view.strings("layer_types");
  if (types && types->size() != num_layers) {
    view.bad_pattern("layer_types", num_layers,
                     "it has " + std::to_string(types->size()) + " items");
    return std::nullopt;
  }
  return types;
}

std::vector<LayerSpan> read_spans(Import& import, const Traits& traits, uint64_t num_layers) {
  ConfigView& view = import.text();
  std::vector<LayerSpan> spans(static_cast<size_t>(num_layers));
  if (traits.window == WindowRule::none) {
    view.ignore("sliding_window");
    if (!view.given("layer_types")) return spans;
  }
  if (const auto types = read_layer_types(view, num_layers)) {
    for (std::string_view key : {"sliding_window", "sliding_window_pattern"})
      view.ignore(key);
    return spans_of_types(view, *types);
  }
  if (traits.window == WindowRule::upper && !view.flag("use_sliding_window", false)) {
    view.ignore("sliding_window");
    return spans;
  }
  const uint64_t window = view.u64_or("sliding_window", 0, kTokenRange);
  if (window == 0) return spans;
  const uint64_t first =
      traits.window == WindowRule::upper ? view.u64_or("max_window_layers", 0) : 0;
  const uint64_t period = read_period(view, traits.window_period == 0 ? 1 : traits.window_period);
  for (uint64_t layer = 0; layer < num_layers; ++layer) {
    if (is_windowed(traits.window, layer, first, period))
      spans[index_of(layer)].window_tokens = window;
  }
  return spans;
}

}  // namespace vramgauge::hf

// What each layer of a GGUF model keeps of the context.
#include "import/gguf_spans.h"

#include <string>
#include <variant>

namespace vramgauge::gguf {
namespace {

constexpr std::string_view kPattern = "attention.sliding_window_pattern";
constexpr uint64_t kMaxTokens = uint64_t{1} << 40;

bool is_windowed(WindowRule rule, uint64_t layer, uint64_t period) {
  switch (rule) {
    case WindowRule::none:
    case WindowRule::listed: return false;
    case WindowRule::all: return true;
    case WindowRule::every_nth:
    case WindowRule::chunked: return period != 0 && (layer + 1) % period != 0;
    case WindowRule::first_of_period: return period != 0 && layer % period != 0;
  }
  return false;
}

class SpanReader {
 public:
  SpanReader(LayerContext& context, const GgufHeader& header, uint64_t num_layers)
      : keys_(context.keys), architecture_(context.architecture), num_layers_(num_layers) {
    const GgufValue* pattern = header.find(keys_.prefix() + std::string(kPattern));
    if (pattern != nullptr) list_ = std::get_if<GgufArray>(pattern);
  }

  std::vector<Span> read(Diagnostics& warnings) {
    std::vector<Span> spans(static_cast<size_t>(num_layers_));
    const uint64_t window = read_window(warnings);
    if (window != 0) fill(spans, window);
    share(spans);
    return spans;
  }

 private:
  /// Length of the window; 0 = every layer keeps the whole context.
  uint64_t read_window(Diagnostics& warnings) {
    const auto given = keys_.find("attention.sliding_window", kMaxTokens);
    if (given && *given != 0 && architecture_.window == WindowRule::none) {
      warnings.push_back(
          {ErrorCode::model_not_exact,
           "",
           {{"what", "The sliding window"},
            {"model_type", architecture_.name},
            {"reason", std::string("which layers use it is not known, so every layer "
                                   "is taken to keep the whole context")}},
           std::nullopt});
      return 0;
    }
    if (architecture_.window == WindowRule::chunked && given.value_or(1) != 0)
      return architecture_.default_window_tokens;
    return given.value_or(architecture_.default_window_tokens);
  }

  void fill(std::vector<Span>& spans, uint64_t window) {
    uint64_t period = architecture_.window_period;
    if (list_ == nullptr) period = keys_.find(kPattern).value_or(period);
    for (uint64_t layer = 0; layer < num_layers_; ++layer) {
      const bool is_limited =
          list_ != nullptr ? is_listed(layer) : is_windowed(architecture_.window, layer, period);
      if (!is_limited) continue;
      Span& span = spans[static_cast<size_t>(layer)];
      const bool is_chunk = architecture_.window == WindowRule::chunked;
      (is_chunk ? span.chunk_tokens : span.window_tokens) = window;
    }
  }

  bool is_listed(uint64_t layer) { return keys_.find_at(kPattern, layer, 1).value_or(0) != 0; }

  /// The last layers read the cache of the last earlier layer of their kind.
  void share(std::vector<Span>& spans) {
    uint64_t first = architecture_.first_shared_layer;
    if (first == 0)
      first = num_layers_ - keys_.find("attention.shared_kv_layers", num_layers_).value_or(0);
    for (uint64_t layer = first; layer < num_layers_; ++layer) {
      uint64_t source = first;
      const bool has_window = spans[static_cast<size_t>(layer)].window_tokens != 0;
      while (source > 0 &&
             (spans[static_cast<size_t>(source - 1)].window_tokens != 0) != has_window) {
        --source;
      }
      if (source == 0) {
        keys_.error(ErrorCode::gguf_bad_key, "attention.shared_kv_layers",
                    {{"expected", "fewer layers, so that one of each kind is left to share from"}});
        return;
      }
      spans[static_cast<size_t>(layer)].shared_with = source - 1;
    }
  }

  Keys& keys_;
  const Architecture& architecture_;
  uint64_t num_layers_;
  const GgufArray* list_ = nullptr;
};

}  // namespace

std::vector<Span> read_spans(LayerContext& context, const GgufHeader& header, uint64_t num_layers,
                             Diagnostics& warnings) {
  return SpanReader(context, header, num_layers).read(warnings);
}

}  // namespace vramgauge::gguf

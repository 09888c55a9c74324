#include "specs/quantization.h"

namespace vramgauge {

std::optional<std::string> ModuleList::add(std::string_view text, Style style) {
  const uint64_t index = texts_.size();
  const bool is_name = style == Style::names && text.find_first_of("*?[") == std::string_view::npos;
  if (is_name) {
    names_.emplace(text, index);
  } else {
    auto pattern =
        style == Style::names ? NamePattern::file_name(text) : NamePattern::expression(text);
    if (!pattern) return std::move(pattern.error());
    patterns_.push_back({index, std::move(*pattern)});
  }
  texts_.emplace_back(text);
  return std::nullopt;
}

std::optional<uint64_t> ModuleList::find(std::string_view module) const {
  // Every run of whole parts: "mlp.gate" in "model.layers.3.mlp.gate".
  for (std::string_view rest = module; !names_.empty();) {
    for (std::string_view run = rest;;) {
      if (const auto found = names_.find(run); found != names_.end()) return found->second;
      const auto last = run.rfind('.');
      if (last == std::string_view::npos) break;
      run = run.substr(0, last);
    }
    const auto dot = rest.find('.');
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  for (const Pattern& pattern : patterns_) {
    if (pattern.matcher.matches(module)) return pattern.index;
  }
  return std::nullopt;
}

}  // namespace vramgauge

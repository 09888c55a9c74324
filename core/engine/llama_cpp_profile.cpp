#include "engine/llama_cpp_profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace vramgauge {
namespace {

constexpr double kMaxConstant = 1e9;

/// Looks constants up as they are for one build.
class ProfileReader {
 public:
  ProfileReader(const json::Value& entry, uint64_t build) : build_(build) {
    const json::Value* list = entry.find("constants");
    rows_ = list == nullptr ? nullptr : list->as_array();
  }

  LlamaCppBandedBytes mebibytes(std::string_view key) {
    const json::Value* row = find(key);
    return {MiB(number(row, "value")), MiB(number(row, "low")), MiB(number(row, "high"))};
  }

  uint64_t count(std::string_view key) { return number(find(key), "value"); }
  bool is_on(std::string_view key) { return count(key) != 0; }
  Diagnostics take_errors() { return std::move(errors_); }

 private:
  /// The last entry of the key that is not newer than the build.
  const json::Value* find(std::string_view key) {
    const json::Value* found = nullptr;
    for (size_t i = 0; rows_ != nullptr && i < rows_->size(); ++i) {
      const json::Value& row = (*rows_)[i];
      if (text_of(row, "key") == key && since(row) <= build_) found = &row;
    }
    if (found == nullptr)
      errors_.push_back({ErrorCode::json_missing_key, "/constants", {{"key", key}}, std::nullopt});
    return found;
  }

  static std::string_view text_of(const json::Value& row, std::string_view member) {
    const json::Value* value = row.find(member);
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    return text == nullptr ? std::string_view() : *text;
  }

  static uint64_t since(const json::Value& row) {
    const std::string_view text = text_of(row, "since");
    return text.empty() ? 0 : llama_cpp_build(text).value_or(kNewestLlamaCppBuild);
  }

  static uint64_t number(const json::Value* row, std::string_view member) {
    const json::Value* value = row == nullptr ? nullptr : row->find(member);
    const json::Number* number = value == nullptr ? nullptr : value->as_number();
    if (number == nullptr || !std::isfinite(number->real)) return 0;
    return static_cast<uint64_t>(std::clamp(number->real, 0.0, kMaxConstant));
  }

  const json::Value::Array* rows_ = nullptr;
  uint64_t build_;
  Diagnostics errors_;
};

LlamaCppRules read_rules(ProfileReader& reader) {
  LlamaCppRules rules;
  rules.windowed_caches = reader.is_on("windowed_caches");
  rules.window_room_by_ubatch = reader.is_on("window_room_by_ubatch");
  rules.split_streams = reader.is_on("split_streams");
  rules.cells_as_asked = reader.is_on("cells_as_asked");
  rules.cells_in_256 = reader.is_on("cells_in_256");
  rules.latent_alone = reader.is_on("latent_alone");
  rules.sparse_caches = reader.is_on("sparse_caches");
  rules.output_limit = reader.is_on("output_limit");
  return rules;
}

}  // namespace

std::optional<uint64_t> llama_cpp_build(std::string_view text) {
  if (text.size() < 2 || text.front() != 'b') return std::nullopt;
  uint64_t build = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, build);
  if (error != std::errc() || stop != end) return std::nullopt;
  return build;
}

Result<LlamaCppProfile> llama_cpp_profile(const json::Value& entry, uint64_t build) {
  ProfileReader reader(entry, build);
  LlamaCppProfile profile;
  profile.constants.cuda_context = reader.mebibytes("cuda_context_mib");
  profile.constants.prompt_cache = reader.mebibytes("prompt_cache_mib").value;
  profile.constants.context_checkpoints = reader.count("context_checkpoints");
  profile.rules = read_rules(reader);
  const json::Value* source = entry.find("source");
  if (source != nullptr && source->as_string() != nullptr) profile.source = *source->as_string();
  Diagnostics errors = reader.take_errors();
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

}  // namespace vramgauge

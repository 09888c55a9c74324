#include "import/spec_fields.h"

#include <algorithm>

namespace vramgauge::spec {
namespace {

constexpr std::string_view kRoles[] = {
    "embedding",
    "position_embedding",
    "output",
    "norm",
    "attention_q",
    "attention_k",
    "attention_v",
    "attention_qkv",
    "attention_output",
    "attention_other",
    "recurrent",
    "mlp_gate",
    "mlp_up",
    "mlp_down",
    "expert_gate",
    "expert_up",
    "expert_down",
    "shared_expert_gate",
    "shared_expert_up",
    "shared_expert_down",
    "router",
    "vision",
    "audio",
    "projector",
    "mtp",
    "other",
};

constexpr Names kRoleNames = names(kRoles);

/// In the order of Limit.
constexpr json::Range kLimits[] = {
    {1, uint64_t{1} << 16},
    {0, uint64_t{1} << 16},
    {1, uint64_t{1} << 28},
    {0, uint64_t{1} << 28},
    {1, uint64_t{1} << 20},
    {0, uint64_t{1} << 20},
    {0, uint64_t{1} << 40},
    {1, uint64_t{1} << 32},
    {0, kMaxApiBytes},
    {1, 64},
    {0, 64},
    {1, uint64_t{1} << 50},
    {0, uint64_t{1} << 40},
    {4, 7},
    {1, 1},
};
/// As many tensors as a GGUF header may have.
constexpr uint64_t kMaxListed = 262'144;
/// How much of a text an error repeats.
constexpr uint64_t kShownBytes = 40;

std::string joined(Names names) {
  std::string text;
  for (uint64_t i = 0; i < names.size; ++i)
    text += (text.empty() ? "" : ", ") + std::string(names.begin[i]);
  return text;
}

/// Undoes packed(); nothing when the text is not of that form or beyond its bounds.
std::optional<std::vector<uint64_t>> unpacked(const json::Value::Array& items, uint64_t max_value,
                                              uint64_t max_size) {
  std::vector<uint64_t> values;
  for (const json::Value& item : items) {
    std::vector<uint64_t> pattern;
    uint64_t times = 1;
    if (const json::Value::Array* list = item.as_array()) {
      times = list->size() < 2 ? 0 : list->front().as_u64().value_or(0);
      for (uint64_t i = 1; i < list->size(); ++i)
        pattern.push_back((*list)[index_of(i)].as_u64().value_or(UINT64_MAX));
    } else {
      pattern.push_back(item.as_u64().value_or(UINT64_MAX));
    }
    const bool is_sound = std::all_of(pattern.begin(), pattern.end(),
                                      [&](uint64_t value) { return value <= max_value; });
    const uint64_t room = max_size - values.size();
    if (!is_sound || times == 0 || times > room || pattern.size() > room / times)
      return std::nullopt;
    for (uint64_t i = 0; i < times; ++i)
      values.insert(values.end(), pattern.begin(), pattern.end());
  }
  return values;
}

const ErrorInfo* find_code(std::string_view name, Severity severity) {
  const ErrorTable table = error_table();
  const auto* end = table.rows + table.size;
  const auto* row = std::find_if(table.rows, end, [&](const ErrorInfo& info) {
    return info.name == name && info.severity == severity;
  });
  return row == end ? nullptr : row;
}

/// The name of an argument as the code's own texts spell it, which live for ever; or nothing.
std::string_view argument_name(const ErrorInfo& info, std::string_view name) {
  const std::string braced = "{" + std::string(name) + "}";
  for (const std::string_view text : {info.text, info.hint}) {
    const auto at = text.find(braced);
    if (at != std::string_view::npos) return text.substr(at + 1, name.size());
  }
  return {};
}

}  // namespace

Fields::Fields(const json::Value& in, std::string path, Diagnostics& errors) {
  reader_.emplace(in, std::move(path), errors);
}

void Fields::error(ErrorCode code, std::string_view key, ErrorArgs args) {
  reader_->error(code, key, std::move(args));
}

void Fields::finish() {
  for (const std::string& key : reader_->unread_keys())
    error(ErrorCode::model_unknown_structural_key, key, {{"key", key}});
}

void Fields::number(const char* key, uint64_t& value, Limit limit, uint64_t fallback) {
  if (!is_reading()) {
    if (value != fallback) out_->number(key, value);
    return;
  }
  const json::Range range = kLimits[static_cast<size_t>(limit)];
  const bool is_required = fallback < range.min;
  if (is_required && !reader_->has(key))
    error(ErrorCode::json_missing_key, key, {{"key", std::string_view(key)}});
  value = reader_->u64(key, range).value_or(is_required ? range.min : fallback);
}

void Fields::optional_number(const char* key, std::optional<uint64_t>& value, Limit limit) {
  if (is_reading()) {
    value = reader_->u64(key, kLimits[static_cast<size_t>(limit)]);
  } else if (value) {
    out_->number(key, *value);
  }
}

void Fields::layer(const char* key, int64_t& value) {
  std::optional<uint64_t> layer;
  if (value >= 0) layer = static_cast<uint64_t>(value);
  optional_number(key, layer, Limit::optional_count);
  if (layer) value = static_cast<int64_t>(*layer);
}

void Fields::flag(const char* key, bool& value, bool fallback) {
  if (is_reading()) {
    value = reader_->boolean(key).value_or(fallback);
  } else if (value != fallback) {
    out_->flag(key, value);
  }
}

void Fields::text(const char* key, std::string& value) {
  if (!is_reading()) {
    if (!value.empty()) out_->text(key, value);
    return;
  }
  value = reader_->string(key).value_or("");
  if (value.size() <= kMaxTextBytes) return;
  unreadable(key, std::string_view(value).substr(0, kShownBytes), "a text of at most 1024 bytes");
}

void Fields::numbers(const char* key, std::vector<uint64_t>& values, Limit limit) {
  if (!is_reading()) {
    if (!values.empty()) out_->numbers(key, values);
    return;
  }
  if (auto list = reader_->u64_list(key, kLimits[static_cast<size_t>(limit)]))
    values = std::move(*list);
}

void Fields::texts(const char* key, std::vector<std::string>& values) {
  if (!is_reading()) {
    if (!values.empty()) out_->texts(key, values);
    return;
  }
  if (auto list = reader_->string_list(key)) values = std::move(*list);
}

void Fields::choice(const char* key, uint64_t& value, const Names& names, uint64_t fallback) {
  if (!is_reading()) {
    if (value != fallback) out_->text(key, names.begin[index_of(value)]);
    return;
  }
  value = fallback;
  const std::optional<std::string> text = reader_->string(key);
  if (!text) return;
  const std::string_view* end = names.begin + names.size;
  const std::string_view* found = std::find(names.begin, end, *text);
  if (found != end) {
    value = static_cast<uint64_t>(found - names.begin);
    return;
  }
  error(ErrorCode::value_not_a_choice, key,
        {{"key", std::string_view(key)},
         {"value", std::string_view(*text).substr(0, kShownBytes)},
         {"choices", joined(names)}});
}

void Fields::role(const char* key, TensorRole& value) {
  choice(key, value, kRoleNames, TensorRole::other);
}

void Fields::sequence(const char* key, std::vector<uint64_t>& values, uint64_t max_value,
                      uint64_t max_size) {
  if (!is_reading()) {
    if (!values.empty()) out_->sequence(key, values);
    return;
  }
  const json::Value::Array* found = reader_->array(key);
  if (found == nullptr) return;
  if (auto list = unpacked(*found, max_value, max_size)) {
    values = std::move(*list);
    return;
  }
  unreadable(key, "this list",
             "at most " + std::to_string(max_size) + " numbers up to " + std::to_string(max_value) +
                 " and repeated patterns [times, ...]");
}

void Fields::unreadable(const char* key, std::string_view value, std::string_view expected) {
  error(ErrorCode::value_unreadable, key,
        {{"key", std::string_view(key)}, {"value", value}, {"expected", expected}});
}

void Fields::read(const json::Value& in, std::string path, const Items& items, uint64_t index) {
  Fields fields(in, std::move(path), reader_->errors());
  items.describe(fields, items.list, index);
  fields.finish();
}

void Fields::list(const char* key, const Items& items) {
  if (!is_reading()) {
    if (items.size(items.list) != 0) out_->list(key, items);
    return;
  }
  const json::Value::Array* found = reader_->array(key);
  if (found == nullptr) return;
  if (found->size() > kMaxListed) {
    error(ErrorCode::json_too_many, key, {{"limit", kMaxListed}});
    return;
  }
  items.resize(items.list, found->size());
  const std::string path = reader_->path_to(key);
  for (uint64_t i = 0; i < found->size(); ++i)
    read((*found)[index_of(i)], json::pointer_to(path, i), items, i);
}

void Fields::object(const char* key, const Items& items) {
  if (!is_reading()) {
    if (items.size(items.list) != 0) out_->object(key, items);
    return;
  }
  const json::Value* found = reader_->object(key);
  if (found == nullptr) return;
  items.resize(items.list, 1);
  read(*found, reader_->path_to(key), items, 0);
}

namespace {

/// Reads one diagnostic; a code or an argument that is not known is reported by its key.
class DiagnosticReader {
 public:
  DiagnosticReader(const json::Value& in, std::string path, Severity severity, Diagnostics& errors)
      : reader_(in, std::move(path), errors), severity_(severity) {}

  void read(Diagnostics& list) {
    const std::string code = reader_.string("code").value_or("");
    const std::string path = reader_.string("path").value_or("");
    const json::Value* args = reader_.object("args");
    const ErrorInfo* info = find_code(code, severity_);
    if (info == nullptr) {
      refuse("code");
      return;
    }
    for (const std::string& key : reader_.unread_keys())
      refuse(key);
    list.push_back({info->code, path, {}, std::nullopt});
    if (args == nullptr) return;
    for (const json::Member& member : *args->as_object())
      add(*info, member, list.back().args);
  }

 private:
  void add(const ErrorInfo& info, const json::Member& member, ErrorArgs& args) {
    const std::string_view name = argument_name(info, member.key);
    if (name.empty()) {
      refuse("args");
    } else if (const std::string* text = member.value.as_string()) {
      args.push_back({name, *text});
    } else if (const auto number = member.value.as_u64()) {
      args.push_back({name, *number});
    } else {
      reader_.wrong_type("args", "an object of texts and whole numbers", member.value);
    }
  }

  void refuse(std::string_view key) {
    reader_.error(ErrorCode::model_unknown_structural_key, key, {{"key", key}});
  }

  json::ObjectReader reader_;
  Severity severity_;
};

}  // namespace

void Fields::diagnostics(const char* key, Diagnostics& list, Severity severity) {
  if (!is_reading()) {
    if (!list.empty()) out_->diagnostics(key, list);
    return;
  }
  const json::Value::Array* found = reader_->array(key);
  if (found == nullptr) return;
  const std::string path = reader_->path_to(key);
  for (uint64_t i = 0; i < found->size(); ++i) {
    DiagnosticReader((*found)[index_of(i)], json::pointer_to(path, i), severity, reader_->errors())
        .read(list);
  }
}

}  // namespace vramgauge::spec

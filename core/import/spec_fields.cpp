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

constexpr uint64_t kMaxTexts = 4096;
/// Longest pattern that is looked for in a sequence.
constexpr uint64_t kMaxPattern = 128;

std::string joined(Names names) {
  std::string text;
  for (uint64_t i = 0; i < names.size; ++i)
    text += (text.empty() ? "" : ", ") + std::string(names.begin[i]);
  return text;
}

/// How often the `period` numbers from `at` on repeat.
uint64_t repeats(const std::vector<uint64_t>& values, uint64_t at, uint64_t period) {
  uint64_t same = 0;
  while (at + period + same < values.size() &&
         values[index_of(at + same)] == values[index_of(at + period + same)]) {
    ++same;
  }
  return same / period + 1;
}

struct Pattern {
  uint64_t period = 1;
  uint64_t times = 1;
};

/// The pattern from `at` on that saves the most numbers.
Pattern best_pattern(const std::vector<uint64_t>& values, uint64_t at) {
  Pattern best;
  uint64_t saved = 1;
  for (uint64_t period = 1; period <= kMaxPattern && at + 2 * period <= values.size(); ++period) {
    const uint64_t times = repeats(values, at, period);
    if ((times - 1) * period <= saved) continue;
    saved = (times - 1) * period;
    best = {period, times};
  }
  return best;
}

json::Value packed(const std::vector<uint64_t>& values) {
  json::Value out = json::Value::array();
  for (uint64_t at = 0; at < values.size();) {
    const Pattern pattern = best_pattern(values, at);
    json::Value item = json::Value::array();
    item.push(json::Value::integer(pattern.times));
    for (uint64_t i = 0; i < pattern.period; ++i)
      item.push(json::Value::integer(values[index_of(at + i)]));
    out.push(pattern.times > 1 ? std::move(item) : json::Value::integer(values[index_of(at)]));
    at += pattern.period * pattern.times;
  }
  return out;
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

void Fields::error(ErrorCode code, std::string_view key, ErrorArgs args) {
  reader_->error(code, key, std::move(args));
}

void Fields::missing(std::string_view key) {
  error(ErrorCode::json_missing_key, key, {{"key", key}});
}

void Fields::finish() {
  for (const std::string& key : reader_->unread_keys())
    error(ErrorCode::model_unknown_structural_key, key, {{"key", key}});
}

void Fields::number(std::string_view key, uint64_t& value, json::Range range, uint64_t fallback) {
  if (!is_reading()) {
    if (value != fallback) out_->set(key, value);
    return;
  }
  const bool is_required = fallback < range.min;
  if (is_required && !reader_->has(key)) missing(key);
  value = reader_->u64(key, range).value_or(is_required ? range.min : fallback);
}

void Fields::optional_number(std::string_view key, std::optional<uint64_t>& value,
                             json::Range range) {
  if (is_reading()) {
    value = reader_->u64(key, range);
  } else if (value) {
    out_->set(key, *value);
  }
}

void Fields::layer(std::string_view key, int64_t& value) {
  std::optional<uint64_t> layer;
  if (value >= 0) layer = static_cast<uint64_t>(value);
  optional_number(key, layer, kOptionalCount);
  if (layer) value = static_cast<int64_t>(*layer);
}

void Fields::flag(std::string_view key, bool& value, bool fallback) {
  if (is_reading()) {
    value = reader_->boolean(key).value_or(fallback);
  } else if (value != fallback) {
    out_->set(key, json::Value::boolean(value));
  }
}

void Fields::text(std::string_view key, std::string& value, uint64_t max_bytes) {
  if (!is_reading()) {
    if (!value.empty()) out_->set(key, std::string_view(value));
    return;
  }
  value = reader_->string(key).value_or("");
  if (value.size() <= max_bytes) return;
  error(ErrorCode::value_unreadable, key,
        {{"key", key},
         {"value", std::string_view(value).substr(0, 40)},
         {"expected", "a text of at most " + std::to_string(max_bytes) + " bytes"}});
}

void Fields::numbers(std::string_view key, std::vector<uint64_t>& values, json::Range range) {
  if (is_reading()) {
    if (auto list = reader_->u64_list(key, range)) values = std::move(*list);
    return;
  }
  if (values.empty()) return;
  json::Value out = json::Value::array();
  for (const uint64_t value : values)
    out.push(json::Value::integer(value));
  out_->set(key, std::move(out));
}

void Fields::texts(std::string_view key, std::vector<std::string>& values) {
  if (!is_reading()) {
    if (values.empty()) return;
    json::Value out = json::Value::array();
    for (const std::string& value : values)
      out.push(json::Value::string(value));
    out_->set(key, std::move(out));
    return;
  }
  if (auto list = reader_->string_list(key)) values = std::move(*list);
  if (values.size() > kMaxTexts) {
    error(ErrorCode::json_too_many, key, {{"limit", kMaxTexts}});
    values.clear();
  }
}

void Fields::choice(std::string_view key, uint64_t& value, Names names, uint64_t fallback) {
  if (!is_reading()) {
    if (value != fallback) out_->set(key, names.begin[index_of(value)]);
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
  error(
      ErrorCode::value_not_a_choice, key,
      {{"key", key}, {"value", std::string_view(*text).substr(0, 40)}, {"choices", joined(names)}});
}

void Fields::role(std::string_view key, TensorRole& value, TensorRole fallback) {
  choice(key, value, names(kRoles), fallback);
}

void Fields::sequence(std::string_view key, std::vector<uint64_t>& values, uint64_t max_value,
                      uint64_t max_size) {
  if (!is_reading()) {
    if (!values.empty()) out_->set(key, packed(values));
    return;
  }
  const json::Value::Array* found = reader_->array(key);
  if (found == nullptr) return;
  auto list = unpacked(*found, max_value, max_size);
  if (list) {
    values = std::move(*list);
    return;
  }
  error(ErrorCode::value_unreadable, key,
        {{"key", key},
         {"value", "this list"},
         {"expected", "at most " + std::to_string(max_size) + " numbers up to " +
                          std::to_string(max_value) + " and repeated patterns [times, ...]"}});
}

void Fields::write_diagnostics(std::string_view key, const Diagnostics& list) {
  if (list.empty()) return;
  json::Value out = json::Value::array();
  for (const Diagnostic& diagnostic : list) {
    json::Value args = json::Value::object();
    for (const ErrorArg& arg : diagnostic.args) {
      if (const uint64_t* number = std::get_if<uint64_t>(&arg.value)) {
        args.set(arg.name, *number);
      } else {
        args.set(arg.name, std::string_view(*std::get_if<std::string>(&arg.value)));
      }
    }
    json::Value item = json::Value::object();
    item.set("code", error_info(diagnostic.code).name);
    if (!diagnostic.path.empty()) item.set("path", std::string_view(diagnostic.path));
    if (!args.as_object()->empty()) item.set("args", std::move(args));
    out.push(std::move(item));
  }
  out_->set(key, std::move(out));
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

void Fields::diagnostics(std::string_view key, Diagnostics& list, Severity severity) {
  if (!is_reading()) {
    write_diagnostics(key, list);
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

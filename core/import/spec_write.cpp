// From a model to its document: equal layers and tensors become rows.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "import/spec_json.h"
#include "import/spec_parts.h"

namespace vramgauge {
namespace {

using spec::Document;
using spec::Fields;
using spec::LayerTable;
using spec::QuantizationTable;
using spec::StoredRow;
using spec::StoredTable;

/// Longest pattern that is looked for in a sequence.
constexpr uint64_t kMaxPattern = 128;

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

json::Value written(const Diagnostic& diagnostic) {
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
  return item;
}

/// Members as an object of JSON.
class JsonOutput final : public spec::Output {
 public:
  json::Value take() { return std::move(value_); }

  void number(const char* key, uint64_t value) override { value_.set(key, value); }
  void flag(const char* key, bool value) override { value_.set(key, json::Value::boolean(value)); }
  void text(const char* key, std::string_view value) override { value_.set(key, value); }
  void numbers(const char* key, const std::vector<uint64_t>& values) override {
    json::Value out = json::Value::array();
    for (const uint64_t value : values)
      out.push(json::Value::integer(value));
    value_.set(key, std::move(out));
  }
  void texts(const char* key, const std::vector<std::string>& values) override {
    json::Value out = json::Value::array();
    for (const std::string& value : values)
      out.push(json::Value::string(value));
    value_.set(key, std::move(out));
  }
  void diagnostics(const char* key, const Diagnostics& list) override {
    json::Value out = json::Value::array();
    for (const Diagnostic& diagnostic : list)
      out.push(written(diagnostic));
    value_.set(key, std::move(out));
  }
  void sequence(const char* key, const std::vector<uint64_t>& values) override {
    value_.set(key, packed(values));
  }
  void list(const char* key, const spec::Items& items) override {
    json::Value out = json::Value::array();
    for (uint64_t i = 0; i < items.size(items.list); ++i)
      out.push(item(items, i));
    value_.set(key, std::move(out));
  }
  void object(const char* key, const spec::Items& items) override {
    value_.set(key, item(items, 0));
  }

 private:
  static json::Value item(const spec::Items& items, uint64_t index) {
    JsonOutput output;
    Fields fields(output);
    items.describe(fields, items.list, index);
    return output.take();
  }

  json::Value value_ = json::Value::object();
};

template <typename T>
json::Value written(T& value) {
  JsonOutput output;
  Fields fields(output);
  describe(fields, value);
  return output.take();
}

/// Equal layers are recognised by what is written of them.
std::optional<LayerTable> table_of(std::vector<Layer> layers) {
  if (layers.empty()) return std::nullopt;
  LayerTable table;
  std::map<std::string, uint64_t> known;
  for (Layer& layer : layers) {
    const auto [kind, is_new] = known.emplace(json::write(written(layer)), table.kinds.size());
    table.order.push_back(kind->second);
    if (is_new) table.kinds.push_back(std::move(layer));
  }
  return table;
}

/// The name with "{}" for the number of the layer; as it is where no part of it is that number. A
/// file that has the sign itself gets another one: names are for people.
std::string template_of(const StoredWeight& tensor) {
  const std::string number = std::to_string(tensor.layer);
  std::string name = tensor.name;
  for (auto at = name.find("{}"); at != std::string::npos; at = name.find("{}"))
    name.replace(at, 2, "()");
  if (tensor.layer < 0) return name;
  for (auto at = name.find(number); at != std::string::npos; at = name.find(number, at + 1)) {
    const auto end = at + number.size();
    const bool is_part = at > 0 && name[at - 1] == '.' && (end == name.size() || name[end] == '.');
    if (is_part) return name.substr(0, at) + "{}" + name.substr(end);
  }
  return name;
}

/// Adds a layer to runs of first layers and lengths.
void add_layer(std::vector<uint64_t>& runs, uint64_t layer) {
  const auto size = runs.size();
  if (size != 0 && runs[size - 2] + runs[size - 1] == layer) {
    ++runs[size - 1];
  } else {
    runs.insert(runs.end(), {layer, 1});
  }
}

StoredTable table_of(const StoredModel& stored) {
  std::vector<StoredWeight> tensors = stored.tensors;
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const auto& a, const auto& b) { return a.layer < b.layer; });
  StoredTable table{stored.container, stored.architecture, {}};
  std::map<std::string, uint64_t> known;
  for (const StoredWeight& tensor : tensors) {
    StoredRow row{tensor, {}};
    row.tensor.name = template_of(tensor);
    if (tensor.layer < 0) {
      table.rows.push_back(std::move(row));
      continue;
    }
    const auto [found, is_new] = known.emplace(json::write(written(row)), table.rows.size());
    if (is_new) table.rows.push_back(std::move(row));
    add_layer(table.rows[index_of(found->second)].layers, static_cast<uint64_t>(tensor.layer));
  }
  return table;
}

QuantizationTable table_of(const ResolvedQuantization& quantization) {
  QuantizationTable table{quantization, {}};
  for (const uint32_t scheme : quantization.scheme_of_tensor) {
    if (scheme == ResolvedQuantization::kNative) {
      table.scheme_of.push_back(spec::kNativeNumber);
    } else if (scheme == ResolvedQuantization::kMixed) {
      table.scheme_of.push_back(spec::kMixedNumber);
    } else {
      table.scheme_of.push_back(spec::kFirstScheme + scheme);
    }
  }
  return table;
}

Document document_of(const SpecDocument& source) {
  Document document;
  document.marker = std::string(kSpecModelType);
  document.version = kSpecVersion;
  document.spec = source.model.spec;
  document.layers = table_of(std::move(document.spec.layers));
  document.mtp_layers = table_of(std::move(document.spec.mtp_layers));
  for (const auto& [key, value] : source.model.spec.assumptions) {
    document.assumptions.push_back(key);
    document.assumptions.push_back(value);
  }
  document.warnings = source.model.warnings;
  if (source.stored) document.stored = table_of(*source.stored);
  if (source.quantization) document.quantization = table_of(*source.quantization);
  return document;
}

}  // namespace

json::Value write_spec(const SpecDocument& document) {
  Document table = document_of(document);
  return written(table);
}

}  // namespace vramgauge

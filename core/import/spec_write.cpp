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

/// Equal layers are recognised by what is written of them.
std::optional<LayerTable> table_of(std::vector<Layer> layers) {
  if (layers.empty()) return std::nullopt;
  LayerTable table;
  std::map<std::string, uint64_t> known;
  for (Layer& layer : layers) {
    const auto [kind, is_new] =
        known.emplace(json::write(Fields::written(layer)), table.kinds.size());
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
    const auto [found, is_new] =
        known.emplace(json::write(Fields::written(row)), table.rows.size());
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
  return Fields::written(table);
}

}  // namespace vramgauge

// From a document to a model: rows are multiplied, within bounds, and checked against each other.
#include <algorithm>
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

/// What parts of a model take in memory once its tensors are listed, with room to spare: the same
/// on every machine.
constexpr uint64_t kLayerCost = 2048;
constexpr uint64_t kMixerCost = 2048;
constexpr uint64_t kTensorCost = 256;
constexpr uint64_t kMaxCost = uint64_t{64} << 20;
constexpr uint64_t kMaxGgufDims = 4;
constexpr uint64_t kMaxDims = 16;

uint64_t cost_of(const Layer& layer) {
  uint64_t cost = kLayerCost + kMixerCost * layer.mixers.size() + kTensorCost * layer.norms.size();
  for (const ExtraTensor& extra : layer.extras)
    cost += kTensorCost + extra.name.size();
  return cost;
}

class Expander {
 public:
  explicit Expander(Diagnostics& errors) : errors_(errors) {}

  SpecDocument expand(Document& document) {
    SpecDocument out;
    out.model.spec = std::move(document.spec);
    out.model.warnings = std::move(document.warnings);
    ModelSpec& spec = out.model.spec;
    if (!document.layers || document.layers->order.empty()) {
      error(ErrorCode::json_missing_key, "/layers", {{"key", "layers"}});
    }
    expand(document.layers, "/layers", spec.layers);
    expand(document.mtp_layers, "/mtp_layers", spec.mtp_layers);
    expand_assumptions(document.assumptions, spec);
    check(spec, spec.layers, 0, "/layers");
    check(spec, spec.mtp_layers, spec.layers.size(), "/mtp_layers");
    if (document.stored) out.stored = expand(*document.stored);
    if (document.quantization) out.quantization = expand(*document.quantization);
    return out;
  }

 private:
  void error(ErrorCode code, std::string path, ErrorArgs args) {
    errors_.push_back({code, std::move(path), std::move(args)});
  }

  void inconsistent(std::string path, std::string_view key, std::string_view other,
                    std::string_view detail) {
    error(ErrorCode::model_inconsistent, std::move(path),
          {{"key", key}, {"other", other}, {"detail", detail}});
  }

  /// False, and an error, when `count` copies of something are too much.
  bool take(uint64_t count, uint64_t cost, std::string_view path) {
    const uint64_t needed = (CheckedU64(count) * cost).value_or(UINT64_MAX);
    if (needed <= left_) {
      left_ -= needed;
      return true;
    }
    error(ErrorCode::value_overflow, std::string(path), {{"what", "the model"}});
    return false;
  }

  void expand(const std::optional<LayerTable>& table, std::string_view path,
              std::vector<Layer>& layers) {
    if (!table || !errors_.empty()) return;
    for (const uint64_t kind : table->order) {
      if (kind >= table->kinds.size()) {
        inconsistent(std::string(path) + "/order", "order", "kinds", "there is no such layer");
        return;
      }
      const Layer& layer = table->kinds[index_of(kind)];
      if (!take(1, cost_of(layer), path)) return;
      layers.push_back(layer);
    }
  }

  void expand_assumptions(const std::vector<std::string>& texts, ModelSpec& spec) {
    if (texts.size() % 2 != 0)
      inconsistent("/assumptions", "assumptions", "itself", "keys and values come in pairs");
    for (size_t i = 0; i + 1 < texts.size(); i += 2)
      spec.assumptions.emplace_back(texts[i], texts[i + 1]);
  }

  /// `first` is the index of the first of these layers in the model.
  void check(const ModelSpec& spec, const std::vector<Layer>& layers, uint64_t first,
             std::string_view path) {
    for (uint64_t i = 0; i < layers.size() && errors_.empty(); ++i) {
      for (const Mixer& mixer : layers[index_of(i)].mixers) {
        if (const auto* attention = std::get_if<Attention>(&mixer))
          check(spec, *attention, first + i, path);
      }
    }
  }

  void check(const ModelSpec& spec, const Attention& attention, uint64_t layer,
             std::string_view path) {
    if (attention.num_heads % attention.num_kv_heads != 0) {
      error(ErrorCode::model_heads_not_divisible, std::string(path),
            {{"heads", attention.num_heads}, {"kv_heads", attention.num_kv_heads}});
    }
    if (!attention.cache_shared_with) return;
    const uint64_t source = *attention.cache_shared_with;
    if (source < layer && source < spec.layers.size() && has_cache(spec.layers[index_of(source)]))
      return;
    inconsistent(std::string(path), "cache_shared_with", "the layers",
                 "layer " + std::to_string(layer) + " reads the cache of layer " +
                     std::to_string(source) + ", which must come before it and have one");
  }

  static bool has_cache(const Layer& layer) {
    return std::any_of(layer.mixers.begin(), layer.mixers.end(), [](const Mixer& mixer) {
      const auto* attention = std::get_if<Attention>(&mixer);
      return attention != nullptr && !attention->cache_shared_with;
    });
  }

  StoredModel expand(const StoredTable& table) {
    StoredModel stored{table.container, table.architecture, {}};
    for (uint64_t i = 0; i < table.rows.size() && errors_.empty(); ++i) {
      expand(table.rows[index_of(i)], json::pointer_to("/stored/tensors", i), stored);
    }
    return stored;
  }

  void expand(const StoredRow& row, const std::string& path, StoredModel& stored) {
    check(row.tensor, path, stored.container);
    if (!is_template(row.tensor.name, !row.layers.empty()))
      inconsistent(path + "/name", "name", "layers", "{} stands for the layer, once, as a part");
    const uint64_t cost = kTensorCost + row.tensor.name.size() + 8 * row.tensor.dims.size();
    if (row.layers.empty() && take(1, cost, path)) stored.tensors.push_back(row.tensor);
    if (row.layers.size() % 2 != 0) {
      inconsistent(path + "/layers", "layers", "itself", "first layers and counts come in pairs");
      return;
    }
    for (size_t i = 0; i < row.layers.size(); i += 2) {
      if (!take(row.layers[i + 1], cost, path)) return;
      for (uint64_t layer = 0; layer < row.layers[i + 1]; ++layer)
        stored.tensors.push_back(in_layer(row.tensor, row.layers[i] + layer));
    }
  }

  /// A whole part of the name, and only one, stands for the layer.
  static bool is_template(std::string_view name, bool has_layers) {
    const auto at = name.find("{}");
    if (at == std::string_view::npos) return true;
    const std::string_view rest = name.substr(at + 2);
    return has_layers && at > 0 && name[at - 1] == '.' && (rest.empty() || rest.front() == '.') &&
           rest.find("{}") == std::string_view::npos;
  }

  static StoredWeight in_layer(StoredWeight tensor, uint64_t layer) {
    tensor.layer = static_cast<int64_t>(layer);
    const auto at = tensor.name.find("{}");
    if (at != std::string::npos) tensor.name.replace(at, 2, std::to_string(layer));
    return tensor;
  }

  /// A GGUF file's own format gives the bytes; of safetensors they are taken as they stand.
  void check(const StoredWeight& tensor, const std::string& path,
             StoredModel::Container container) {
    const bool is_gguf = container == StoredModel::Container::gguf;
    if (tensor.dims.size() > (is_gguf ? kMaxGgufDims : kMaxDims))
      inconsistent(path + "/dims", "dims", "the format", "there are too many");
    if (is_gguf && spec::gguf_bytes_of(tensor) != tensor.bytes)
      inconsistent(path, "bytes", "type and dims", "they give another size, or none");
  }

  ResolvedQuantization expand(QuantizationTable& table) {
    ResolvedQuantization out = std::move(table.quantization);
    for (uint64_t i = 0; i < out.schemes.size(); ++i)
      check(out.schemes[index_of(i)], json::pointer_to("/quantization/schemes", i));
    for (const uint64_t number : table.scheme_of) {
      const uint32_t scheme = number == spec::kNativeNumber  ? ResolvedQuantization::kNative
                              : number == spec::kMixedNumber ? ResolvedQuantization::kMixed
                                                             : scheme_index(number);
      out.scheme_of_tensor.push_back(scheme);
    }
    if (out.refused.empty() == out.scheme_of_tensor.empty())
      inconsistent("/quantization", "scheme_of", "refused", "there must be one of the two");
    return out;
  }

  static uint32_t scheme_index(uint64_t number) {
    return static_cast<uint32_t>(number - spec::kFirstScheme);
  }

  /// Sizes that formulas divide by.
  void check(const QuantScheme& scheme, const std::string& path) {
    using Kind = QuantScheme::Kind;
    const bool has_groups = scheme.kind == Kind::nvfp4 || scheme.kind == Kind::microscaled;
    const bool has_blocks = scheme.span == QuantScheme::Span::block;
    if (has_groups && scheme.group_size == 0)
      inconsistent(path, "group_size", "kind", "such codes have groups");
    if (has_blocks && (scheme.block_rows == 0 || scheme.block_cols == 0))
      inconsistent(path, "block_rows", "span", "blocks have rows and columns");
  }

  Diagnostics& errors_;
  uint64_t left_ = kMaxCost;
};

}  // namespace

Result<SpecDocument> read_spec(const json::Value& value) {
  Diagnostics errors;
  Document document;
  Fields fields(value, "", errors);
  describe(fields, document);
  if (document.marker != kSpecModelType) {
    fields.error(ErrorCode::value_not_a_choice, "model_type",
                 {{"key", "model_type"}, {"value", document.marker}, {"choices", kSpecModelType}});
  }
  fields.finish();
  if (!errors.empty()) return fail(std::move(errors));
  SpecDocument out = Expander(errors).expand(document);
  if (!errors.empty()) return fail(std::move(errors));
  return out;
}

}  // namespace vramgauge

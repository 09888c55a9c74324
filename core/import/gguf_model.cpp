#include "import/gguf_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "import/gguf_layers.h"
#include "import/gguf_spans.h"
#include "import/gguf_tensors.h"

namespace vramgauge {
namespace {

using gguf::Architecture;
using gguf::Keys;
using gguf::LayerContext;
using gguf::LayerTensors;

constexpr std::string_view kArchitectureKey = "general.architecture";
constexpr uint64_t kMaxTokens = uint64_t{1} << 40;

ExtraTensor extra_of(const GgufTensorInfo& info, const GgufTensorName& name) {
  ExtraTensor extra;
  extra.name = name.name;
  extra.role = name.role;
  extra.cols = info.dims[0];
  extra.rows = info.elements() / info.dims[0];
  extra.is_matrix = name.is_matrix && info.num_dims > 1;
  return extra;
}

/// Builds the spec of one header; what goes on after an error never reaches the caller.
class ModelReader {
 public:
  ModelReader(const GgufHeader& header, const Architecture& architecture)
      : header_(header), architecture_(architecture), keys_(header, architecture.name, errors_) {}

  Result<ImportedModel> read() {
    sort_tensors();
    read_dims();
    if (errors_.empty()) read_layers();
    if (!errors_.empty()) return fail(std::move(errors_));
    warn_about_unknown_tensors();
    return ImportedModel{std::move(spec_), std::move(warnings_)};
  }

 private:
  void sort_tensors() {
    const uint64_t num_layers = keys_.require("block_count", gguf::kMaxLayers);
    if (num_layers == 0 && errors_.empty())
      keys_.error(ErrorCode::gguf_bad_key, "block_count", {{"expected", "at least 1"}});
    layers_.resize(static_cast<size_t>(num_layers));
    for (const GgufTensorInfo& info : header_.tensors) {
      const auto name = split_gguf_layer(info.name);
      if (!name) {
        model_.add(info.name, info);
      } else if (name->layer < num_layers) {
        layers_[static_cast<size_t>(name->layer)].add(name->rest, info);
      } else {
        keys_.error(ErrorCode::gguf_shape_conflict, "block_count",
                    {{"tensor", info.name}, {"detail", "the layer does not exist"}});
        return;
      }
    }
  }

  void read_dims() {
    const GgufTensorInfo* embedding = model_.take("token_embd.weight");
    if (embedding == nullptr) {
      errors_.push_back(
          {ErrorCode::gguf_missing_tensor, "", {{"tensor", "token_embd.weight"}}, std::nullopt});
      return;
    }
    spec_.name = header_.text("general.name").value_or("");
    spec_.model_type = architecture_.model_type;
    spec_.hidden_size = keys_.require("embedding_length");
    spec_.max_context_tokens = keys_.find("context_length", kMaxTokens).value_or(0);
    spec_.vocab_size = embedding->dims[1];
    if (embedding->dims[0] != spec_.hidden_size) spec_.embedding_dim = embedding->dims[0];
    if (const GgufTensorInfo* positions = model_.take("position_embd.weight"))
      spec_.position_embeddings = positions->dims[1];
    spec_.tie_word_embeddings = !model_.claim("output.weight");
    spec_.output_bias = model_.claim("output.bias");
    spec_.has_final_norm = model_.claim("output_norm.weight");
    spec_.norm_bias = model_.claim("output_norm.bias");
    for (const GgufTensorInfo* info : model_.rest())
      add_extra(spec_.extras, *info);
  }

  void read_layers() {
    LayerContext context{keys_, architecture_, spec_.hidden_size};
    const GgufLayerCounts counts = gguf_layer_counts(header_);
    const auto spans = gguf::read_spans(context, header_, layers_.size(), warnings_);
    if (!errors_.empty()) return;
    for (size_t i = 0; i < layers_.size() && errors_.empty(); ++i) {
      const bool is_nextn = i >= counts.decoder;
      (is_nextn ? spec_.mtp_layers : spec_.layers)
          .push_back(read_layer(context, layers_[i], i, spans[i]));
    }
  }

  Layer read_layer(LayerContext& context, LayerTensors& tensors, uint64_t index,
                   const gguf::Span& span) {
    Layer layer;
    if (tensors.empty() && !architecture_.has_empty_layers) {
      errors_.push_back({ErrorCode::gguf_missing_tensor,
                         "",
                         {{"tensor", "blk." + std::to_string(index)}},
                         std::nullopt});
      return layer;
    }
    layer.mixers = gguf::read_mixers(context, tensors, index, span);
    layer.ffn = gguf::read_ffn(context, tensors);
    add_norms(layer, tensors);
    for (const GgufTensorInfo* info : tensors.rest())
      add_extra(layer.extras, *info);
    return layer;
  }

  static void add_norms(Layer& layer, LayerTensors& tensors) {
    bool has_biases = true;
    std::vector<std::string_view> biases;
    for (const GgufTensorInfo* info : tensors.rest()) {
      const GgufTensorName name = read_gguf_tensor_name(info->name);
      if (name.role != TensorRole::norm || !is_plain(*info)) continue;
      const std::string_view rest = split_gguf_layer(info->name)->rest;
      layer.norms.push_back(info->elements());
      tensors.take(rest);
      const std::string bias = std::string(rest.substr(0, rest.rfind(".weight"))) + ".bias";
      const GgufTensorInfo* found = tensors.find(bias);
      has_biases = has_biases && found != nullptr;
      if (found != nullptr) biases.push_back(split_gguf_layer(found->name)->rest);
    }
    layer.norm_bias = has_biases && !biases.empty();
    if (!layer.norm_bias) return;
    for (const std::string_view bias : biases)
      tensors.take(bias);
  }

  /// A weight, not a bias or scale.
  static bool is_plain(const GgufTensorInfo& info) {
    const std::string_view name = info.name;
    return name.size() < 5 || name.substr(name.size() - 5) != ".bias";
  }

  void add_extra(std::vector<ExtraTensor>& extras, const GgufTensorInfo& info) {
    const GgufTensorName name = read_gguf_tensor_name(info.name);
    if (!name.is_known && num_unknown_++ == 0) first_unknown_ = info.name;
    extras.push_back(extra_of(info, name));
  }

  void warn_about_unknown_tensors() {
    if (num_unknown_ == 0) return;
    warnings_.push_back({ErrorCode::gguf_unknown_tensor,
                         "",
                         {{"count", num_unknown_}, {"tensor", first_unknown_}},
                         std::nullopt});
  }

  const GgufHeader& header_;
  const Architecture& architecture_;
  Diagnostics errors_;
  Diagnostics warnings_;
  Keys keys_;
  LayerTensors model_;
  std::vector<LayerTensors> layers_;
  ModelSpec spec_;
  uint64_t num_unknown_ = 0;
  std::string first_unknown_;
};

/// Files that hold something else than a model that generates.
Diagnostics refuse_other_kinds(const GgufHeader& header, std::string_view arch) {
  const std::string_view type = header.text("general.type").value_or("model");
  if (type == "adapter") return {{ErrorCode::model_adapter, "", {}, std::nullopt}};
  if (arch == "clip" || type == "mmproj") {
    return {{ErrorCode::model_unsupported,
             "",
             {{"what", "This file"},
              {"reason", std::string("it holds the vision or audio part of a model, without the "
                                     "model itself")}},
             std::nullopt}};
  }
  if (gguf::is_encoder(arch)) {
    return {{ErrorCode::model_encoder_only, "", {{"model_type", arch}}, std::nullopt}};
  }
  if (!header.split) return {};
  return {{ErrorCode::gguf_shard_missing,
           "",
           {{"index", (header.split->index == 0 ? uint64_t{2} : uint64_t{1})},
            {"count", header.split->count}},
           std::nullopt}};
}

}  // namespace

Result<ImportedModel> import_gguf(const GgufHeader& header) {
  const auto arch = header.text(kArchitectureKey);
  if (!arch && !header.split) {
    return fail(ErrorCode::gguf_missing_key, "", {{"key", kArchitectureKey}});
  }
  Diagnostics refused = refuse_other_kinds(header, arch.value_or(""));
  if (!refused.empty()) return fail(std::move(refused));
  const Architecture* architecture = gguf::find_architecture(*arch);
  if (architecture == nullptr) {
    return fail(ErrorCode::model_unknown_architecture, "", {{"model_type", *arch}});
  }
  return ModelReader(header, *architecture).read();
}

}  // namespace vramgauge

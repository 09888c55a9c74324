// Models that a session has loaded, from the catalogue or from a configuration.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/importers.h"
#include "import/catalogue.h"
#include "model/parameters.h"
#include "model/weight_formats.h"
#include "plan/format_sizes.h"
#include "specs/model_spec.h"
#include "specs/scenario.h"
#include "specs/stored_model.h"

namespace vramgauge::api {

/// What server engines make of a model's weights (server_weights.cpp).
struct ServerCache;

/// A model, read once, and its weights per format.
struct LoadedModel {
  std::string id;
  std::string family;
  std::string source;
  /// How sure the facts are: real_copy, class_default, reconstructed; empty for the user's own.
  std::string verified;
  /// The configuration in a form that needs no importer; empty for a preset.
  std::string config_text;
  ModelSpec spec;
  /// What its files hold, when their headers were read.
  std::optional<StoredModel> stored;
  /// How its checkpoint is quantised, when it is.
  std::optional<ResolvedQuantization> quantization;
  /// What had to be assumed; pointers into the configuration.
  Diagnostics warnings;
  /// Tensors that an engine loads: everything but multi-token-prediction layers.
  std::vector<WeightTensor> tensors;
  ParameterCount parameters;
  std::map<std::string, FormattedWeights, std::less<>> weights_by_format;
  /// Sizes in the catalogue's formats, in their order, once a search has asked.
  mutable std::vector<std::optional<FormatSize>> sizes_by_format;
  /// Grows as it is asked. Who makes it says how it ends: a session without server engines does not
  /// link what it is made of.
  mutable std::unique_ptr<ServerCache, void (*)(ServerCache*)> server{nullptr, nullptr};

  /// Whether weight_format=auto means something that no format of the catalogue does.
  bool has_own_format() const { return stored.has_value() || quantization.has_value(); }
};

/// A configuration in a form that is read without importers: a spec document or a description by
/// hand, as given; anything else converted. Without importers that is import.reader_needed.
Result<json::Value> own_form(const ForeignModel& given, const Importers* importers);

/// The same of a text; errors have the place in it.
Result<json::Value> own_form(const std::string& text, const json::Value* class_defaults,
                             const Importers* importers);

/// The id of a model's own format: what its files or its checkpoint's configuration say.
inline constexpr std::string_view kOwnFormat = "auto";

/// The own format of a model that has one; its layout is the model's.
WeightFormat own_format(const LoadedModel& model);

/// Where errors about a model point to.
struct ModelPaths {
  std::string id;
  std::string config;

  const std::string& of(const LoadedModel& model) const { return model.id.empty() ? config : id; }
};

/// Diagnostics about a configuration that stands at `path` in what was asked.
Diagnostics below(const std::string& path, Diagnostics diagnostics);

/// Loaded models, kept so that a typed number does not load again.
class Models {
 public:
  /// `importers` may be null: then a configuration in a foreign format is refused with
  /// import.reader_needed, whose path says where it is.
  explicit Models(const Importers* importers) : importers_(importers) {}

  /// The model of a scenario: model_config when given, else the preset.
  Result<const LoadedModel*> load(const Catalogue& catalogue, const Scenario& scenario,
                                  const ModelPaths& paths);
  /// The model of a configuration in any format: what the model_config of a scenario holds.
  Result<const LoadedModel*> load_config(const std::string& text, const json::Value* class_defaults,
                                         const std::string& path);
  /// Weights of a loaded model in a format; `path` is where the format was asked for.
  Result<const FormattedWeights*> weights(const LoadedModel& model, const WeightFormat& format,
                                          const std::string& path);
  void clear();

 private:
  Result<const LoadedModel*> load_preset(const Catalogue& catalogue, const std::string& id,
                                         const std::string& path);

  const Importers* importers_;
  std::map<std::string, std::unique_ptr<LoadedModel>, std::less<>> presets_;
  std::string config_text_;
  std::unique_ptr<LoadedModel> config_model_;
};

}  // namespace vramgauge::api

// From names to facts: the model, format, device and cache types that a scenario means.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/generic.h"
#include "import/catalogue.h"
#include "model/cache_layout.h"
#include "model/parameters.h"
#include "model/weight_formats.h"
#include "specs/hardware.h"
#include "specs/model_spec.h"
#include "specs/scenario.h"

namespace vramgauge::api {

/// A model, imported once, and its weights per format.
struct LoadedModel {
  std::string id;
  std::string family;
  std::string source;
  /// How sure the facts are: real_copy, class_default, reconstructed; empty for the user's own.
  std::string verified;
  /// Quantisation method that the configuration names, or empty.
  std::string quant_method;
  ModelSpec spec;
  Diagnostics warnings;
  /// Tensors that an engine loads: everything but multi-token-prediction layers.
  std::vector<WeightTensor> tensors;
  ParameterCount parameters;
  std::map<std::string, FormattedWeights, std::less<>> weights_by_format;
};

/// Where errors about a model point to.
struct ModelPaths {
  std::string id;
  std::string config;
};

/// Imported models, kept so that a typed number does not import again.
class Models {
 public:
  /// The model of a scenario: model_config when given, else the preset.
  Result<const LoadedModel*> load(const Catalogue& catalogue, const Scenario& scenario,
                                  const ModelPaths& paths);
  /// Weights of a loaded model in a format; `path` is where the format was asked for.
  Result<const FormattedWeights*> weights(const LoadedModel& model, const WeightFormat& format,
                                          const std::string& path);
  void clear();

 private:
  std::map<std::string, std::unique_ptr<LoadedModel>, std::less<>> presets_;
  std::string config_text_;
  std::unique_ptr<LoadedModel> config_model_;
};

/// Everything that an engine needs, with the scenario's names made canonical.
struct Resolved {
  Scenario scenario;
  const LoadedModel* model = nullptr;
  WeightFormat format;
  const FormattedWeights* weights = nullptr;
  HardwareSpec hardware;
  CacheLayout cache;
  GenericConstants constants;
  Diagnostics warnings;
};

/// Looks up and checks every name; collects the errors of all fields.
Result<Resolved> resolve(const Catalogue& catalogue, Models& models, const Scenario& scenario,
                         const std::string& path);

/// The same configuration without white space, for links.
std::string compact_config(const std::string& text);

}  // namespace vramgauge::api

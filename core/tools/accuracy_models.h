// The models that truth files name: from the presets inside the program, or from folders of
// configurations.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "model/weights.h"
#include "specs/model_spec.h"
#include "units/json.h"

namespace vramgauge::tools {

/// What a row needs, or why it cannot be had: the reason that the comparison lists.
template <typename T>
using Predictable = tl::expected<T, std::string>;

inline tl::unexpected<std::string> because(std::string reason) {
  return tl::unexpected<std::string>(std::move(reason));
}

/// The value of a core's result, or its first error as a reason.
template <typename T>
Predictable<T> predictable(Result<T> result) {
  if (result) return std::move(*result);
  return because(result.error().empty() ? "no reason given" : message_of(result.error().front()));
}

/// A model with its configuration.
struct TruthModel {
  /// config.json.
  json::Value config;
  /// hf_quant_config.json; null when there is none.
  json::Value beside;
  ModelSpec spec;
  /// weight_tensors(spec).
  std::vector<WeightTensor> tensors;

  /// `beside`, or null when there is none.
  const json::Value* quantization_file() const { return beside.is_null() ? nullptr : &beside; }
};

/// A preset {"config", "quant_config"} or a config.json. `class_defaults` as import_hf_config()
/// takes it.
Predictable<TruthModel> read_truth_model(const json::Value& document,
                                         const json::Value* class_defaults);

/// Finds models by name ("org/name" or "org__name") and keeps them.
class ModelStore {
 public:
  /// `presets` is {"class_defaults", "models": [{"id", "config", "quant_config"}]}; a name that it
  /// lacks is looked up as FOLDER/org__name.json.
  ModelStore(json::Value presets, std::vector<std::string> folders)
      : presets_(std::move(presets)), folders_(std::move(folders)) {}

  Predictable<const TruthModel*> find(std::string_view name);
  /// The same model with another value of one member of its configuration.
  Predictable<const TruthModel*> find_with(std::string_view name, std::string_view key,
                                           uint64_t value);

 private:
  using Entry = Predictable<std::unique_ptr<TruthModel>>;

  Predictable<json::Value> document_of(const std::string& slug) const;
  Entry read(const std::string& slug) const;
  const json::Value* class_defaults() const;

  json::Value presets_;
  std::vector<std::string> folders_;
  std::map<std::string, Entry> entries_;
};

/// A whole file; nothing when it cannot be read.
std::optional<std::string> read_plain_file(const std::string& path);

}  // namespace vramgauge::tools

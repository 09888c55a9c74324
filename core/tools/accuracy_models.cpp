#include "accuracy_models.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "import/hf_config.h"

namespace vramgauge::tools {
namespace {

/// As files are named: "org__name".
std::string slug_of(std::string_view name) {
  std::string slug(name);
  const std::size_t slash = slug.find('/');
  if (slash != std::string::npos) slug.replace(slash, 1, "__");
  return slug;
}

/// A slug names a file of a folder, never a place elsewhere.
bool is_file_name(std::string_view slug) {
  return !slug.empty() && slug.front() != '.' && slug.find('/') == std::string_view::npos;
}

template <typename Entry>
Predictable<const TruthModel*> model_in(const Entry& entry) {
  if (!entry) return because(entry.error());
  return entry->get();
}

}  // namespace

std::optional<std::string> read_plain_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Predictable<TruthModel> read_truth_model(const json::Value& document,
                                         const json::Value* class_defaults) {
  TruthModel model;
  const json::Value* config = document.find("config");
  const bool is_preset = config != nullptr && config->as_object() != nullptr;
  model.config = is_preset ? *config : document;
  const json::Value* beside = is_preset ? document.find("quant_config") : nullptr;
  if (beside != nullptr) model.beside = *beside;
  auto imported = predictable(import_hf_config(model.config, class_defaults));
  if (!imported) return because(imported.error());
  model.spec = std::move(imported->spec);
  model.tensors = weight_tensors(model.spec);
  return model;
}

const json::Value* ModelStore::class_defaults() const {
  const json::Value* defaults = presets_.find("class_defaults");
  return defaults == nullptr ? nullptr : defaults->find("classes");
}

Predictable<json::Value> ModelStore::document_of(const std::string& slug) const {
  const json::Value* models = presets_.find("models");
  if (models != nullptr && models->as_array() != nullptr) {
    for (const json::Value& model : *models->as_array()) {
      const json::Value* id = model.find("id");
      if (id != nullptr && id->as_string() != nullptr && slug_of(*id->as_string()) == slug)
        return model;
    }
  }
  for (const std::string& folder : folders_) {
    if (!is_file_name(slug)) break;
    std::string path = folder;
    path.append("/").append(slug).append(".json");
    const auto text = read_plain_file(path);
    if (text) return predictable(json::parse(*text));
  }
  return because("no configuration of " + slug + " is known; --configs names a folder of them");
}

ModelStore::Entry ModelStore::read(const std::string& slug) const {
  const auto document = document_of(slug);
  if (!document) return because(document.error());
  auto model = read_truth_model(*document, class_defaults());
  if (!model) return because(slug + ": " + model.error());
  return std::make_unique<TruthModel>(std::move(*model));
}

Predictable<const TruthModel*> ModelStore::find(std::string_view name) {
  const std::string slug = slug_of(name);
  auto found = entries_.find(slug);
  if (found == entries_.end()) found = entries_.emplace(slug, read(slug)).first;
  return model_in(found->second);
}

Predictable<const TruthModel*> ModelStore::find_with(std::string_view name, std::string_view key,
                                                     uint64_t value) {
  auto original = find(name);
  if (!original) return original;
  const std::string variant = slug_of(name) + " " + std::string(key) + "=" + std::to_string(value);
  auto found = entries_.find(variant);
  if (found == entries_.end()) {
    json::Value config = (*original)->config;
    config.set(key, value);
    auto model = read_truth_model(config, class_defaults());
    Entry entry = because(variant + ": no model");
    if (model)
      entry = std::make_unique<TruthModel>(std::move(*model));
    else
      entry = because(variant + ": " + model.error());
    found = entries_.emplace(variant, std::move(entry)).first;
  }
  return model_in(found->second);
}

}  // namespace vramgauge::tools

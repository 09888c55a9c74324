// The catalogue: presets that the host hands over as JSON documents, merged, looked up and
// searched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "units/json.h"

namespace vramgauge {

/// An entry of a list as the presets hold it.
struct CatalogueEntry {
  std::string id;
  std::string name;
  std::string family;
  std::vector<std::string> aliases;
  /// The whole entry.
  json::Value facts;
};

/// One list of entries with look-up by id, name or alias, and search by words.
class CatalogueList {
 public:
  /// Adds an entry, or replaces the one of the same id.
  void put(CatalogueEntry entry);

  const std::vector<CatalogueEntry>& entries() const { return entries_; }
  /// The entry whose id, name or alias is `text`, whatever its case and punctuation; or nothing.
  const CatalogueEntry* find(std::string_view text) const;
  /// Entries that contain every word of the query, best first.
  std::vector<const CatalogueEntry*> search(std::string_view query) const;

 private:
  std::vector<CatalogueEntry> entries_;
  std::map<std::string, std::vector<CatalogueEntry>::size_type, std::less<>> by_name_;
};

/// Everything the presets say. Several documents may be merged: a small index first, facts of
/// single models later.
class Catalogue {
 public:
  /// Merges a document with any of the lists model_index, models, gpus, formats, cache_types,
  /// engines, launchers and the object class_defaults. A document that is not sound changes
  /// nothing.
  Diagnostics merge(json::Value document);

  bool empty() const;
  const CatalogueList& models() const { return models_; }
  const CatalogueList& gpus() const { return gpus_; }
  const CatalogueList& formats() const { return formats_; }
  const CatalogueList& cache_types() const { return cache_types_; }
  const CatalogueList& engines() const { return engines_; }
  /// Programs that start an engine with settings of their own.
  const CatalogueList& launchers() const { return launchers_; }
  /// The list of a kind ("models", "gpus", "formats", "cache_types", "engines",
  /// "launchers"), or nothing.
  const CatalogueList* list(std::string_view kind) const;
  /// Facts of a model by exact id, or nothing while only the index is loaded.
  const json::Value* model_facts(std::string_view id) const;
  /// What an omitted key of a configuration means: {"llama": {"head_dim": ...}, ...}; or nothing.
  const json::Value* class_defaults() const;

 private:
  CatalogueList models_;
  CatalogueList gpus_;
  CatalogueList formats_;
  CatalogueList cache_types_;
  CatalogueList engines_;
  CatalogueList launchers_;
  std::map<std::string, json::Value, std::less<>> model_facts_;
  json::Value class_defaults_;
};

/// A search name in normal form: lower case, words of letters, digits, points and plus signs.
std::string normal_form(std::string_view text);

}  // namespace vramgauge

#include "import/catalogue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "specs/cache_type.h"
#include "specs/hardware.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMaxEntries = 100'000;
constexpr unsigned kIndexBits = 20;
constexpr unsigned kNameBits = 20;
constexpr uint64_t kMaxNameBytes = (uint64_t{1} << kNameBits) - 1;
constexpr uint64_t kMaxScore = uint64_t{1} << 20;

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '+';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::vector<std::string_view> words_of(std::string_view normal) {
  std::vector<std::string_view> words;
  while (!normal.empty()) {
    const auto end = normal.find(' ');
    if (end != 0) words.push_back(normal.substr(0, end));
    if (end == std::string_view::npos) break;
    normal.remove_prefix(end + 1);
  }
  return words;
}

std::string searchable_text(const CatalogueEntry& entry) {
  std::string text =
      normal_form(entry.name) + " " + normal_form(entry.id) + " " + normal_form(entry.family);
  for (const std::string& alias : entry.aliases)
    text += " " + alias;
  return text;
}

/// How well a text matches all words: 0 = not at all; whole words count more than parts.
uint64_t score(std::string_view text, const std::vector<std::string_view>& words) {
  const std::string padded = " " + std::string(text) + " ";
  uint64_t total = 1;
  for (const std::string_view word : words) {
    if (padded.find(word) == std::string::npos) return 0;
    const std::string start = " " + std::string(word);
    if (padded.find(start) != std::string::npos) total += 2;
    if (padded.find(start + " ") != std::string::npos) total += 4;
  }
  return total;
}

std::optional<CatalogueEntry> read_entry(const json::Value& value) {
  const json::Value* id = value.find("id");
  const json::Value* name = value.find("name");
  if (id == nullptr || id->as_string() == nullptr || id->as_string()->empty()) return std::nullopt;
  CatalogueEntry entry;
  entry.id = *id->as_string();
  entry.name = name != nullptr && name->as_string() != nullptr ? *name->as_string() : entry.id;
  if (const json::Value* family = value.find("family");
      family != nullptr && family->as_string() != nullptr) {
    entry.family = *family->as_string();
  }
  if (const json::Value* aliases = value.find("aliases");
      aliases != nullptr && aliases->as_array() != nullptr) {
    for (const json::Value& alias : *aliases->as_array()) {
      if (alias.as_string() != nullptr) entry.aliases.push_back(normal_form(*alias.as_string()));
    }
  }
  entry.facts = value;
  return entry;
}

std::vector<CatalogueEntry> read_list(const json::Value& document, std::string_view key,
                                      Diagnostics& errors) {
  std::vector<CatalogueEntry> entries;
  const json::Value* list = document.find(key);
  if (list == nullptr) return entries;
  const std::string path = json::pointer_to("", key);
  if (list->as_array() == nullptr || list->as_array()->size() > kMaxEntries) {
    errors.push_back({ErrorCode::catalogue_bad_entry, path, {{"id", key}}, std::nullopt});
    return entries;
  }
  for (const json::Value& item : *list->as_array()) {
    if (std::optional<CatalogueEntry> entry = read_entry(item)) {
      entries.push_back(std::move(*entry));
    } else {
      errors.push_back({ErrorCode::catalogue_bad_entry,
                        json::pointer_to(path, uint64_t{entries.size()}),
                        {{"id", key}},
                        std::nullopt});
      break;
    }
  }
  return entries;
}

/// Facts that a reader of the core refuses would fail later, far from the file they came from.
template <typename Reader>
void check_facts(const std::vector<CatalogueEntry>& entries, std::string_view key,
                 const Reader& read, Diagnostics& errors) {
  for (const CatalogueEntry& entry : entries) {
    auto facts = read(entry.facts);
    if (facts) continue;
    for (Diagnostic& error : facts.error()) {
      error.path = json::pointer_to(json::pointer_to("", key), entry.id) + error.path;
      errors.push_back(std::move(error));
    }
  }
}

void put_all(CatalogueList& list, std::vector<CatalogueEntry> entries) {
  for (CatalogueEntry& entry : entries)
    list.put(std::move(entry));
}

}  // namespace

std::string normal_form(std::string_view text) {
  std::string out;
  bool gap = false;
  for (const char original : text) {
    const char c = lower(original);
    if (!is_word_character(c)) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    out += c;
  }
  return out;
}

void CatalogueList::put(CatalogueEntry entry) {
  const std::string id = normal_form(entry.id);
  const auto known = by_name_.find(id);
  const auto index = known == by_name_.end() ? entries_.size() : known->second;
  by_name_.insert_or_assign(id, index);
  by_name_.try_emplace(normal_form(entry.name), index);
  for (const std::string& alias : entry.aliases)
    by_name_.try_emplace(alias, index);
  if (index == entries_.size()) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[index] = std::move(entry);
  }
}

const CatalogueEntry* CatalogueList::find(std::string_view text) const {
  const auto found = by_name_.find(normal_form(text));
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

std::vector<const CatalogueEntry*> CatalogueList::search(std::string_view query) const {
  const std::string normal = normal_form(query);
  const std::vector<std::string_view> words = words_of(normal);
  const CatalogueEntry* exact = find(query);
  // One number a hit: better scores first, then shorter names, then the order of the list.
  std::vector<uint64_t> hits;
  for (const CatalogueEntry& entry : entries_) {
    const uint64_t points = &entry == exact ? kMaxScore : score(searchable_text(entry), words);
    if (points == 0) continue;
    const auto index = static_cast<uint64_t>(&entry - entries_.data());
    const uint64_t rank = words.empty() ? 0
                                        : ((kMaxScore - std::min(points, kMaxScore)) << kNameBits) +
                                              std::min<uint64_t>(entry.name.size(), kMaxNameBytes);
    hits.push_back((rank << kIndexBits) + index);
  }
  std::sort(hits.begin(), hits.end());
  std::vector<const CatalogueEntry*> found;
  for (const uint64_t hit : hits) {
    const uint64_t index = hit & ((uint64_t{1} << kIndexBits) - 1);
    found.push_back(&entries_[static_cast<std::vector<CatalogueEntry>::size_type>(index)]);
  }
  return found;
}

Diagnostics Catalogue::merge(json::Value document) {
  Diagnostics errors;
  json::ObjectReader reader(document, "", errors);
  if (!errors.empty()) return errors;
  std::vector<CatalogueEntry> index = read_list(document, "model_index", errors);
  std::vector<CatalogueEntry> facts = read_list(document, "models", errors);
  std::vector<CatalogueEntry> gpus = read_list(document, "gpus", errors);
  std::vector<CatalogueEntry> formats = read_list(document, "formats", errors);
  std::vector<CatalogueEntry> cache_types = read_list(document, "cache_types", errors);
  std::vector<CatalogueEntry> engines = read_list(document, "engines", errors);
  std::vector<CatalogueEntry> launchers = read_list(document, "launchers", errors);
  check_facts(gpus, "gpus", parse_hardware, errors);
  check_facts(cache_types, "cache_types", parse_cache_type, errors);
  const json::Value* defaults = document.find("class_defaults");
  if (!errors.empty()) return errors;
  put_all(models_, std::move(index));
  for (CatalogueEntry& entry : facts) {
    model_facts_.insert_or_assign(entry.id, std::move(entry.facts));
    entry.facts = json::Value::object();
    if (models_.find(entry.id) == nullptr) models_.put(std::move(entry));
  }
  put_all(gpus_, std::move(gpus));
  put_all(formats_, std::move(formats));
  put_all(cache_types_, std::move(cache_types));
  put_all(engines_, std::move(engines));
  put_all(launchers_, std::move(launchers));
  if (defaults != nullptr) class_defaults_ = *defaults;
  return errors;
}

bool Catalogue::empty() const { return models_.entries().empty() && gpus_.entries().empty(); }

const CatalogueList* Catalogue::list(std::string_view kind) const {
  if (kind == "models") return &models_;
  if (kind == "gpus") return &gpus_;
  if (kind == "formats") return &formats_;
  if (kind == "cache_types") return &cache_types_;
  if (kind == "engines") return &engines_;
  if (kind == "launchers") return &launchers_;
  return nullptr;
}

const json::Value* Catalogue::model_facts(std::string_view id) const {
  const auto found = model_facts_.find(id);
  return found == model_facts_.end() ? nullptr : &found->second;
}

const json::Value* Catalogue::class_defaults() const { return class_defaults_.find("classes"); }

}  // namespace vramgauge

#include "accuracy_engines.h"

#include <algorithm>
#include <array>
#include <utility>

namespace vramgauge::tools {
namespace {

/// Versions by what a log or its date says, for logs that print none.
struct Dated {
  std::string_view text;
  std::string_view version;
};
constexpr std::array<Dated, 28> kDates = {{
    {"0.1.x", "0.1.7"},    {"2023", "0.2"},         {"Mar 2024", "0.3.3"},  {"Jul 2024", "0.5.3"},
    {"Aug 2024", "0.5.5"}, {"Oct 2024", "0.6.3"},   {"Dec 2024", "0.6.5"},  {"Jan 2025", "0.7.0"},
    {"Feb 2025", "0.7.2"}, {"Mar 2025", "0.8.1"},   {"Apr 2025", "0.8.4"},  {"Jun 2025", "0.9.1"},
    {"Jul 2025", "0.9.2"}, {"Oct 2025", "0.11.0"},  {"Jan 2026", "0.14.0"}, {"Feb 2026", "0.15"},
    {"Mar 2026", "0.17"},  {"Apr 2026", "0.19"},    {"Aug 2026", "0.27"},   {"2025", "0.8.4"},
    {"0.1.dev", "0.22"},   {"branch", "0.22"},      {"B12X", "0.22"},       {"2026", "0.22"},
    {"V0", "0.7.2"},       {"0.17/0.18", "0.17.1"}, {"0.14/0.15", "0.14"},  {"0.11.x", "0.11.0"},
}};
constexpr std::string_view kUnstated = "0.22";

/// What the name of a card stands for, before anything else is tried.
struct NamedCard {
  std::string_view name;
  TruthCard card;
};

/// Totals as CUDA reports them, in public logs; multiprocessors from the makers' pages.
constexpr std::array<NamedCard, 23> kCards = {{
    {"H100", {79.19, 90, 132}},
    {"GH200", {94.5, 90, 132}},
    {"H200", {139.8, 90, 132}},
    {"H20", {95.1, 90, 78}},
    {"A100 80GB", {79.25, 80, 108, true}},
    {"A100", {39.5, 80, 108, true}},
    {"T4", {14.74, 75, 40}},
    {"L40", {44.4, 89, 142}},
    {"L4", {22.03, 89, 58}},
    {"RTX 3090", {23.58, 86, 82}},
    {"RTX 4090", {23.63, 89, 128}},
    {"RTX 5090", {31.4, 120, 170}},
    {"RTX 5080", {14.7, 120, 84}},
    {"RTX 2080 Ti", {10.75, 75, 68}},
    {"RTX PRO 6000", {94.97, 120, 188}},
    {"SM12x", {94.97, 120, 188}},
    {"RTX PRO 4500", {31.38, 120, 82}},
    {"GB10", {121.6, 121, 48}},
    {"Jetson AGX Thor", {122.8, 110, 20}},
    {"Orin", {15.3, 87, 8}},
    {"MI300X", {191.98, 0, 304, false, true}},
    {"Intel Max", {64, 0, 128}},
    {"Ascend 910B3", {61, 0, 40}},
}};

/// What CUDA reports of cards that are only named by their size.
struct SizedCard {
  uint64_t nominal_gb;
  double total_gib;
};
constexpr std::array<SizedCard, 12> kSizes = {{{6, 5.67},
                                               {8, 7.6},
                                               {11, 10.75},
                                               {12, 11.6},
                                               {16, 15.5},
                                               {24, 23.6},
                                               {32, 31.4},
                                               {40, 39.5},
                                               {46, 44.4},
                                               {48, 44.4},
                                               {80, 79.2},
                                               {96, 94.97}}};
/// Taken where a log names no card that is known.
constexpr uint64_t kUsualCapability = 80;
constexpr uint64_t kUsualMultiprocessors = 108;

/// The number in front of "GB" or "GiB"; 0 = none.
uint64_t nominal_gb(std::string_view name) {
  for (std::size_t at = name.find('G'); at != std::string_view::npos; at = name.find('G', at + 1)) {
    const bool is_unit = name.substr(at, 2) == "GB" || name.substr(at, 3) == "GiB";
    std::size_t end = at;
    while (end > 0 && name[end - 1] == ' ')
      --end;
    std::size_t begin = end;
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
      --begin;
    const bool is_whole = begin == 0 || name[begin - 1] != '.';
    const auto number = parse_count(name.substr(begin, end - begin));
    if (is_unit && is_whole && number) return *number;
  }
  return 0;
}

std::optional<double> total_of_size(uint64_t gb) {
  for (const SizedCard& size : kSizes) {
    if (size.nominal_gb == gb) return size.total_gib;
  }
  return std::nullopt;
}

uint64_t count_member(const json::Value& facts, std::string_view key) {
  const json::Value* value = facts.find(key);
  return value == nullptr ? 0 : value->as_u64().value_or(0);
}

/// The entry whose name or alias stands in the text; the longest of several.
const CatalogueEntry* named_entry(const CatalogueList& list, const std::string& text) {
  const std::string words = " " + normal_form(text) + " ";
  const CatalogueEntry* found = nullptr;
  std::size_t longest = 0;
  for (const CatalogueEntry& entry : list.entries()) {
    std::vector<std::string> names = entry.aliases;
    names.push_back(entry.name);
    for (const std::string& name : names) {
      const std::string part = " " + normal_form(name) + " ";
      if (part.size() <= longest || !contains(words, part)) continue;
      longest = part.size();
      found = &entry;
    }
  }
  return found;
}

TruthCard card_of(const json::Value& facts) {
  TruthCard card;
  const uint64_t total = count_member(facts, "total_bytes");
  const uint64_t usable = count_member(facts, "usable_bytes");
  card.total_gib = static_cast<double>(usable == 0 ? total : usable) / kBytesPerGiB;
  const json::Value* capability = facts.find("compute_capability");
  if (capability != nullptr && capability->as_string() != nullptr) {
    const auto number = Decimal::parse(*capability->as_string());
    card.capability = number ? number->micros() * 10 / Decimal::kScale : 0;
  }
  const json::Value* vendor = facts.find("vendor");
  card.is_rocm =
      vendor != nullptr && vendor->as_string() != nullptr && *vendor->as_string() == "AMD";
  card.multiprocessors = kUsualMultiprocessors;
  return card;
}

}  // namespace

StatedRelease vllm_release(std::string_view stated) {
  StatedRelease release;
  release.is_first_engine = contains(stated, "V0");
  const auto number = release_number(stated);
  for (const Dated& dated : kDates) {
    if (contains(stated, dated.text) && (!number || dated.text.rfind("0.", 0) == 0)) {
      release.number = release_number(dated.version).value_or(0);
      return release;
    }
  }
  release.number = number.value_or(release_number(kUnstated).value_or(0));
  return release;
}

Predictable<const json::Value*> EnginePresets::entry(std::string_view id) const {
  const CatalogueEntry* found = catalogue_.engines().find(id);
  if (found == nullptr) return because("the catalogue has no engine " + std::string(id));
  return &found->facts;
}

Predictable<VllmProfile> EnginePresets::vllm(const StatedRelease& release) const {
  const auto facts = entry("vllm");
  if (!facts) return because(facts.error());
  return predictable(vllm_profile(**facts, release.number, release.is_first_engine));
}

Predictable<SglangProfile> EnginePresets::sglang(std::string_view version) const {
  const auto facts = entry("sglang");
  if (!facts) return because(facts.error());
  return predictable(sglang_profile(**facts, release_number(version).value_or(UINT64_MAX)));
}

Predictable<TrtllmProfile> EnginePresets::trtllm(std::string_view version) const {
  const auto facts = entry("tensorrt_llm");
  if (!facts) return because(facts.error());
  return predictable(trtllm_profile(**facts, release_number(version).value_or(UINT64_MAX)));
}

Predictable<CacheType> EnginePresets::cache_type(std::string_view id) const {
  const CatalogueEntry* found = catalogue_.cache_types().find(id);
  if (found == nullptr) return because("cache type " + std::string(id) + " is not known");
  return predictable(parse_cache_type(found->facts));
}

Predictable<WeightFormat> EnginePresets::weight_format(std::string_view id) const {
  const CatalogueEntry* found = catalogue_.formats().find(id);
  if (found == nullptr) return because("weight format " + std::string(id) + " is not known");
  return predictable(parse_weight_format(found->facts));
}

Predictable<TruthCard> EnginePresets::card(const std::string& name, uint64_t count) const {
  if (name.empty()) return because("no GPU is named");
  const uint64_t gb = nominal_gb(name);
  const bool is_shared_out = contains(name, "total") && gb != 0 && count > 1;
  const auto total = total_of_size(is_shared_out ? gb / count : gb);
  TruthCard unnamed{total.value_or(0), kUsualCapability, kUsualMultiprocessors};
  unnamed.is_rocm = contains(name, "AMD");
  if (unnamed.is_rocm) unnamed.capability = 0;
  for (const NamedCard& named : kCards) {
    if (!contains(name, named.name)) continue;
    TruthCard card = named.card;
    // The larger variant of a card that is named with its size.
    if (total && *total > card.total_gib * 1.5) card.total_gib = *total;
    return card;
  }
  if (const CatalogueEntry* entry = named_entry(catalogue_.gpus(), name))
    return card_of(entry->facts);
  if (total) return unnamed;
  return because("GPU " + name + " is not known");
}

double gib(Bytes bytes) { return static_cast<double>(bytes.count()) / kBytesPerGiB; }
double gib(BytesDelta bytes) { return static_cast<double>(bytes.count()) / kBytesPerGiB; }

Bytes bytes_from_gib(double value) {
  constexpr double kMost = 1e9;
  return Bytes(static_cast<uint64_t>(std::clamp(value, 0.0, kMost) * kBytesPerGiB));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

}  // namespace vramgauge::tools

#include "accuracy.h"

#include <cstdio>
#include <optional>

#include "accuracy_llama_cpp.h"
#include "accuracy_score.h"
#include "accuracy_table.h"
#include "catalogue_data.h"
#include "commands.h"
#include "engine/llama_cpp_profile.h"
#include "import/catalogue.h"

namespace vramgauge::tools {
namespace {

constexpr uint64_t kMaxCatalogueBytes = uint64_t{64} << 20;

/// The kinds of truth files there are, by their columns.
struct TableKind {
  bool (*matches)(const TruthTable& table);
  void (*score)(const TruthTable& table, const LlamaCppRules& rules, HeaderStore& headers,
                Scores& scores);
};
constexpr TableKind kTableKinds[] = {
    {is_llama_cpp_table, score_llama_cpp},
    {is_llama_cpp_weights_table, score_llama_cpp_weights},
};

int refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kUsage;
}

/// The engine's entry of the file, or of the catalogue inside the program.
std::optional<json::Value> read_entry(const std::string& file) {
  json::Limits limits;
  limits.max_bytes = kMaxCatalogueBytes;
  const auto text = file.empty() ? unpack_catalogue() : read_packed_file(file).value_or("");
  const auto document = json::parse(text, limits);
  if (!document) return std::nullopt;
  if (!file.empty()) return *document;
  Catalogue catalogue;
  catalogue.merge(*document);
  const CatalogueEntry* entry = catalogue.engines().find("llama_cpp");
  if (entry == nullptr) return std::nullopt;
  return entry->facts;
}

/// The rules of a build; the newest when none is named.
std::optional<LlamaCppRules> read_rules(const AccuracySource& source, std::string& reason) {
  if (source.engine_version.empty()) return LlamaCppRules();
  const auto build = llama_cpp_build(source.engine_version);
  reason = source.engine_version + " is no build such as b6975";
  if (!build) return std::nullopt;
  const auto entry = read_entry(source.engine_file);
  reason = "no rules by build can be read";
  if (!entry) return std::nullopt;
  const auto profile = llama_cpp_profile(*entry, *build);
  if (profile) return profile->rules;
  reason = message_of(profile.error().front());
  return std::nullopt;
}

bool score_table(const TruthTable& table, const LlamaCppRules& rules, HeaderStore& headers,
                 Scores& scores) {
  for (const TableKind& kind : kTableKinds) {
    if (!kind.matches(table)) continue;
    kind.score(table, rules, headers, scores);
    return true;
  }
  return false;
}

json::Value file_json(const std::string& file, const std::vector<QuantityScore>& scores) {
  json::Value value = json::Value::object();
  value.set("file", json::Value::string(file));
  value.set("quantities", scores_json(scores));
  return value;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int run_accuracy(const AccuracySource& source, bool as_json) {
  std::string reason;
  const auto rules = read_rules(source, reason);
  if (!rules) return refuse(reason);
  HeaderStore headers(source.header_folders);
  json::Value answer = json::Value::array();
  for (const std::string& file : source.files) {
    const std::optional<std::string> text = read_packed_file(file);
    if (!text) return refuse("cannot read " + file);
    const auto table = TruthTable::parse(*text);
    Scores scores;
    if (!table || !score_table(*table, *rules, headers, scores))
      return refuse(file + " is not a truth file of a known kind");
    const auto summary = scores.summary(source.num_worst);
    if (!as_json) print(file + "\n" + scores_text(summary));
    answer.push(file_json(file, summary));
  }
  if (as_json && source.files.size() == 1) answer = answer.as_array()->front();
  if (as_json) print(json::write(answer) + "\n");
  return kDone;
}

}  // namespace vramgauge::tools

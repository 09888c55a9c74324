#include "accuracy.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "accuracy_file.h"
#include "accuracy_llama_cpp.h"
#include "accuracy_logs.h"
#include "accuracy_vllm_runs.h"
#include "catalogue_data.h"
#include "commands.h"
#include "engine/llama_cpp_profile.h"

namespace vramgauge::tools {
namespace {

constexpr uint64_t kMaxCatalogueBytes = uint64_t{64} << 20;

Predictable<json::Value> parse_large(const std::string& text) {
  json::Limits limits;
  limits.max_bytes = kMaxCatalogueBytes;
  return predictable(json::parse(text, limits));
}

/// The first of the versions that an engine understands; empty = none is meant for it.
std::string version_for(const std::vector<std::string>& versions, bool is_llama_cpp) {
  for (const std::string& version : versions) {
    if (llama_cpp_build(version).has_value() == is_llama_cpp) return version;
  }
  return {};
}

/// Everything that files are compared with, read once.
class Comparison {
 public:
  static Predictable<Comparison> make(const AccuracySource& source) {
    for (const std::string& version : source.engine_versions) {
      if (!llama_cpp_build(version) && !release_number(version))
        return because(version + " is no build such as b6975 and no release such as 0.19.0");
    }
    auto catalogue = parse_large(unpack_catalogue());
    auto configs = parse_large(unpack_configs());
    if (!catalogue || !configs) return because("the catalogue inside the program is damaged");
    return Comparison(source, std::move(*catalogue), std::move(*configs));
  }

  /// Scores of one file; the reason when it cannot be read or is of no known kind.
  Predictable<Scores> score(const std::string& file) {
    const std::optional<std::string> text = read_packed_file(file);
    if (!text) return because("cannot read " + file);
    if (is_engine_logs(*text)) return score_logs(*text, file);
    const auto table = TruthTable::parse(*text);
    if (table && is_vllm_runs_table(*table)) return score_runs(*table);
    if (table && is_llama_cpp_table(*table)) return score_with_rules(*table, score_llama_cpp);
    if (table && is_llama_cpp_weights_table(*table))
      return score_with_rules(*table, score_llama_cpp_weights);
    return because(file + " is not a truth file of a known kind");
  }

  /// A version that no file was compared under.
  std::string unused_version() const {
    for (const std::string& version : source_->engine_versions) {
      const bool is_used = llama_cpp_build(version) ? has_tables_ : has_logs_;
      if (!is_used) return version;
    }
    return {};
  }

 private:
  Comparison(const AccuracySource& source, json::Value catalogue, json::Value configs)
      : source_(&source),
        presets_(std::move(catalogue), engines_of(configs)),
        models_(std::move(configs), source.config_folders),
        headers_(source.header_folders) {}

  static json::Value engines_of(const json::Value& configs) {
    json::Value document = json::Value::object();
    if (const json::Value* engines = configs.find("engines")) document.set("engines", *engines);
    return document;
  }

  TruthContext context() {
    return {models_, presets_, version_for(source_->engine_versions, false)};
  }

  Predictable<Scores> score_logs(const std::string& text, const std::string& file) {
    const auto rows = read_engine_logs(text);
    if (!rows) return because(file + ": " + rows.error());
    has_logs_ = true;
    Scores scores;
    TruthContext context = this->context();
    score_engine_logs(*rows, context, scores);
    return scores;
  }

  Predictable<Scores> score_runs(const TruthTable& table) {
    has_logs_ = true;
    Scores scores;
    TruthContext context = this->context();
    score_vllm_runs(table, context, scores);
    return scores;
  }

  template <typename Score>
  Predictable<Scores> score_with_rules(const TruthTable& table, Score compare) {
    has_tables_ = true;
    const auto rules = llama_cpp_rules();
    if (!rules) return because(rules.error());
    Scores scores;
    compare(table, *rules, headers_, scores);
    return scores;
  }

  /// The rules of a build; the newest when none is named.
  Predictable<LlamaCppRules> llama_cpp_rules() const {
    const std::string version = version_for(source_->engine_versions, true);
    if (version.empty()) return LlamaCppRules();
    const auto entry = llama_cpp_entry();
    if (!entry) return because("no rules by build can be read");
    const auto profile = predictable(llama_cpp_profile(*entry, *llama_cpp_build(version)));
    if (!profile) return because(profile.error());
    return profile->rules;
  }

  /// The engine's entry of the file, or of the catalogue inside the program.
  Predictable<json::Value> llama_cpp_entry() const {
    if (!source_->engine_file.empty())
      return parse_large(read_packed_file(source_->engine_file).value_or(""));
    const CatalogueEntry* entry = presets_.catalogue().engines().find("llama_cpp");
    if (entry == nullptr) return because("the catalogue has no engine llama_cpp");
    return entry->facts;
  }

  const AccuracySource* source_;
  EnginePresets presets_;
  ModelStore models_;
  HeaderStore headers_;
  bool has_logs_ = false;
  bool has_tables_ = false;
};

int refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kUsage;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

json::Value file_json(const std::string& file, const Scores& scores, uint64_t num_worst) {
  json::Value value = json::Value::object();
  value.set("file", file);
  value.set("quantities", scores_json(scores.summary(num_worst)));
  value.set("left_out", reasons_json(scores.left_out()));
  return value;
}

std::string file_text(const std::string& file, const Scores& scores, uint64_t num_worst) {
  std::string text = file + "\n" + scores_text(scores.summary(num_worst));
  if (!scores.left_out().empty())
    text += "not to be predicted:\n" + reasons_text(scores.left_out());
  return text;
}

}  // namespace

int run_accuracy(const AccuracySource& source, bool as_json) {
  auto comparison = Comparison::make(source);
  if (!comparison) return refuse(comparison.error());
  json::Value answer = json::Value::array();
  std::string text;
  for (const std::string& file : source.files) {
    const auto scores = comparison->score(file);
    if (!scores) return refuse(scores.error());
    text += file_text(file, *scores, source.num_worst);
    answer.push(file_json(file, *scores, source.num_worst));
  }
  if (const std::string version = comparison->unused_version(); !version.empty())
    return refuse("no file is about the engine of version " + version);
  if (as_json && source.files.size() == 1) answer = answer.as_array()->front();
  print(as_json ? json::write(answer) + "\n" : text);
  return kDone;
}

}  // namespace vramgauge::tools

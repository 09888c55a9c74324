#include "accuracy.h"

#include <cstdio>
#include <optional>

#include "accuracy_llama_cpp.h"
#include "accuracy_score.h"
#include "accuracy_table.h"
#include "commands.h"

namespace vramgauge::tools {
namespace {

/// The kinds of truth files there are, by their columns.
struct TableKind {
  bool (*matches)(const TruthTable& table);
  void (*score)(const TruthTable& table, HeaderStore& headers, Scores& scores);
};
constexpr TableKind kTableKinds[] = {
    {is_llama_cpp_table, score_llama_cpp},
    {is_llama_cpp_weights_table, score_llama_cpp_weights},
};

int refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kUsage;
}

bool score_table(const TruthTable& table, HeaderStore& headers, Scores& scores) {
  for (const TableKind& kind : kTableKinds) {
    if (!kind.matches(table)) continue;
    kind.score(table, headers, scores);
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
  HeaderStore headers(source.header_folders);
  json::Value answer = json::Value::array();
  for (const std::string& file : source.files) {
    const std::optional<std::string> text = read_packed_file(file);
    if (!text) return refuse("cannot read " + file);
    const auto table = TruthTable::parse(*text);
    Scores scores;
    if (!table || !score_table(*table, headers, scores))
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

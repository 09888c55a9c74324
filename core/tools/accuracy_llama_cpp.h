// Rows of llama.cpp's own accounting, predicted from a model file's header and the flags.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accuracy_score.h"
#include "accuracy_table.h"
#include "engine/llama_cpp_context.h"
#include "engine/llama_cpp_model.h"

namespace vramgauge::tools {

/// Model files by name ("llama-3.1-8b.Q4_K_M"), read once from folders of headers.
class HeaderStore {
 public:
  explicit HeaderStore(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// The model, or null with the reason.
  const LlamaCppModel* find(const std::string& name, std::string& reason);

 private:
  struct Entry {
    std::unique_ptr<LlamaCppModel> model;
    std::string reason;
  };

  Entry read(const std::string& name) const;

  std::vector<std::string> folders_;
  std::map<std::string, Entry> entries_;
};

/// True for a table of allocations (llamacpp.csv) or of weights by buffer (llamacpp_weights.csv).
bool is_llama_cpp_table(const TruthTable& table);
bool is_llama_cpp_weights_table(const TruthTable& table);

/// Predicts every row. A row that the engine refused counts under "refused", where it is exact when
/// we refuse it for the same reason. Weights are the same under any rules.
void score_llama_cpp(const TruthTable& table, const LlamaCppRules& rules, HeaderStore& headers,
                     Scores& scores);
void score_llama_cpp_weights(const TruthTable& table, const LlamaCppRules& rules,
                             HeaderStore& headers, Scores& scores);

}  // namespace vramgauge::tools

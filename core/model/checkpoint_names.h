// The names that checkpoints use for the modules of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "specs/model_spec.h"
#include "specs/quantization.h"

namespace vramgauge {

/// Finds the names under which the lists of one configuration may mean a tensor. Only words and
/// prefixes that occur in the lists are tried, so that no name is tried in vain.
class ModuleNames {
 public:
  ModuleNames(const ModelSpec& spec, const QuantizationConfig& quantization);

  /// Spellings of a tensor's module; those of expert number `expert` where it has several.
  std::vector<std::string> spellings(const WeightTensor& tensor, uint64_t expert) const;
  /// An entry that may well mean no tensor: towers, what has no weights, layers that are not there.
  bool may_be_unmatched(std::string_view text) const;

 private:
  struct Alias {
    std::string_view ours;
    std::string_view theirs;
  };

  std::vector<Alias> renames_;
  std::vector<Alias> aliases_;
  std::vector<std::string_view> prefixes_;
  uint64_t num_layers_ = 0;
  bool ties_head_ = false;
};

}  // namespace vramgauge

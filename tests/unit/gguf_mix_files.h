// Tensor lists of GGUF files (tests/data/gguf_tensors): names, shapes and the type each tensor has
// in several quantisations of one model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/gguf_mix.h"

namespace vramgauge::test {

struct ListedTensor {
  GgufTensor tensor;
  /// -1 outside the layers.
  int64_t layer = -1;
  /// Type by the name of the quantisation.
  std::map<std::string, GgmlType> types;
};

struct ListedModel {
  std::string name;
  std::string arch;
  GgufFacts facts;
  /// Quantisations in the order of the file; the first is the one the others were made from.
  std::vector<std::string> quants;
  std::vector<ListedTensor> tensors;
};

/// Every model of the folder, in the order of their names.
std::vector<ListedModel> listed_models();
ListedModel listed_model(const std::string& name);

/// Bytes of a tensor in a type.
uint64_t listed_bytes(const GgufTensor& tensor, GgmlType type);

/// A comma-separated table without quotes: the columns of each row by their names.
std::vector<std::map<std::string, std::string>> read_table(const std::string& file);

}  // namespace vramgauge::test

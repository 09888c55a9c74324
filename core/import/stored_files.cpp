#include "import/stored_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "import/gguf_tensors.h"
#include "units/index.h"

namespace vramgauge {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The name with a star for its first number that is not the layer's.
std::string starred(const StoredTensor& tensor) {
  const std::string layer = std::to_string(tensor.weight.layer);
  const std::string& name = tensor.file_name;
  bool has_passed_layer = tensor.weight.layer < 0;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    const bool is_layer = !has_passed_layer && part == layer;
    if (is_number(part) && !is_layer) return name.substr(0, begin) + "*" + name.substr(end);
    has_passed_layer = has_passed_layer || is_layer;
    begin = end + 1;
  }
  return name;
}

/// Experts that are stacked have a dimension for their number.
std::vector<uint64_t> dims_of(const WeightTensor& weight) {
  std::vector<uint64_t> dims;
  if (weight.count != 1) dims.push_back(weight.count);
  if (weight.rows != 1 || weight.count != 1) dims.push_back(weight.rows);
  dims.push_back(weight.cols);
  return dims;
}

StoredWeight stored_weight(const StoredTensor& tensor, std::vector<uint64_t> dims) {
  StoredWeight weight;
  weight.name = tensor.file_name;
  weight.dims = std::move(dims);
  weight.type = tensor.dtype;
  weight.bytes = tensor.bytes;
  weight.role = tensor.weight.role;
  weight.layer = tensor.weight.layer;
  return weight;
}

/// Tensors that are alike but for the number that the star stands for, as one.
class Gatherer {
 public:
  void add(const StoredTensor& tensor) {
    StoredWeight weight = stored_weight(tensor, dims_of(tensor.weight));
    const std::string name = starred(tensor);
    std::vector<uint64_t>& rows = rows_[name];
    for (const uint64_t row : rows) {
      StoredWeight& known = weights_[index_of(row)];
      if (!is_alike(known, weight)) continue;
      known.name = name;
      ++known.count;
      return;
    }
    rows.push_back(weights_.size());
    weights_.push_back(std::move(weight));
  }

  std::vector<StoredWeight> take() { return std::move(weights_); }

 private:
  static bool is_alike(const StoredWeight& a, const StoredWeight& b) {
    return a.dims == b.dims && a.type == b.type && a.bytes == b.bytes && a.role == b.role &&
           a.layer == b.layer;
  }

  std::vector<StoredWeight> weights_;
  /// By starred name: kinds that differ in type or shape are few.
  std::map<std::string, std::vector<uint64_t>, std::less<>> rows_;
};

}  // namespace

StoredModel stored_model(const GgufHeader& header) {
  StoredModel stored;
  stored.container = StoredModel::Container::gguf;
  stored.architecture = header.text("general.architecture").value_or("");
  const std::vector<StoredTensor> tensors = gguf_stored_tensors(header);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const GgufTensorInfo& info = header.tensors[i];
    const auto* begin = info.dims.begin();
    stored.tensors.push_back(stored_weight(tensors[i], {begin, begin + info.num_dims}));
  }
  return stored;
}

StoredModel stored_model(const SafetensorsCheckpoint& checkpoint) {
  Gatherer gatherer;
  for (const StoredTensor& tensor : checkpoint.tensors)
    gatherer.add(tensor);
  return {StoredModel::Container::safetensors, "", gatherer.take()};
}

}  // namespace vramgauge

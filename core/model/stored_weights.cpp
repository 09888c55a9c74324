#include "model/stored_weights.h"

#include <algorithm>

#include "model/weight_tally.h"
#include "units/index.h"

namespace vramgauge {
namespace {

CheckedU64 num_elements(const StoredWeight& tensor) {
  CheckedU64 elements = tensor.count;
  for (const uint64_t dim : tensor.dims)
    elements *= dim;
  return elements;
}

}  // namespace

Result<FormattedWeights> stored_weights(const StoredModel& stored) {
  WeightTally tally;
  for (const StoredWeight& tensor : stored.tensors) {
    if (tensor.role == TensorRole::mtp) continue;
    tally.add(role_group(tensor.role), tensor.type, num_elements(tensor),
              CheckedU64(tensor.bytes) * tensor.count);
  }
  return tally.finish("these files");
}

std::vector<LlamaCppTensor> llama_cpp_tensors(const StoredModel& stored) {
  std::vector<LlamaCppTensor> tensors;
  if (stored.container != StoredModel::Container::gguf) return tensors;
  for (const StoredWeight& weight : stored.tensors) {
    const GgmlTypeInfo* type = find_ggml_type(weight.type);
    if (type == nullptr) continue;  // a reader has checked it
    LlamaCppTensor tensor{weight.name, {1, 1, 1, 1}, type->type};
    std::copy_n(weight.dims.begin(), std::min(weight.dims.size(), tensor.dims.size()),
                tensor.dims.begin());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace vramgauge

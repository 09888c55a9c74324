// A model as JSON, from anywhere. What is read is written, read and written again: the second text
// must be the first; and everything that sizes a model must cope with it.
#include <cstdio>
#include <cstdlib>

#include "fuzz_session.h"
#include "import/spec_json.h"
#include "model/cache_layout.h"
#include "model/checkpoint_format.h"
#include "model/llama_cpp_weights.h"
#include "model/parameters.h"
#include "model/stored_weights.h"
#include "model/weights.h"
#include "specs/cache_type.h"

using namespace vramgauge;

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "spec: %s\n", what);
  std::abort();
}

void check_messages(const Diagnostics& errors) {
  if (errors.empty()) broken("a failure without an error");
  for (const Diagnostic& error : errors) {
    if (message_of(error).empty()) broken("an error without a message");
  }
}

/// More layers or tensors say nothing more.
constexpr uint64_t kMaxLayers = 200;
constexpr uint64_t kMaxTensors = 20'000;

void check_text(const SpecDocument& document) {
  const std::string text = json::write(write_spec(document));
  const Result<json::Value> value = json::parse(text);
  if (!value) broken("what was written is no JSON");
  const Result<SpecDocument> copy = read_spec(*value);
  if (!copy) broken("what was written is not read");
  if (json::write(write_spec(*copy)) != text) broken("the second text is another one");
}

void use(const SpecDocument& document) {
  const ModelSpec& spec = document.model.spec;
  const std::vector<WeightTensor> tensors = weight_tensors(spec);
  count_parameters(tensors);
  const auto cache = cache_layout(spec, sixteen_bit_cache(), sixteen_bit_cache(), 2);
  if (!cache) check_messages(cache.error());
  if (document.quantization) {
    const auto weights = format_resolved(tensors, spec, *document.quantization);
    if (!weights) check_messages(weights.error());
  }
  if (!document.stored) return;
  const auto weights = stored_weights(*document.stored);
  if (!weights) check_messages(weights.error());
  llama_cpp_buffers(llama_cpp_weights(document.stored->architecture, spec.layers.size(),
                                      llama_cpp_tensors(*document.stored)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<json::Value> value = json::parse(fuzz::as_text(data, size));
  if (!value) return 0;
  const Result<SpecDocument> document = read_spec(*value);
  if (!document) {
    check_messages(document.error());
    return 0;
  }
  const ModelSpec& spec = document->model.spec;
  if (spec.layers.size() + spec.mtp_layers.size() > kMaxLayers) return 0;
  if (document->stored && document->stored->tensors.size() > kMaxTensors) return 0;
  check_text(*document);
  use(*document);
  return 0;
}

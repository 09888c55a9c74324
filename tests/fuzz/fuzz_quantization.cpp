// A config.json with its quantisation, and behind a zero byte hf_quant_config.json, from anywhere.
// What is understood is resolved against the model's tensors and sized.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "fuzz_session.h"
#include "import/hf_config.h"
#include "import/quantization_config.h"
#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "model/weights.h"

using namespace vramgauge;

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "quantisation: %s\n", what);
  std::abort();
}

void check_messages(const Diagnostics& errors) {
  if (errors.empty()) broken("a failure without an error");
  for (const Diagnostic& error : errors) {
    if (message_of(error).empty()) broken("an error without a message");
  }
}

/// Layers as in the smallest models: a configuration of 10,000 says nothing more.
constexpr uint64_t kMaxLayers = 200;

void use(const json::Value& config, const QuantizationConfig& quantization) {
  const Result<ImportedModel> model = import_hf_config(config, nullptr);
  if (!model) return check_messages(model.error());
  if (model->spec.layers.size() > kMaxLayers) return;
  const std::vector<WeightTensor> tensors = weight_tensors(model->spec);
  const ResolvedQuantization resolved = resolve_quantization(tensors, model->spec, quantization);
  if (!resolved.refused.empty()) return check_messages(resolved.refused);
  if (resolved.scheme_of_tensor.size() != tensors.size()) broken("tensors without a scheme");
  const auto weights = format_resolved(tensors, model->spec, resolved);
  if (!weights) check_messages(weights.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const auto zero = text.find('\0');
  const Result<json::Value> config = json::parse(text.substr(0, zero));
  if (!config) return 0;
  std::optional<json::Value> beside;
  if (zero != std::string_view::npos) {
    const Result<json::Value> parsed = json::parse(text.substr(zero + 1));
    if (parsed) beside = *parsed;
  }
  const auto quantization = read_quantization(*config, beside ? &*beside : nullptr);
  if (!quantization) {
    check_messages(quantization.error());
  } else if (*quantization) {
    use(*config, **quantization);
  }
  return 0;
}

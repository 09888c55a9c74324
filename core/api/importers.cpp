#include "api/importers.h"

#include <utility>

#include "api/session.h"
#include "import/hf_config.h"
#include "import/quantization_config.h"
#include "import/spec_json.h"
#include "model/checkpoint_resolve.h"
#include "model/weights.h"

namespace vramgauge::api {
namespace {

/// The method that a configuration names which could not be read.
std::string named_method(const ForeignModel& model) {
  const json::Value* text_config = model.config->find("text_config");
  for (const json::Value* holder : {model.config, text_config}) {
    const json::Value* quantization =
        holder == nullptr ? nullptr : holder->find("quantization_config");
    const json::Value* method =
        quantization == nullptr ? nullptr : quantization->find("quant_method");
    if (method != nullptr && method->as_string() != nullptr) return *method->as_string();
  }
  return model.quant_config == nullptr ? std::string() : std::string("modelopt");
}

std::optional<ResolvedQuantization> quantization_of(const ForeignModel& model,
                                                    const ModelSpec& spec) {
  Result<std::optional<QuantizationConfig>> read =
      read_quantization(*model.config, model.quant_config);
  if (!read) return refused_quantization(named_method(model), std::move(read.error()));
  if (!*read) return std::nullopt;
  return resolve_quantization(weight_tensors(spec), spec, **read);
}

Result<json::Value> spec_of_config(const ForeignModel& model) {
  Result<ImportedModel> imported = import_hf_config(*model.config, model.class_defaults);
  if (!imported) return fail(std::move(imported.error()));
  SpecDocument document;
  document.quantization = quantization_of(model, imported->spec);
  document.model = std::move(*imported);
  return write_spec(document);
}

}  // namespace

const Importers& all_importers() {
  static constexpr Importers kImporters = {spec_of_config};
  return kImporters;
}

}  // namespace vramgauge::api

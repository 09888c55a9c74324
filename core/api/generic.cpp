#include "api/generic.h"

#include <utility>

#include "engine/generic.h"
#include "report/arithmetic.h"

namespace vramgauge::api {
namespace {

std::string model_source(const LoadedModel& model) {
  return model.id.empty() ? std::string("the configuration given")
                          : model.id + " (" + model.source + ")";
}

/// Adds the arithmetic and the sources to the terms of a breakdown.
void explain(Breakdown& breakdown, const Resolved& resolved, const GenericModel& model,
             const GenericConstants& constants) {
  for (DeviceBreakdown& device : breakdown.devices) {
    Term& weights = device.terms[0];
    Term& cache = device.terms[1];
    Term& activations = device.terms[2];
    Term& runtime = device.terms[3];
    weights.lines = weight_lines(*resolved.weights, resolved.format, resolved.scenario.gpu_count);
    weights.source = model_source(*resolved.model);
    cache.lines = cache_lines(resolved.cache, resolved.scenario);
    cache.source = model_source(*resolved.model);
    activations.lines =
        generic_activation_lines(resolved.scenario, model, weights.bytes, cache.bytes);
    activations.source = constants.source;
    runtime.lines = generic_runtime_lines(resolved.scenario);
    runtime.source = constants.source;
  }
}

GenericModel model_of(const Resolved& resolved) {
  GenericModel model;
  model.weights = resolved.weights->total;
  model.weights_basis = resolved.weights->basis;
  model.cache = &resolved.cache;
  model.hidden_size = resolved.model->spec.hidden_size;
  model.intermediate_size = active_intermediate_size(resolved.model->spec);
  return model;
}

/// What the rule reads of the catalogue and the model.
struct KeptGeneric final : Kept {
  GenericConstants constants;
  GenericModel model;
  HardwareSpec hardware;
  /// For which the constants were read.
  Decimal overhead_factor;
  Decimal fixed_gib;
  Decimal live_buffers;

  bool is_of(const Scenario& scenario) const {
    return overhead_factor == scenario.overhead_factor && fixed_gib == scenario.fixed_gib &&
           live_buffers == scenario.live_buffers;
  }
};

Result<std::unique_ptr<Kept>> read_kept(const Resolved& resolved) {
  auto kept = std::make_unique<KeptGeneric>();
  auto constants = generic_constants(*resolved.engine, resolved.scenario);
  if (!constants) return fail(std::move(constants.error()));
  kept->constants = std::move(*constants);
  kept->model = model_of(resolved);
  kept->hardware = without_held(resolved.hardware);
  kept->overhead_factor = resolved.scenario.overhead_factor;
  kept->fixed_gib = resolved.scenario.fixed_gib;
  kept->live_buffers = resolved.scenario.live_buffers;
  return std::unique_ptr<Kept>(std::move(kept));
}

}  // namespace

Result<Breakdown> generic_breakdown(const Resolved& resolved, const std::string& path,
                                    std::unique_ptr<Kept>& kept) {
  if (kept == nullptr || !static_cast<KeptGeneric&>(*kept).is_of(resolved.scenario)) {
    auto read = read_kept(resolved);
    if (!read) return fail(std::move(read.error()));
    kept = std::move(*read);
  }
  const auto& known = static_cast<const KeptGeneric&>(*kept);
  GenericModel model = known.model;
  model.weights = resolved.weights->total;
  model.weights_basis = resolved.weights->basis;
  auto breakdown = estimate_generic(resolved.scenario, model, known.hardware, known.constants);
  if (!breakdown) return fail(below(path, std::move(breakdown.error())));
  return breakdown;
}

Result<EngineAnswer> estimate_with_generic(const Resolved& resolved, const std::string& path) {
  const auto constants = generic_constants(*resolved.engine, resolved.scenario);
  if (!constants) return fail(constants.error());
  const GenericModel model = model_of(resolved);
  auto breakdown =
      estimate_generic(resolved.scenario, model, without_held(resolved.hardware), *constants);
  if (!breakdown) return fail(below(path, std::move(breakdown.error())));
  breakdown->answers =
      generic_answers(resolved.scenario, model, *constants, breakdown->devices.front().usable);
  explain(*breakdown, resolved, model, *constants);
  return EngineAnswer{std::move(*breakdown), {}};
}

}  // namespace vramgauge::api

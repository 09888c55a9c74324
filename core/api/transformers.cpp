#include "api/transformers.h"

#include <algorithm>
#include <utility>

#include "api/staged.h"
#include "model/rank_weights.h"
#include "model/weights.h"
#include "report/arithmetic.h"
#include "report/staged_arithmetic.h"
#include "units/index.h"
#include "units/text_list.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kName = "Transformers";
/// Families of formats without a loader of its own (quantizers/auto.py of 5.0).
constexpr std::string_view kNotLoaded = "exl2,exl3,mlx";
constexpr uint64_t kWideBytes = 4;

bool is_gguf(const Resolved& resolved) {
  const auto& stored = resolved.model->stored;
  const bool is_own = resolved.format.id == kOwnFormat && stored.has_value();
  return is_own ? stored->container == StoredModel::Container::gguf
                : resolved.format.family == "gguf";
}

uint64_t dtype_bytes(const Resolved& resolved) {
  return resolved.format.id == "fp32" ? kWideBytes : 2;
}

/// Weights as they are stored; files of llama.cpp become matrices of the model's dtype.
Result<Bytes> loaded_bytes(const Resolved& resolved) {
  if (!is_gguf(resolved)) return resolved.weights->total;
  const auto bytes = bytes_of(CheckedU64(resolved.weights->elements) * dtype_bytes(resolved));
  if (!bytes)
    return fail(ErrorCode::value_overflow, "/weight_format",
                {{"what", std::string_view("The model")}});
  return *bytes;
}

/// The share of each device, as layers are dealt out: by the sizes that they have at 16 bits.
Result<std::vector<Bytes>> stage_weights(const Resolved& resolved, const ParallelPlan& plan) {
  const auto total = loaded_bytes(resolved);
  if (!total) return fail(total.error());
  if (plan.pipeline_stages == 1) return std::vector<Bytes>{*total};
  const ModelSpec& spec = resolved.model->spec;
  const std::vector<WeightTensor> tensors = weight_tensors(spec);
  const std::vector<TensorLayout> layouts(tensors.size(),
                                          IdealLayout{Decimal::from_micros(16 * Decimal::kScale)});
  const StoredTensors stored{&spec, &tensors, layouts, Bytes()};
  std::vector<Bytes> stages;
  CheckedU64 sum;
  for (uint64_t stage = 0; stage < plan.pipeline_stages; ++stage) {
    const auto rank = rank_weights(stored, plan, {stage, 0, 0});
    if (!rank) return fail(rank.error());
    stages.push_back(rank->device);
    sum += checked(rank->device);
  }
  for (Bytes& stage : stages) {
    stage = bytes_of(scaled(checked(*total), stage.count(), sum.value_or(0)))
                .value_or(Bytes(kMaxApiBytes));
  }
  return stages;
}

Result<void> check(const Resolved& resolved) {
  if (lists(kNotLoaded, resolved.format.family)) {
    return fail(ErrorCode::engine_format_not_served, "/weight_format",
                {{"engine", kName}, {"id", resolved.format.id}});
  }
  const bool is_wide = resolved.cache_type_k.id == "fp32" && dtype_bytes(resolved) == kWideBytes;
  constexpr std::string_view kCacheTypes = "fp16,bf16";
  for (const auto* type : {&resolved.cache_type_k, &resolved.cache_type_v}) {
    if (is_wide || lists(kCacheTypes, type->id)) continue;
    return fail(ErrorCode::engine_cache_type_not_served,
                type == &resolved.cache_type_k ? "/cache_type_k" : "/cache_type_v",
                {{"engine", kName}, {"id", type->id}, {"choices", kCacheTypes}});
  }
  return {};
}

Result<TransformersInputs> inputs_of(const Resolved& resolved) {
  const Scenario& scenario = resolved.scenario;
  TransformersInputs inputs;
  inputs.spec = &resolved.model->spec;
  inputs.plan.pipeline_stages = scenario.gpu_count;
  auto weights = stage_weights(resolved, inputs.plan);
  if (!weights) return fail(below("/gpu_count", std::move(weights.error())));
  inputs.stage_weights = std::move(*weights);
  // Where each layer goes is the loader's choice, by what is free.
  inputs.weights_basis = scenario.gpu_count > 1 ? Basis::assumed : resolved.weights->basis;
  inputs.device_name = resolved.hardware.name;
  inputs.device_total = resolved.hardware.usable;
  inputs.held_by_others = resolved.hardware.held;
  inputs.cache_type = resolved.cache_type_k;
  inputs.dtype_bytes = dtype_bytes(resolved);
  inputs.state_precision.conv_element_bytes = inputs.dtype_bytes;
  inputs.context_tokens = scenario.context_tokens;
  inputs.prompt_tokens =
      scenario.prefill_tokens == 0 ? scenario.context_tokens : scenario.prefill_tokens;
  inputs.num_requests = scenario.num_requests;
  inputs.is_static = scenario.cache_implementation == "static";
  inputs.is_eager = scenario.flash_attn == "off";
  auto calibration = Calibration::parse(scenario.calibration);
  if (!calibration) return fail(std::move(calibration.error()));
  inputs.calibration = *calibration;
  return inputs;
}

void explain_weights(Breakdown& breakdown, const Resolved& resolved) {
  for (DeviceBreakdown& device : breakdown.devices) {
    Term& weights = device.terms.front();
    weights.lines = weight_lines(*resolved.weights, resolved.format, 1);
    if (is_gguf(resolved) || breakdown.devices.size() > 1) {
      weights.lines.push_back({"weights_of_device",
                               "layers of this device in the dtype of the model", "",
                               weights.bytes.count()});
    }
  }
}

/// A scenario in the engine's own terms.
struct Question {
  TransformersInputs inputs;
  TransformersProfile profile;
};

Result<Question> question_of(const Resolved& resolved, const std::string& path) {
  if (auto is_known = check(resolved); !is_known) return fail(below(path, is_known.error()));
  const auto release = release_of(resolved.scenario, path);
  if (!release) return fail(release.error());
  auto profile = transformers_profile(*resolved.engine, *release);
  if (!profile) return fail(std::move(profile.error()));
  auto inputs = inputs_of(resolved);
  if (!inputs) return fail(below(path, std::move(inputs.error())));
  return Question{std::move(*inputs), *profile};
}

}  // namespace

Result<EngineAnswer> estimate_with_transformers(const Resolved& resolved, const std::string& path) {
  const auto question = question_of(resolved, path);
  if (!question) return fail(question.error());
  const auto& [inputs, profile] = *question;
  auto estimate = estimate_transformers(inputs, profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_transformers(*estimate, inputs, profile);
  explain_weights(estimate->breakdown, resolved);
  estimate->breakdown.answers = transformers_answers(inputs, profile, estimate->caches);
  EngineAnswer answer;
  Facts facts;
  facts.number("prompt_peak", estimate->prefill.bytes(true).value_or(0), "bytes")
      .number("last_token_peak", estimate->decode.bytes(true).value_or(0), "bytes");
  answer.facts = std::move(facts.list);
  answer.breakdown = std::move(estimate->breakdown);
  if (is_gguf(resolved)) {
    answer.notes.push_back({ErrorCode::engine_dequantised,
                            path + "/weight_format",
                            {{"engine", kName}, {"id", resolved.format.id}},
                            std::nullopt});
  }
  return answer;
}

Result<Breakdown> transformers_breakdown(const Resolved& resolved, const std::string& path,
                                         std::unique_ptr<Kept>& kept) {
  const auto question = kept_question(question_of, resolved, path, kept);
  if (!question) return fail(question.error());
  (*question)->inputs.num_requests = resolved.scenario.num_requests;
  auto estimate = estimate_transformers((*question)->inputs, (*question)->profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  return std::move(estimate->breakdown);
}

}  // namespace vramgauge::api

#include "accuracy_log_others.h"

#include <algorithm>
#include <array>
#include <utility>

#include "accuracy_checkpoints.h"
#include "engine/cache_sums.h"
#include "engine/llama_cpp.h"
#include "engine/llama_cpp_derived.h"
#include "engine/llama_cpp_profile.h"
#include "engine/state_precision.h"
#include "units/index.h"

namespace vramgauge::tools {
namespace {

/// Of weights and activations.
constexpr uint64_t kHalfBytes = 2;

/// A flag of a decimal fraction.
std::optional<Decimal> fraction(const EngineLog& row, std::string_view key) {
  const auto value = row.flag_real(key);
  return value ? Decimal::from_double(*value) : std::nullopt;
}

/// The first flag that is stated; 0 = none.
uint64_t first_count(const EngineLog& row, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const uint64_t count = row.flag_count(key)) return count;
  }
  return 0;
}

uint64_t context_tokens(const EngineLog& row, const ModelSpec& spec) {
  const uint64_t stated = first_count(
      row, {"context_length", "max_model_len", "max_seq_len", "ctx", "num_ctx", "n_ctx"});
  return stated == 0 ? spec.max_context_tokens : stated;
}

/// What inputs of both engines have in common.
template <typename Inputs>
Predictable<Inputs> common_inputs(const EngineLog& row, TruthContext& context) {
  const auto model = model_of_log(row, context);
  if (!model) return because(model.error());
  const auto card = card_of_log(row, context.presets);
  if (!card) return because(card.error());
  const auto type = context.presets.cache_type(cache_type_of_log(row, **model));
  if (!type) return because(type.error());
  const auto weights = weights_of_log(row, context);
  if (!weights) return because(weights.error());
  Inputs inputs;
  inputs.spec = &(*model)->spec;
  inputs.plan = plan_of_log(row);
  inputs.stage_weights.assign(index_of(inputs.plan.pipeline_stages), *weights);
  inputs.device_name = row.text("gpu");
  inputs.device_total = bytes_from_gib(card->total_gib);
  inputs.cache_type = *type;
  inputs.state_precision = server_state_precision(*inputs.spec, kHalfBytes);
  inputs.context_tokens = context_tokens(row, *inputs.spec);
  return inputs;
}

template <typename Inputs>
Predictable<double> bytes_per_token(const Inputs& inputs) {
  const auto sums = predictable(cache_sums(*inputs.spec, inputs.plan, 0, inputs.plan.tensor_ranks,
                                           inputs.cache_type, inputs.state_precision));
  if (!sums) return because(sums.error());
  return static_cast<double>((sums->full_bytes + sums->window_bytes).value_or(0));
}

VerdictState starts(bool at_least, bool at_estimate) {
  if (at_least) return VerdictState::fits;
  return at_estimate ? VerdictState::tight : VerdictState::does_not_fit;
}

/// Devices that take host memory: nothing there is refused when it starts.
bool is_host(const std::string& gpu) { return contains(gpu, "CPU") || contains(gpu, "NPU"); }

GgmlType ggml_cache_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, GgmlType>, 4> kTypes = {
      {{"q8_0", GgmlType::q8_0},
       {"q4_0", GgmlType::q4_0},
       {"q5_1", GgmlType::q5_1},
       {"f32", GgmlType::f32}}};
  for (const auto& [type, value] : kTypes) {
    if (name == type) return value;
  }
  return GgmlType::f16;
}

GgmlType llama_cpp_cache_type(const EngineLog& row, std::string_view flag) {
  const char* known = log_facts(row.id()).cache_type;
  return ggml_cache_type(known != nullptr ? std::string(known) : row.flag(flag));
}

LlamaCppOptions llama_cpp_options(const EngineLog& row, const ModelSpec& spec) {
  LlamaCppOptions options;
  options.ctx_tokens = context_tokens(row, spec);
  options.type_k = llama_cpp_cache_type(row, "type_k");
  options.type_v = llama_cpp_cache_type(row, "type_v");
  const uint64_t layers = first_count(row, {"n_gpu_layers", "num_gpu"});
  if (layers != 0) options.n_gpu_layers = static_cast<int64_t>(layers);
  if (const uint64_t tokens = row.flag_count("n_ubatch")) options.n_ubatch = tokens;
  options.swa_full = row.flag_is("swa_full", true);
  return options;
}

Predictable<LlamaCppProfile> newest_llama_cpp(const EnginePresets& presets) {
  const CatalogueEntry* entry = presets.catalogue().engines().find("llama_cpp");
  if (entry == nullptr) return because("the catalogue has no engine llama_cpp");
  return predictable(llama_cpp_profile(entry->facts));
}

}  // namespace

Predictable<SglangInputs> sglang_inputs_of_log(const EngineLog& row, TruthContext& context) {
  auto inputs = common_inputs<SglangInputs>(row, context);
  if (!inputs) return inputs;
  inputs->mem_fraction_static = fraction(row, "mem_fraction_static");
  inputs->swa_full_tokens_ratio = fraction(row, "swa_full_tokens_ratio");
  inputs->chunked_prefill_size = row.flag_count("chunked_prefill_size");
  inputs->max_total_tokens = row.flag_count("max_total_tokens");
  inputs->has_draft_model = !row.flag("speculative").empty();
  return inputs;
}

Predictable<TrtllmInputs> trtllm_inputs_of_log(const EngineLog& row, TruthContext& context) {
  auto inputs = common_inputs<TrtllmInputs>(row, context);
  if (!inputs) return inputs;
  inputs->free_gpu_memory_fraction = fraction(row, "free_gpu_memory_fraction");
  inputs->tokens_per_block = row.flag_count("tokens_per_block");
  inputs->max_num_tokens = row.flag_count("max_num_tokens");
  inputs->max_batch_size = row.flag_count("max_batch_size");
  return inputs;
}

Predictable<ServedFigures> sglang_figures(const EngineLog& row, TruthContext& context) {
  const auto inputs = sglang_inputs_of_log(row, context);
  if (!inputs) return because(inputs.error());
  const auto profile = context.presets.sglang(row.text("engine_version"));
  if (!profile) return because(profile.error());
  const auto token_bytes = bytes_per_token(*inputs);
  if (!token_bytes) return because(token_bytes.error());
  const auto estimate = predictable(estimate_sglang(*inputs, *profile));
  if (!estimate) return because(estimate.error());
  ServedFigures figures;
  figures.bytes_per_token = *token_bytes;
  figures.pool = {gib(estimate->rest), gib(estimate->rest_least), gib(estimate->rest_most)};
  figures.pool_tokens = static_cast<double>(estimate->pools.full_tokens);
  figures.verdict = starts(estimate->pools_least.full_tokens > 0, estimate->starts);
  return figures;
}

Predictable<ServedFigures> trtllm_figures(const EngineLog& row, TruthContext& context) {
  const auto inputs = trtllm_inputs_of_log(row, context);
  if (!inputs) return because(inputs.error());
  const auto profile = context.presets.trtllm(row.text("engine_version"));
  if (!profile) return because(profile.error());
  const auto token_bytes = bytes_per_token(*inputs);
  if (!token_bytes) return because(token_bytes.error());
  const auto estimate = predictable(estimate_trtllm(*inputs, *profile));
  if (!estimate) return because(estimate.error());
  ServedFigures figures;
  figures.bytes_per_token = *token_bytes;
  figures.pool = without_band(gib(estimate->pool));
  figures.pool_tokens = static_cast<double>(estimate->pool_tokens);
  const bool is_certain = estimate->breakdown.verdict.state == VerdictState::fits;
  figures.verdict = starts(is_certain, estimate->pool_tokens > 0);
  return figures;
}

Predictable<ServedFigures> llama_cpp_figures(const EngineLog& row, TruthContext& context) {
  ServedFigures figures;
  figures.verdict = VerdictState::fits;
  if (is_host(row.text("gpu"))) return figures;
  const auto model = model_of_log(row, context);
  if (!model) return because(model.error());
  const auto card = card_of_log(row, context.presets);
  if (!card) return because(card.error());
  const std::string format_id = gguf_format_of_log(row);
  if (format_id.empty()) return because("the row does not say how its file is quantised");
  const auto format = context.presets.weight_format(format_id);
  if (!format) return because(format.error());
  const auto derived = predictable(llama_cpp_model((*model)->spec, *format));
  if (!derived) return because(derived.error());
  const auto profile = newest_llama_cpp(context.presets);
  if (!profile) return because(profile.error());
  LlamaCppMachine machine;
  machine.gpus.assign(index_of(std::max<uint64_t>(row.count("gpu_count"), 1)),
                      custom_hardware(bytes_from_gib(card->total_gib)));
  LlamaCppOptions options = llama_cpp_options(row, (*model)->spec);
  const auto estimate = predictable(
      estimate_llama_cpp(*derived, std::move(options), machine, {}, profile->constants));
  if (!estimate) return because(estimate.error());
  figures.verdict = estimate->breakdown.verdict.state;
  return figures;
}

}  // namespace vramgauge::tools

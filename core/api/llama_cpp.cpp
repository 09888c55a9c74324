#include "api/llama_cpp.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/llama_cpp_derived.h"
#include "engine/llama_cpp_profile.h"
#include "report/llama_cpp_arithmetic.h"
#include "units/index.h"
#include "units/text_list.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kOn = "on";
/// --spec-draft-n-max, common/common.h of June to August 2026.
constexpr uint64_t kDraftTokens = 3;

tl::unexpected<Diagnostics> unreadable(std::string_view key, std::string_view value,
                                       std::string_view expected) {
  return fail(ErrorCode::value_unreadable, "/" + std::string(key),
              {{"key", key}, {"value", value.substr(0, 80)}, {"expected", expected}});
}

/// Cache types that llama.cpp has, by the catalogue's names.
Result<GgmlType> ggml_cache_type(std::string_view id, std::string_view key) {
  constexpr std::pair<std::string_view, GgmlType> kTypes[] = {
      {"auto", GgmlType::f16},  {"fp32", GgmlType::f32},  {"fp16", GgmlType::f16},
      {"bf16", GgmlType::bf16}, {"q8_0", GgmlType::q8_0}, {"q4_0", GgmlType::q4_0},
      {"q4_1", GgmlType::q4_1}, {"q5_0", GgmlType::q5_0}, {"iq4_nl", GgmlType::iq4_nl},
      {"q5_1", GgmlType::q5_1},
  };
  for (const auto& [name, type] : kTypes) {
    if (name == id) return type;
  }
  return unreadable(key, id, "fp32, fp16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl");
}

Result<std::vector<float>> tensor_split(const std::string& text) {
  std::vector<float> shares;
  for (const std::string_view part : parts_of(text)) {
    const auto share = Decimal::parse(part);
    if (!share) return unreadable("tensor_split", text, "numbers separated by commas");
    shares.push_back(static_cast<float>(share->micros()) / static_cast<float>(Decimal::kScale));
  }
  return shares;
}

/// Index of a buffer's device: CPU, or a name that ends in its number, such as CUDA1.
std::optional<uint64_t> buffer_device(std::string_view buffer) {
  if (buffer == "CPU") return LlamaCppOverride::kHost;
  const auto digits = buffer.find_last_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  return parse_count(buffer.substr(digits + 1));
}

Result<std::vector<LlamaCppOverride>> overrides(const std::string& text) {
  std::vector<LlamaCppOverride> list;
  for (const std::string_view part : parts_of(text)) {
    const auto equals = part.rfind('=');
    const auto device =
        equals == std::string_view::npos ? std::nullopt : buffer_device(part.substr(equals + 1));
    if (!device) return unreadable("override_tensors", text, "PATTERN=BUFFER");
    list.push_back({std::string(part.substr(0, equals)), *device});
  }
  return list;
}

LlamaCppProgram program_of(std::string_view word) {
  if (word == "api") return LlamaCppProgram::api;
  return word == "bench" ? LlamaCppProgram::bench : LlamaCppProgram::server;
}

LlamaCppFlashAttention flash_attention_of(std::string_view word) {
  if (word == "auto") return LlamaCppFlashAttention::automatic;
  return word == kOn ? LlamaCppFlashAttention::on : LlamaCppFlashAttention::off;
}

Result<LlamaCppProfile> profile_of(const Resolved& resolved) {
  const std::string& version = resolved.scenario.engine_version;
  if (version.empty()) return llama_cpp_profile(*resolved.engine);
  const auto build = llama_cpp_build(version);
  if (!build) return unreadable("engine_version", version, "a build such as b6975");
  return llama_cpp_profile(*resolved.engine, *build);
}

Result<LlamaCppOptions> options_of(const Scenario& scenario, const LlamaCppRules& rules) {
  LlamaCppOptions options;
  auto type_k = ggml_cache_type(scenario.cache_type_k, "cache_type_k");
  auto type_v = ggml_cache_type(scenario.cache_type_v, "cache_type_v");
  auto split = tensor_split(scenario.tensor_split);
  auto overridden = overrides(scenario.override_tensors);
  if (!type_k) return fail(std::move(type_k.error()));
  if (!type_v) return fail(std::move(type_v.error()));
  if (!split) return fail(std::move(split.error()));
  if (!overridden) return fail(std::move(overridden.error()));
  const auto context = (CheckedU64(scenario.context_tokens) * scenario.num_requests).get();
  if (!context)
    return fail(ErrorCode::value_overflow, "/context_tokens", {{"what", "The context"}});
  options.program = program_of(scenario.program);
  options.ctx_tokens = *context;
  options.n_seq_max = scenario.num_requests;
  options.kv_unified = scenario.kv_unified == kOn;
  options.n_batch = scenario.batch_tokens;
  options.n_ubatch = scenario.ubatch_tokens;
  options.type_k = *type_k;
  options.type_v = *type_v;
  options.flash_attn = flash_attention_of(scenario.flash_attn);
  options.swa_full = scenario.swa_full == kOn;
  options.n_gpu_layers = static_cast<int64_t>(scenario.gpu_layers);
  options.tensor_split = std::move(*split);
  options.n_cpu_moe = scenario.cpu_moe_layers;
  options.offload_kv = scenario.kv_offload == kOn;
  options.offload_ops = scenario.op_offload == kOn;
  options.overrides = std::move(*overridden);
  options.rules = rules;
  if (!scenario.draft_model.empty())
    options.n_draft_tokens = scenario.draft_tokens == 0 ? kDraftTokens : scenario.draft_tokens;
  return options;
}

/// What the draft model does not take over from the model itself.
Result<LlamaCppOptions> draft_options_of(const Scenario& scenario) {
  LlamaCppOptions options;
  const auto type = ggml_cache_type(scenario.draft_cache_type, "draft_cache_type");
  if (!type) return fail(type.error());
  options.type_k = options.type_v = *type;
  options.n_gpu_layers = static_cast<int64_t>(scenario.draft_gpu_layers);
  return options;
}

tl::unexpected<Diagnostics> not_gguf(std::string_view format) {
  return fail(ErrorCode::format_refused, "/weight_format",
              {{"id", format}, {"reason", "llama.cpp reads GGUF files only"}});
}

/// The tensors of a file's header.
Result<std::vector<LlamaCppTensor>> tensors_of(const StoredModel& stored) {
  if (stored.container != StoredModel::Container::gguf) return not_gguf("safetensors");
  std::vector<LlamaCppTensor> tensors;
  for (const StoredWeight& weight : stored.tensors) {
    LlamaCppTensor tensor;
    const GgmlTypeInfo* type = find_ggml_type(weight.type);
    if (type == nullptr || weight.dims.size() > tensor.dims.size()) return not_gguf(weight.type);
    tensor.name = weight.name;
    tensor.type = type->type;
    std::copy(weight.dims.begin(), weight.dims.end(), tensor.dims.begin());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// The file type that keeps a checkpoint's own dtype.
std::optional<GgufMix> plain_mix(std::string_view format) {
  if (format == "fp32") return GgufMix::f32;
  if (format == "fp16") return GgufMix::f16;
  if (format == "bf16") return GgufMix::bf16;
  return std::nullopt;
}

/// A model in a format.
Result<LlamaCppModel> model_of(const LoadedModel& loaded, WeightFormat format) {
  if (format.id == kOwnFormat && loaded.stored) {
    auto tensors = tensors_of(*loaded.stored);
    if (!tensors) return fail(std::move(tensors.error()));
    return llama_cpp_model(loaded.stored->architecture, loaded.spec, std::move(*tensors));
  }
  if (const auto mix = plain_mix(format.id)) format.layout = GgufMixLayout{*mix};
  return llama_cpp_model(loaded.spec, format);
}

std::optional<Bytes> gib(const Decimal& value) {
  return bytes_of(CheckedU64(uint64_t{1} << 30) * value);
}

}  // namespace

namespace {

/// Everything but the model.
Result<LlamaCppQuestion> question_without_model(const Resolved& resolved) {
  const Scenario& scenario = resolved.scenario;
  auto profile = profile_of(resolved);
  if (!profile) return fail(std::move(profile.error()));
  auto options = options_of(scenario, profile->rules);
  if (!options) return fail(std::move(options.error()));
  LlamaCppMachine machine;
  machine.gpus.assign(index_of(scenario.gpu_count), without_held(resolved.hardware));
  for (const HardwareSpec& gpu : resolved.more_gpus)
    machine.gpus.push_back(without_held(gpu));
  machine.host_ram = gib(scenario.host_ram_gib).value_or(Bytes());
  LlamaCppExtras extras;
  auto calibration = Calibration::parse(scenario.calibration);
  if (!calibration) return fail(std::move(calibration.error()));
  extras.calibration = *calibration;
  extras.projector = gib(scenario.projector_gib).value_or(Bytes());
  extras.lora = gib(scenario.lora_gib).value_or(Bytes());
  auto draft_options = draft_options_of(scenario);
  if (!draft_options) return fail(std::move(draft_options.error()));
  extras.draft_options = std::move(*draft_options);
  LlamaCppQuestion question;
  question.options = std::move(*options);
  question.machine = std::move(machine);
  question.extras = std::move(extras);
  question.profile = std::move(*profile);
  return question;
}

/// The model that drafts; null = none.
Result<std::unique_ptr<const LlamaCppModel>> draft_of(const Resolved& resolved) {
  if (resolved.draft == nullptr) return nullptr;
  if (resolved.scenario.program == "bench") {
    return fail(ErrorCode::value_not_a_choice, "/program",
                {{"key", "program"}, {"value", "bench"}, {"choices", "server, api"}});
  }
  auto model = model_of(*resolved.draft, resolved.draft_format);
  if (!model) {
    for (Diagnostic& error : model.error())
      error.path = error.code == ErrorCode::format_refused ? "/draft_format" : "/draft_model";
    return fail(std::move(model.error()));
  }
  return std::make_unique<const LlamaCppModel>(std::move(*model));
}

/// The models with their tensors, which take longer to put together than an estimate.
struct KeptLlamaCpp final : Kept {
  LlamaCppModel model;
  std::unique_ptr<const LlamaCppModel> draft;
};

Result<std::unique_ptr<KeptLlamaCpp>> models_of(const Resolved& resolved) {
  auto model = model_of(*resolved.model, resolved.format);
  if (!model) return fail(std::move(model.error()));
  auto draft = draft_of(resolved);
  if (!draft) return fail(std::move(draft.error()));
  auto models = std::make_unique<KeptLlamaCpp>();
  models->model = std::move(*model);
  models->draft = std::move(*draft);
  return models;
}

}  // namespace

Result<LlamaCppQuestion> llama_cpp_question(const Resolved& resolved, const std::string& path) {
  auto question = question_without_model(resolved);
  if (!question) return fail(below(path, std::move(question.error())));
  auto models = models_of(resolved);
  if (!models) return fail(below(path, std::move(models.error())));
  question->model = std::move((*models)->model);
  question->draft = std::move((*models)->draft);
  question->extras.draft = question->draft.get();
  return question;
}

Result<Breakdown> llama_cpp_breakdown(const Resolved& resolved, const std::string& path,
                                      std::unique_ptr<Kept>& kept) {
  auto question = question_without_model(resolved);
  if (!question) return fail(below(path, question.error()));
  if (kept == nullptr) {
    auto models = models_of(resolved);
    if (!models) return fail(below(path, std::move(models.error())));
    kept = std::move(*models);
  }
  const auto& models = static_cast<const KeptLlamaCpp&>(*kept);
  question->extras.draft = models.draft.get();
  auto estimate = estimate_llama_cpp(models.model, question->options, question->machine,
                                     question->extras, question->profile.constants);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  return std::move(estimate->breakdown);
}

Result<EngineAnswer> estimate_with_llama_cpp(const Resolved& resolved, const std::string& path) {
  auto question = llama_cpp_question(resolved, path);
  if (!question) return fail(std::move(question.error()));
  const auto& [model, draft, options, machine, extras, profile] = *question;
  auto estimate = estimate_llama_cpp(model, options, machine, extras, profile.constants);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_llama_cpp(*estimate, model, profile.source);
  estimate->breakdown.answers =
      llama_cpp_answers(model, options, machine, extras, profile.constants);
  return EngineAnswer{std::move(estimate->breakdown), below(path, std::move(estimate->notes))};
}

}  // namespace vramgauge::api

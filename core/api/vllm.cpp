#include "api/vllm.h"

#include <algorithm>
#include <utility>

#include "api/server_model.h"
#include "api/staged.h"
#include "api/vllm_notes.h"
#include "report/vllm_arithmetic.h"
#include "specs/model_traits.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kOn = "on";
/// Older cards have no kernels.
constexpr uint64_t kOldestCapability = 70;
/// Cards below that one kept the first engine, up to the release before this one.
constexpr uint64_t kFirstV1Capability = 80;
constexpr uint64_t kLastFirstEngine = 11'000;

/// layers/quantization and config/cache.py of 0.19.
constexpr ServerRules kRules = {
    "vLLM", "compressed-tensors,gptq,awq,fp8,torchao,bitsandbytes,hqq,gguf",
    "fp16,bf16,fp8,fp8_ds_mla,nvfp4,fp8_per_token_head,int8_per_token_head", "NVIDIA,AMD,Intel"};

tl::unexpected<Diagnostics> out_of_range(std::string_view key, uint64_t value, uint64_t min,
                                         uint64_t max) {
  return fail(ErrorCode::value_out_of_range, "/" + std::string(key),
              {{"key", key},
               {"value", std::to_string(value)},
               {"min", std::to_string(min)},
               {"max", std::to_string(max)}});
}

std::optional<Bytes> gib(const Decimal& value) {
  if (value.is_zero()) return std::nullopt;
  return bytes_of(CheckedU64(uint64_t{1} << 30) * value);
}

/// The release that is asked for, or the newest that the constants are known for.
Result<uint64_t> release_asked(const Resolved& resolved, const std::string& path) {
  auto release = release_of(resolved.scenario, path);
  if (!release || *release != UINT64_MAX) return release;
  const json::Value* newest = resolved.engine->find("version");
  const std::string* text = newest == nullptr ? nullptr : newest->as_string();
  return text == nullptr ? *release : release_number(*text).value_or(*release);
}

Result<VllmProfile> profile_of(const Resolved& resolved, uint64_t capability,
                               const std::string& path) {
  const auto release = release_asked(resolved, path);
  if (!release) return fail(release.error());
  const bool is_old_card = capability != 0 && capability < kFirstV1Capability;
  return vllm_profile(*resolved.engine, *release, is_old_card && *release < kLastFirstEngine);
}

Result<VllmFlags> flags_of(const Scenario& scenario) {
  VllmFlags flags;
  if (!scenario.memory_frac.is_zero()) flags.gpu_memory_utilization = scenario.memory_frac;
  flags.kv_cache_memory = gib(scenario.kv_cache_gib);
  flags.max_num_batched_tokens = scenario.max_num_batched_tokens;
  flags.max_num_seqs = scenario.max_num_seqs;
  flags.is_eager = scenario.enforce_eager == kOn;
  if (flags.max_num_batched_tokens != 0 && flags.max_num_batched_tokens < flags.max_num_seqs) {
    return out_of_range("max_num_batched_tokens", flags.max_num_batched_tokens, flags.max_num_seqs,
                        uint64_t{1} << 20);
  }
  return flags;
}

/// What states are kept for prefixes: without a mode, the last at a block boundary where the
/// family's prefixes are cached.
VllmStateMode state_mode_of(const Scenario& scenario, const ModelSpec& spec) {
  if (scenario.prefix_caching != kOn || scenario.mamba_cache_mode == "none")
    return VllmStateMode::none;
  if (scenario.mamba_cache_mode == "all") return VllmStateMode::all;
  const bool is_aligned = scenario.mamba_cache_mode == "align" || has_mixer<GatedDelta>(spec);
  return is_aligned ? VllmStateMode::align : VllmStateMode::none;
}

/// KV heads that ranks divide; 0 = latents, which they do not.
uint64_t num_kv_heads(const ModelSpec& spec) {
  uint64_t heads = 0;
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention != nullptr) heads = std::max(heads, attention->num_kv_heads);
    }
  }
  return heads;
}

/// Tokens are spread over ranks that would hold the same heads (config/model.py,
/// verify_with_parallel_config).
Result<void> check_context_ranks(const Scenario& scenario, const ServerModel& model) {
  const uint64_t ranks = model.plan.tensor_ranks;
  if (ranks % scenario.context_ranks != 0) {
    return fail(ErrorCode::engine_not_divisible, "/context_ranks",
                {{"what", std::string_view("tensor_ranks")},
                 {"size", ranks},
                 {"ranks", scenario.context_ranks}});
  }
  const uint64_t heads = num_kv_heads(*model.spec);
  const uint64_t most = heads == 0 ? ranks : std::max<uint64_t>(ranks / heads, 1);
  if (scenario.context_ranks > most)
    return out_of_range("context_ranks", scenario.context_ranks, 1, most);
  return {};
}

/// Ranks of adapters that the engine has kernels for (config/lora.py, MaxLoRARanks).
bool is_lora_rank(uint64_t rank) {
  constexpr uint64_t kRanks[] = {1, 8, 16, 32, 64, 128, 256, 320, 512};
  return std::find(std::begin(kRanks), std::end(kRanks), rank) != std::end(kRanks);
}

/// Sizes of blocks that the engine has (config/cache.py, BlockSize).
bool is_block_size(uint64_t tokens) {
  const bool is_power = (tokens & (tokens - 1)) == 0;
  return tokens == 0 || (is_power && tokens <= 256 && tokens != 2 && tokens != 4);
}

Result<VllmKvSettings> cache_of(const Scenario& scenario, const ServerModel& model) {
  if (!is_block_size(scenario.block_tokens)) {
    return fail(ErrorCode::value_not_a_choice, "/block_tokens",
                {{"key", "block_tokens"},
                 {"value", std::to_string(scenario.block_tokens)},
                 {"choices", "1, 8, 16, 32, 64, 128, 256"}});
  }
  if (auto checked = check_context_ranks(scenario, model); !checked)
    return fail(std::move(checked.error()));
  VllmKvSettings cache;
  cache.cache_type = model.cache_type;
  cache.state_precision = model.state_precision;
  cache.block_tokens = scenario.block_tokens;
  cache.max_model_len = model.max_model_len;
  cache.draft_tokens = model.draft_tokens;
  cache.loads_draft_layers = model.loads_drafts;
  cache.state_mode = state_mode_of(scenario, *model.spec);
  cache.context_ranks = scenario.context_ranks;
  cache.encoder_tokens = model.spec->cross_tokens;
  return cache;
}

bool takes_images(const Scenario& scenario) {
  return scenario.language_model_only != kOn && scenario.images_per_request != 0;
}

/// A tower that nothing may be given to is not loaded (a limit of 0 for each of its modalities,
/// models/interfaces.py, _mark_tower_model); images alone do not say that of a tower for audio.
bool loads_towers(const Scenario& scenario, const ModelSpec& spec) {
  const bool hears = std::any_of(spec.towers.begin(), spec.towers.end(), [](const Tower& tower) {
    return tower.kind == Tower::Kind::audio;
  });
  return takes_images(scenario) || (hears && scenario.language_model_only != kOn);
}

ServerLoad load_of(const Scenario& scenario, const VllmInputs& inputs, const VllmProfile& profile) {
  ServerLoad load;
  load.adapters = {scenario.max_loras, scenario.max_lora_rank};
  load.loads_towers = loads_towers(scenario, *inputs.spec);
  load.host_offload = gib(scenario.cpu_offload_gib).value_or(Bytes());
  // Only the inputs of vision models are laid out for a whole batch.
  if (takes_images(scenario) && !inputs.spec->towers.empty()) {
    load.max_batched_tokens =
        vllm_default_flags(inputs.flags, inputs.device, profile, inputs.cache.max_model_len)
            .max_num_batched_tokens;
  }
  return load;
}

/// A format without a quantization_config.
bool is_plain(std::string_view format) {
  return format == "bf16" || format == "fp16" || format == "fp32";
}

Result<void> set_inputs(VllmQuestion& question, const Resolved& resolved,
                        const ServerModel& model) {
  const Scenario& scenario = resolved.scenario;
  if (model.device.capability != 0 && model.device.capability < kOldestCapability) {
    return fail(
        ErrorCode::engine_device_not_served, "/gpu",
        {{"engine", kRules.engine},
         {"vendor", "compute capability " + std::to_string(model.device.capability / 10) + ".x"}});
  }
  if (scenario.max_loras != 0 && !is_lora_rank(scenario.max_lora_rank)) {
    return fail(ErrorCode::value_not_a_choice, "/max_lora_rank",
                {{"key", "max_lora_rank"},
                 {"value", std::to_string(scenario.max_lora_rank)},
                 {"choices", "1, 8, 16, 32, 64, 128, 256, 320, 512"}});
  }
  auto flags = flags_of(scenario);
  if (!flags) return fail(std::move(flags.error()));
  auto cache = cache_of(scenario, model);
  if (!cache) return fail(std::move(cache.error()));
  VllmInputs& inputs = question.inputs;
  inputs.spec = model.spec;
  inputs.plan = model.plan;
  inputs.dtype_bytes = model.dtype_bytes;
  inputs.is_quantized = !is_plain(resolved.format.id);
  inputs.has_drafts_apart = scenario.speculative == "ngram" || scenario.speculative == "draft";
  inputs.device = model.device;
  inputs.flags = std::move(*flags);
  inputs.cache = std::move(*cache);
  if (takes_images(scenario)) inputs.encoder = vllm_encoder_item(*model.spec);
  inputs.items_per_request = scenario.images_per_request;
  inputs.workload = {scenario.context_tokens, model.requests_per_replica};
  auto calibration = Calibration::parse(scenario.calibration);
  if (!calibration) return fail(std::move(calibration.error()));
  inputs.calibration = *calibration;
  return {};
}

/// The engine as it came up, and the constants, which hold for all scenarios of one version that
/// differ in numbers only.
struct KeptVllm : Kept {
  std::string version;
  VllmQuestion question;
  VllmEstimate engine;
};

/// `known` = constants that need not be read again, or null.
Result<VllmQuestion> question_of(const Resolved& resolved, const std::string& path,
                                 const VllmProfile* known) {
  auto model = server_model(resolved, kRules, path);
  if (!model) return fail(std::move(model.error()));
  VllmQuestion question;
  if (known != nullptr) {
    question.profile = *known;
  } else {
    auto profile = profile_of(resolved, model->device.capability, path);
    if (!profile) return fail(std::move(profile.error()));
    question.profile = *profile;
  }
  if (auto set = set_inputs(question, resolved, *model); !set)
    return fail(below(path, std::move(set.error())));
  const ServerLoad load = load_of(resolved.scenario, question.inputs, question.profile);
  const auto weights = server_weights(resolved, *model, kRules, load, path);
  if (!weights) return fail(weights.error());
  question.inputs.stage_weights = (*weights)->stages;
  question.inputs.weights_basis = (*weights)->basis;
  question.notes = std::move(model->notes);
  question.notes.insert(question.notes.end(), (*weights)->notes.begin(), (*weights)->notes.end());
  return question;
}

/// Whatever num_requests is.
Result<std::unique_ptr<Kept>> started_engine(const Resolved& resolved, const std::string& path,
                                             const KeptVllm* last) {
  const std::string& version = resolved.scenario.engine_version;
  const bool has_constants = last != nullptr && last->version == version;
  auto question = question_of(resolved, path, has_constants ? &last->question.profile : nullptr);
  if (!question) return fail(std::move(question.error()));
  auto engine = start_vllm(question->inputs, question->profile);
  if (!engine) return fail(below(path, std::move(engine.error())));
  auto kept = std::make_unique<KeptVllm>();
  kept->version = version;
  kept->question = std::move(*question);
  kept->engine = std::move(*engine);
  return std::unique_ptr<Kept>(std::move(kept));
}

}  // namespace

Result<VllmQuestion> vllm_question(const Resolved& resolved, const std::string& path) {
  return question_of(resolved, path, nullptr);
}

Result<EngineAnswer> estimate_with_vllm(const Resolved& resolved, const std::string& path) {
  auto question = vllm_question(resolved, path);
  if (!question) return fail(std::move(question.error()));
  auto estimate = estimate_vllm(question->inputs, question->profile);
  if (!estimate) return fail(below(path, std::move(estimate.error())));
  explain_vllm(*estimate, question->inputs, question->profile);
  EngineAnswer answer;
  answer.notes = std::move(question->notes);
  add_vllm_notes(answer.notes, resolved, *question, *estimate, path);
  answer.facts = vllm_facts(*question, *estimate, resolved.scenario.data_ranks);
  multiply(estimate->breakdown.answers, resolved.scenario.data_ranks);
  answer.breakdown = std::move(estimate->breakdown);
  return answer;
}

Result<Breakdown> vllm_breakdown(const Resolved& resolved, const std::string& path,
                                 std::unique_ptr<Kept>& kept) {
  if (kept == nullptr || kept->has_new_numbers) {
    auto started = started_engine(resolved, path, static_cast<const KeptVllm*>(kept.get()));
    if (!started) return fail(std::move(started.error()));
    kept = std::move(*started);
  }
  auto& known = static_cast<KeptVllm&>(*kept);
  known.question.inputs.workload.num_requests = requests_per_replica(resolved.scenario);
  auto breakdown = serve_vllm(known.engine, known.question.inputs);
  if (!breakdown) return fail(below(path, std::move(breakdown.error())));
  return breakdown;
}

}  // namespace vramgauge::api

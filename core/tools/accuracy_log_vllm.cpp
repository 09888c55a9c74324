#include "accuracy_log_vllm.h"

#include <algorithm>
#include <utility>

#include "accuracy_checkpoints.h"
#include "engine/state_precision.h"
#include "model/weight_formats.h"

namespace vramgauge::tools {
namespace {

/// The pool of the CPU's backend has a size of its own (VLLM_CPU_KVCACHE_SPACE).
constexpr Bytes kCpuPool = GiB(4);
/// Rotary tables are 16 bit.
constexpr uint64_t kTableElementBytes = 2;
constexpr uint64_t kFloatBytes = 4;
/// --max-lora-rank unless it is given.
constexpr uint64_t kDefaultAdapterRank = 16;
/// Stands in for a card that is not known, where nothing of the card matters.
constexpr TruthCard kUsualCard{23.6, 80, 108, false, false};

/// Whether a checkpoint's configuration names a scheme for the cache, which "auto" follows.
bool names_fp8_cache(const TruthModel& model) {
  const auto has = [](const json::Value* object, std::string_view key) {
    const json::Value* value = object == nullptr ? nullptr : object->find(key);
    return value != nullptr && !value->is_null();
  };
  const json::Value* own = model.config.find("quantization_config");
  const json::Value* nested = model.beside.find("quantization");
  return has(own, "kv_cache_quant_algo") || has(own, "kv_cache_scheme") ||
         has(nested, "kv_cache_quant_algo");
}

/// Bytes of a token in the first layer of full attention, at 16 bit.
uint64_t full_attention_token_bytes(const ModelSpec& spec) {
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention != nullptr && attention->window_tokens == 0)
        return attention->num_kv_heads * (attention->head_dim + attention->v_head_dim) * 2;
    }
  }
  return 0;
}

bool has_indexer(const ModelSpec& spec) {
  if (spec.layers.empty() || spec.layers.front().mixers.empty()) return false;
  const auto* latent = std::get_if<LatentAttention>(&spec.layers.front().mixers.front());
  return latent != nullptr && latent->indexer.has_value();
}

bool has_delta_layers(const ModelSpec& spec) {
  return std::any_of(spec.layers.begin(), spec.layers.end(), [](const Layer& layer) {
    return !layer.mixers.empty() && std::holds_alternative<GatedDelta>(layer.mixers.front());
  });
}

VllmDevice device_of(const EngineLog& row, const EnginePresets& presets) {
  const TruthCard card = card_of_log(row, presets).value_or(kUsualCard);
  VllmDevice device;
  device.name = row.text("gpu");
  device.total = bytes_from_gib(card.total_gib);
  device.capability = card.capability;
  device.multiprocessors = card.multiprocessors;
  device.is_a100 = card.is_a100;
  device.is_rocm = card.is_rocm || log_facts(row.id()).is_rocm;
  return device;
}

/// Draft tokens of "mtp k=2"; 0 when the text names none.
uint64_t draft_tokens(const std::string& speculation) {
  const std::size_t at = speculation.find("k=");
  if (at == std::string::npos) return 0;
  const std::size_t end = speculation.find_first_not_of("0123456789", at + 2);
  return parse_count(std::string_view(speculation).substr(at + 2, end - at - 2)).value_or(0);
}

VllmFlags flags_of(const EngineLog& row) {
  VllmFlags flags;
  if (const auto share = row.flag_real("gpu_memory_utilization"))
    flags.gpu_memory_utilization = Decimal::from_double(*share);
  const LogFacts& facts = log_facts(row.id());
  flags.max_num_batched_tokens = row.flag_count("max_num_batched_tokens");
  if (flags.max_num_batched_tokens == 0) flags.max_num_batched_tokens = facts.batched_tokens;
  flags.max_num_seqs = row.flag_count("max_num_seqs");
  if (flags.max_num_seqs == 0) flags.max_num_seqs = facts.sequences;
  flags.sampler = facts.sampler;
  if (row.text("gpu") == "CPU") flags.kv_cache_memory = kCpuPool;
  if (const auto pool = row.flag_real("kv_cache_memory_gib"))
    flags.kv_cache_memory = bytes_from_gib(*pool);
  flags.is_eager = row.flag_is("enforce_eager", true);
  return flags;
}

VllmKvSettings cache_of(const EngineLog& row, const TruthModel& model) {
  VllmKvSettings cache;
  cache.block_tokens = row.flag_count("block_size");
  cache.max_model_len = row.flag_count("max_model_len");
  // The concurrency line states the length as well.
  if (cache.max_model_len == 0)
    cache.max_model_len = static_cast<uint64_t>(row.measured("max_concurrency_len").value_or(0));
  if (cache.max_model_len == 0) cache.max_model_len = model.spec.max_context_tokens;
  cache.context_ranks = std::max<uint64_t>(row.flag_count("decode_context_parallel_size"), 1);
  const std::string speculation = row.flag("speculative");
  cache.draft_tokens = draft_tokens(speculation);
  cache.loads_draft_layers = cache.draft_tokens > 0 && contains(speculation, "mtp");
  if (has_delta_layers(model.spec) && !row.flag_is("enable_prefix_caching", false))
    cache.state_mode = VllmStateMode::align;
  return cache;
}

/// bitsandbytes' scales of scales: vLLM widens them to fp32 while loading, Unsloth's loader leaves
/// them at 8 bits.
void keep_double_scales(std::vector<VllmStorage>& storage) {
  for (VllmStorage& tensor : storage) {
    if (tensor.bits == 4 && tensor.group_size == 64) tensor.group_scale_bits = 8;
  }
}

/// The checkpoint's name and the flag that says how it is quantised.
std::string stated_storage(const EngineLog& row) {
  return row.text("model") + " " + row.flag("quantization");
}

uint64_t adapter_rank(const EngineLog& row, const LogFacts& facts) {
  if (facts.adapter_rank != 0 || !row.flag_is("enable_lora", true)) return facts.adapter_rank;
  const uint64_t stated = row.flag_count("max_lora_rank");
  return stated == 0 ? kDefaultAdapterRank : stated;
}

/// What is loaded of a row's model on a card of that compute capability.
Predictable<VllmModel> loaded_model(const EngineLog& row, const TruthModel& model,
                                    uint64_t capability, uint64_t batched_tokens) {
  const LogFacts& facts = log_facts(row.id());
  auto storage = checkpoint_storage(model, facts.quantization == nullptr ? "" : facts.quantization,
                                    quantization_by_name(stated_storage(row)).config, capability);
  if (!storage) return because(storage.error());
  VllmModel loaded;
  loaded.spec = &model.spec;
  loaded.tensors = &model.tensors;
  loaded.storage = std::move(*storage);
  if (contains(row.text("source"), "unsloth")) keep_double_scales(loaded.storage);
  loaded.compute_capability = capability;
  loaded.max_batched_tokens = batched_tokens;
  loaded.loads_towers = !facts.is_text_only;
  loaded.has_wide_tables = row.is_sglang();
  loaded.host_offload = GiB(row.flag_count("cpu_offload_gb"));
  if (const uint64_t rank = adapter_rank(row, facts)) loaded.adapters = {1, rank};
  return loaded;
}

/// A GGUF file in vLLM: the tensors of the file as they are, and the rotary tables.
Predictable<Bytes> gguf_weights(const TruthModel& model, const std::string& format_id,
                                const EnginePresets& presets) {
  const auto format = presets.weight_format(format_id);
  if (!format) return because(format.error());
  const auto weights = predictable(format_weights(model.tensors, model.spec, *format));
  if (!weights) return because(weights.error());
  CheckedU64 bytes = checked(weights->total);
  for (const RotaryTable& table : model.spec.rotary_tables)
    bytes += CheckedU64(table.rows) * table.dim * kTableElementBytes;
  return Bytes(bytes.value_or(0));
}

bool is_quantized(const EngineLog& row, const TruthModel& model) {
  return log_facts(row.id()).quantization != nullptr || !gguf_format_of_log(row).empty() ||
         model.config.find("quantization_config") != nullptr ||
         model.quantization_file() != nullptr ||
         !quantization_by_name(stated_storage(row)).config.empty();
}

/// Sizes that only the name of the checkpoint tells.
bool is_assumed(const EngineLog& row, const TruthModel& model) {
  return log_facts(row.id()).quantization == nullptr &&
         model.config.find("quantization_config") == nullptr &&
         !quantization_by_name(stated_storage(row)).fixes_sizes;
}

}  // namespace

std::string gguf_format_of_log(const EngineLog& row) {
  const std::string text = row.text("model");
  const char* known = log_facts(row.id()).gguf_format;
  if (known != nullptr) return known;
  // vLLM serves such files as well, and says so; other formats have a Q in their names too.
  if (row.is_vllm() && !contains(text, "GGUF")) return {};
  for (std::size_t at = text.find(' '); at < text.size(); at = text.find(' ', at + 1)) {
    const std::string_view word =
        std::string_view(text).substr(at + 1, text.find(' ', at + 1) - at - 1);
    const bool is_type = word.size() > 2 && (word[0] == 'Q' || word[0] == 'q') && word[1] >= '0' &&
                         word[1] <= '9' && contains(word, "_");
    if (is_type) return std::string(word);
  }
  return {};
}

Predictable<const TruthModel*> model_of_log(const EngineLog& row, TruthContext& context) {
  const std::string preset = row.text("preset");
  if (preset.empty()) return because("the row names no preset");
  const uint64_t width = log_facts(row.id()).intermediate_size;
  return width == 0 ? context.models.find(preset)
                    : context.models.find_with(preset, "intermediate_size", width);
}

std::string cache_type_of_log(const EngineLog& row, const TruthModel& model) {
  const char* known = log_facts(row.id()).cache_type;
  std::string type = known != nullptr ? std::string(known) : row.flag("kv_cache_dtype");
  if (type.rfind("fp8_e", 0) == 0) type = "fp8";
  if (type == "bfloat16" || type == "float16") type = "fp16";
  if (type.empty() || type == "auto") type = names_fp8_cache(model) ? "fp8" : "fp16";
  // Flags may not say what the row's own lines can only come from.
  const auto token_bytes = row.derived_count("page_bytes_per_token_per_layer");
  if (token_bytes && type == "fp16" && *token_bytes * 2 == full_attention_token_bytes(model.spec))
    type = "fp8";
  return type == "fp8" && has_indexer(model.spec) ? "fp8_ds_mla" : type;
}

ParallelPlan plan_of_log(const EngineLog& row) {
  const LogFacts& facts = log_facts(row.id());
  const auto stated = [](uint64_t first, uint64_t second) {
    return std::max<uint64_t>(first != 0 ? first : second, 1);
  };
  ParallelPlan plan;
  plan.pipeline_stages = stated(facts.stages, row.flag_count("pipeline_parallel_size"));
  plan.data_ranks = stated(0, row.flag_count("data_parallel_size"));
  const uint64_t others = plan.pipeline_stages * plan.data_ranks;
  const uint64_t flagged = stated(facts.tensor_ranks, row.flag_count("tensor_parallel_size"));
  plan.tensor_ranks = flagged > 1 ? flagged : stated(0, row.count("gpu_count") / others);
  plan.is_expert_parallel =
      row.flag_is("enable_expert_parallel", true) || row.flag_count("expert_parallel_size") > 1;
  plan.loads_drafts = contains(row.flag("speculative"), "mtp");
  plan.replicates_towers = facts.has_whole_towers || row.is_sglang();
  return plan;
}

Predictable<TruthCard> card_of_log(const EngineLog& row, const EnginePresets& presets) {
  auto card = presets.card(row.text("gpu"), row.count("gpu_count"));
  const auto total = row.real("total_gib");
  if (!total) return card;
  if (!card) card = kUsualCard;
  card->total_gib = *total;
  return card;
}

Predictable<VllmProfile> vllm_profile_of_log(const EngineLog& row, const TruthContext& context) {
  const char* known = log_facts(row.id()).release;
  const std::string own = known != nullptr ? std::string(known) : row.text("engine_version");
  const std::string& stated = context.engine_version.empty() ? own : context.engine_version;
  auto profile = context.presets.vllm(vllm_release(stated));
  if (profile && row.flag_is("disable_hybrid_kv_cache_manager", true))
    profile->kv.has_hybrid_manager = false;
  return profile;
}

Predictable<VllmInputs> vllm_settings_of_log(const EngineLog& row, TruthContext& context) {
  const auto model = model_of_log(row, context);
  if (!model) return because(model.error());
  const auto type = context.presets.cache_type(cache_type_of_log(row, **model));
  if (!type) return because(type.error());
  VllmInputs inputs;
  inputs.spec = &(*model)->spec;
  inputs.plan = plan_of_log(row);
  inputs.device = device_of(row, context.presets);
  inputs.flags = flags_of(row);
  inputs.cache = cache_of(row, **model);
  inputs.cache.cache_type = *type;
  inputs.cache.state_precision = server_state_precision(*inputs.spec, inputs.dtype_bytes);
  if (row.flag("mamba_ssm_cache_dtype") == "float32")
    inputs.cache.state_precision.temporal_element_bytes = kFloatBytes;
  const bool profiles_images =
      !row.flag_is("skip_mm_profiling", true) && !log_facts(row.id()).is_text_only;
  if (profiles_images) inputs.encoder = vllm_encoder_item((*model)->spec);
  inputs.workload = {inputs.cache.max_model_len, 1};
  if (is_assumed(row, **model)) inputs.weights_basis = Basis::assumed;
  inputs.is_quantized = is_quantized(row, **model);
  return inputs;
}

Predictable<VllmInputs> vllm_inputs_of_log(const EngineLog& row, TruthContext& context) {
  auto inputs = vllm_settings_of_log(row, context);
  if (!inputs) return inputs;
  const auto profile = vllm_profile_of_log(row, context);
  if (!profile) return because(profile.error());
  const auto model = model_of_log(row, context);
  if (!model) return because(model.error());
  const VllmFlags flags =
      vllm_default_flags(inputs->flags, inputs->device, *profile, inputs->cache.max_model_len);
  const std::string format = gguf_format_of_log(row);
  const auto loaded =
      loaded_model(row, **model, inputs->device.capability, flags.max_num_batched_tokens);
  if (!loaded) return because(loaded.error());
  const uint64_t draft = bytes_from_gib(log_facts(row.id()).draft_gib).count();
  for (uint64_t stage = 0; stage < inputs->plan.pipeline_stages; ++stage) {
    auto weights = predictable(load_vllm_weights(*loaded, inputs->plan, {stage, 0, 0}));
    if (!weights) return because(weights.error());
    weights->allocated = Bytes(weights->allocated.count() + draft);
    inputs->stage_weights.push_back(*weights);
  }
  if (!format.empty() && inputs->stage_weights.size() == 1) {
    const auto stored = gguf_weights(**model, format, context.presets);
    if (!stored) return because(stored.error());
    inputs->stage_weights.front().allocated = *stored;
  }
  return inputs;
}

Predictable<PlannedPool> vllm_pool_of_log(const EngineLog& row, double pool_gib,
                                          TruthContext& context) {
  auto inputs = vllm_settings_of_log(row, context);
  if (!inputs) return because(inputs.error());
  const auto profile = vllm_profile_of_log(row, context);
  if (!profile) return because(profile.error());
  inputs->cache.max_num_batched_tokens =
      vllm_default_flags(inputs->flags, inputs->device, *profile, inputs->cache.max_model_len)
          .max_num_batched_tokens;
  auto plan = predictable(vllm_kv_plan(*inputs->spec, inputs->plan, inputs->cache, profile->kv));
  if (!plan) return because(plan.error());
  const auto bytes = static_cast<int64_t>(pool_gib * kBytesPerGiB);
  const std::vector<BytesDelta> available(plan->stage_block_bytes.size(), BytesDelta(bytes));
  auto pool = predictable(vllm_kv_pool(*plan, available));
  if (!pool) return because(pool.error());
  return PlannedPool{std::move(*plan), *pool};
}

Predictable<Bytes> weights_of_log(const EngineLog& row, TruthContext& context) {
  const auto model = model_of_log(row, context);
  if (!model) return because(model.error());
  if (const std::string format = gguf_format_of_log(row); !format.empty())
    return gguf_weights(**model, format, context.presets);
  const auto settings = vllm_settings_of_log(row, context);
  if (!settings) return because(settings.error());
  const auto profile = vllm_profile_of_log(row, context);
  if (!profile) return because(profile.error());
  const VllmFlags flags = vllm_default_flags(settings->flags, settings->device, *profile,
                                             settings->cache.max_model_len);
  const auto loaded =
      loaded_model(row, **model, settings->device.capability, flags.max_num_batched_tokens);
  if (!loaded) return because(loaded.error());
  const auto worst = predictable(worst_vllm_stage(*loaded, settings->plan));
  if (!worst) return because(worst.error());
  const uint64_t draft = bytes_from_gib(log_facts(row.id()).draft_gib).count();
  const Bytes bytes = row.is_sglang() ? worst->weights.reserved : worst->weights.allocated;
  return Bytes(bytes.count() + draft);
}

}  // namespace vramgauge::tools

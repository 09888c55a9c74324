// Rows of engine_logs.jsonl that are about vLLM, as inputs of an estimate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/vllm_weights_formats.h"
#include "import/quantization_config.h"
#include "model/checkpoint_resolve.h"
#include "vllm_engine_support.h"

namespace vramgauge::test {

/// What the name of a card stands for; a row's own total_gib goes first.
struct Card {
  std::string_view name;
  double total_gib;
  uint64_t capability;
  uint64_t multiprocessors;
};

/// Totals as CUDA reports them, in logs of the same table; multiprocessors from the makers' pages.
/// A name that stands for several is taken for the smallest.
constexpr std::array<Card, 23> kCards = {{
    {"H100", 79.19, 90, 132},
    {"GH200", 94.5, 90, 132},
    {"H200", 139.8, 90, 132},
    {"H20", 95.1, 90, 78},
    {"A100 80GB", 79.25, 80, 108},
    {"A100", 39.5, 80, 108},
    {"T4", 14.74, 75, 40},
    {"L40", 44.4, 89, 142},
    {"L4", 22.03, 89, 58},
    {"RTX 3090", 23.58, 86, 82},
    {"RTX 4090", 23.63, 89, 128},
    {"RTX 5090", 31.4, 120, 170},
    {"RTX 5080", 14.7, 120, 84},
    {"RTX 2080 Ti", 10.75, 75, 68},
    {"RTX PRO 6000", 94.97, 120, 188},
    {"SM12x", 94.97, 120, 188},
    {"RTX PRO 4500", 31.38, 120, 82},
    {"GB10", 121.6, 121, 48},
    {"Jetson AGX Thor", 122.8, 110, 20},
    {"MI300X", 191.98, 0, 304},
    {"Intel Max", 64, 0, 128},
    {"Ascend 910B3", 61, 0, 40},
    {"AMD", 23.98, 0, 96},
}};

/// Versions by what a log or its date says, for logs that print none.
struct Dated {
  std::string_view text;
  std::string_view version;
};
constexpr std::array<Dated, 28> kDates = {{
    {"0.1.x", "0.1.7"},    {"2023", "0.2"},         {"Mar 2024", "0.3.3"},  {"Jul 2024", "0.5.3"},
    {"Aug 2024", "0.5.5"}, {"Oct 2024", "0.6.3"},   {"Dec 2024", "0.6.5"},  {"Jan 2025", "0.7.0"},
    {"Feb 2025", "0.7.2"}, {"Mar 2025", "0.8.1"},   {"Apr 2025", "0.8.4"},  {"Jun 2025", "0.9.1"},
    {"Jul 2025", "0.9.2"}, {"Oct 2025", "0.11.0"},  {"Jan 2026", "0.14.0"}, {"Feb 2026", "0.15"},
    {"Mar 2026", "0.17"},  {"Apr 2026", "0.19"},    {"Aug 2026", "0.27"},   {"2025", "0.8.4"},
    {"0.1.dev", "0.22"},   {"branch", "0.22"},      {"B12X", "0.22"},       {"2026", "0.22"},
    {"V0", "0.7.2"},       {"0.17/0.18", "0.17.1"}, {"0.14/0.15", "0.14"},  {"0.11.x", "0.11.0"},
}};

struct LogRow {
  const json::Value* row = nullptr;
  const json::Value* flags = nullptr;
  const json::Value* measured = nullptr;

  std::string text(std::string_view key) const { return text_of(*row, key); }
  std::string flag(std::string_view key) const { return text_of(*flags, key); }
  uint64_t flag_number(std::string_view key) const {
    const json::Value* value = flags->find(key);
    return value == nullptr ? 0 : value->as_u64().value_or(0);
  }
  bool flag_is(std::string_view key, bool wanted) const {
    const json::Value* value = flags->find(key);
    return value != nullptr && value->as_boolean() != nullptr && *value->as_boolean() == wanted;
  }
  std::optional<double> real(const json::Value& object, std::string_view key) const {
    const json::Value* value = object.find(key);
    if (value == nullptr || value->as_number() == nullptr) return std::nullopt;
    return value->as_number()->real;
  }
  std::optional<double> measure(std::string_view key) const { return real(*measured, key); }
  bool compares(std::string_view what) const {
    const json::Value* list = row->find("comparable");
    return std::any_of(list->as_array()->begin(), list->as_array()->end(),
                       [what](const json::Value& each) { return *each.as_string() == what; });
  }

 private:
  static std::string text_of(const json::Value& object, std::string_view key) {
    const json::Value* value = object.find(key);
    return value == nullptr || value->as_string() == nullptr ? std::string() : *value->as_string();
  }
};

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Rows of vLLM whose model has a preset.
inline std::vector<LogRow> vllm_log_rows() {
  static std::vector<json::Value> documents;
  if (documents.empty()) {
    std::istringstream text(read_text(VRAMGAUGE_TEST_DIR "/truth/engine_logs.jsonl"));
    for (std::string line; std::getline(text, line);)
      documents.push_back(parse_or_throw(line, "engine_logs.jsonl"));
  }
  std::vector<LogRow> rows;
  for (const json::Value& document : documents) {
    const LogRow row{&document, document.find("flags"), document.find("measured")};
    if (row.text("engine").rfind("vllm", 0) == 0 && !row.text("preset").empty())
      rows.push_back(row);
  }
  return rows;
}

inline VllmProfile profile_of(const LogRow& row) {
  const std::string stated = row.text("engine_version");
  const bool is_first = contains(stated, "V0");
  for (const Dated& dated : kDates) {
    if (contains(stated, dated.text) && (!release_number(stated) || dated.text.rfind("0.", 0) == 0))
      return vllm_profile_named(std::string(dated.version), is_first);
  }
  return vllm_profile_named(release_number(stated) ? stated : "0.22", is_first);
}

inline VllmDevice device_of(const LogRow& row) {
  VllmDevice device;
  device.name = row.text("gpu");
  double total = 23.6;
  for (const Card& card : kCards) {
    if (!contains(device.name, card.name)) continue;
    total = card.total_gib;
    device.capability = card.capability;
    device.multiprocessors = card.multiprocessors;
    break;
  }
  if (contains(device.name, "80GB-class") || contains(device.name, "80 GiB")) total = 79.2;
  if (contains(device.name, "46GB") || contains(device.name, "48GB")) total = 44.4;
  if (contains(device.name, "64 GB total")) total = 31.4;
  device.total = bytes_from_gib(row.real(*row.row, "total_gib").value_or(total));
  device.is_a100 = contains(device.name, "A100");
  device.is_rocm = contains(device.name, "AMD") || contains(device.name, "MI300");
  return device;
}

/// How linear layers are stored when flags or the checkpoint's name say so and the preset is that
/// of the unquantised model.
inline VllmStorage storage_by_name(const LogRow& row) {
  std::string text = row.text("model") + " " + row.flag("quantization");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  VllmStorage storage;
  if (contains(text, "bitsandbytes")) {
    storage.bits = 4;
    storage.group_size = 64;
    storage.group_scale_bits = 32;
  } else if (contains(text, "fp8") || contains(text, "w8a8")) {
    storage.bits = 8;
    storage.has_row_scales = true;
  } else if (contains(text, "awq") || contains(text, "gptq") || contains(text, "w4a16")) {
    storage.bits = 4;
    storage.group_size = 128;
    storage.has_zeros = true;
    storage.is_symmetric = !contains(text, "awq");
    storage.is_packed = true;
  } else if (contains(text, "nvfp4")) {
    storage.bits = 4;
    storage.group_size = 16;
    storage.group_scale_bits = 8;
    storage.has_matrix_scale = true;
  }
  return storage;
}

inline std::vector<VllmStorage> storages_of(const LogRow& row, const ModelSpec& spec,
                                            const std::vector<WeightTensor>& tensors,
                                            uint64_t capability) {
  const json::Value& preset = preset_document(row.text("preset"));
  const auto read = read_quantization(*preset.find("config"), preset.find("quant_config"));
  if (read && *read) {
    const auto resolved = resolve_quantization(tensors, spec, **read);
    if (auto storage = vllm_storage(tensors, resolved, capability)) return *storage;
  }
  const VllmStorage linear = storage_by_name(row);
  std::vector<VllmStorage> storages;
  for (const WeightTensor& tensor : tensors) {
    const bool is_quantised =
        tensor.layer >= 0 && tensor.is_matrix && tensor.role != TensorRole::router;
    storages.push_back(is_quantised ? linear : VllmStorage{});
  }
  return storages;
}

/// Whether a checkpoint's configuration names a scheme for the cache, which "auto" follows.
inline bool names_fp8_cache(const json::Value& preset) {
  const auto has = [](const json::Value* object, std::string_view key) {
    const json::Value* value = object == nullptr ? nullptr : object->find(key);
    return value != nullptr && !value->is_null();
  };
  const json::Value* own = preset.find("config")->find("quantization_config");
  const json::Value* beside = preset.find("quant_config");
  const json::Value* nested = beside == nullptr ? nullptr : beside->find("quantization");
  return has(own, "kv_cache_quant_algo") || has(own, "kv_cache_scheme") ||
         has(nested, "kv_cache_quant_algo");
}

/// Bytes of a token in the first layer of full attention, at 16 bit.
inline uint64_t full_attention_token_bytes(const ModelSpec& spec) {
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention != nullptr && attention->window_tokens == 0)
        return attention->num_kv_heads * (attention->head_dim + attention->v_head_dim) * 2;
    }
  }
  return 0;
}

inline CacheType log_cache_type(const LogRow& row, const ModelSpec& spec) {
  std::string type = row.flag("kv_cache_dtype");
  if (type.rfind("fp8_e", 0) == 0) type = "fp8";
  if (type.empty() || type == "auto") {
    const bool is_fp8 = names_fp8_cache(preset_document(row.text("preset")));
    type = is_fp8 ? "fp8" : "fp16";
  }
  // One row's flags do not say what its own lines can only come from.
  const json::Value* derivation = row.row->find("derivation");
  const json::Value* page =
      derivation == nullptr ? nullptr : derivation->find("page_bytes_per_token_per_layer");
  const std::optional<uint64_t> token_bytes = page == nullptr ? std::nullopt : page->as_u64();
  if (token_bytes && type == "fp16" && *token_bytes * 2 == full_attention_token_bytes(spec))
    type = "fp8";
  const auto* latent = spec.layers.empty() || spec.layers.front().mixers.empty()
                           ? nullptr
                           : std::get_if<LatentAttention>(&spec.layers.front().mixers.front());
  if (type == "fp8" && latent != nullptr && latent->indexer) type = "fp8_ds_mla";
  return cache_type_named(type);
}

/// Settings of a row without what depends on weights.
inline VllmInputs inputs_without_weights(const LogRow& row) {
  VllmInputs inputs;
  inputs.spec = &preset_spec(row.text("preset"));
  inputs.plan.tensor_ranks = std::max<uint64_t>(row.flag_number("tensor_parallel_size"), 1);
  inputs.plan.pipeline_stages = std::max<uint64_t>(row.flag_number("pipeline_parallel_size"), 1);
  inputs.plan.data_ranks = std::max<uint64_t>(row.flag_number("data_parallel_size"), 1);
  const auto cards = row.real(*row.row, "gpu_count");
  if (cards && inputs.plan.pipeline_stages * inputs.plan.data_ranks == 1)
    inputs.plan.tensor_ranks = std::max<uint64_t>(static_cast<uint64_t>(*cards), 1);
  inputs.plan.is_expert_parallel =
      row.flag_is("enable_expert_parallel", true) || row.flag_number("expert_parallel_size") > 1;
  inputs.device = device_of(row);
  if (const auto share = row.real(*row.flags, "gpu_memory_utilization"))
    inputs.flags.gpu_memory_utilization = Decimal::from_double(*share);
  inputs.flags.max_num_batched_tokens = row.flag_number("max_num_batched_tokens");
  inputs.flags.max_num_seqs = row.flag_number("max_num_seqs");
  // The CPU's pool has a size of its own (VLLM_CPU_KVCACHE_SPACE).
  if (inputs.device.name == "CPU") inputs.flags.kv_cache_memory = GiB(4);
  inputs.flags.is_eager = row.flag_is("enforce_eager", true);
  VllmKvSettings& cache = inputs.cache;
  cache.cache_type = log_cache_type(row, *inputs.spec);
  cache.block_tokens = row.flag_number("block_size");
  cache.max_model_len = row.flag_number("max_model_len");
  // The concurrency line states the length as well.
  if (cache.max_model_len == 0)
    cache.max_model_len = static_cast<uint64_t>(row.measure("max_concurrency_len").value_or(0));
  if (cache.max_model_len == 0) cache.max_model_len = inputs.spec->max_context_tokens;
  cache.context_ranks = std::max<uint64_t>(row.flag_number("decode_context_parallel_size"), 1);
  const std::string draft = row.flag("speculative");
  if (const size_t at = draft.find("k="); at != std::string::npos) {
    cache.draft_tokens = std::stoull(draft.substr(at + 2));
    cache.loads_draft_layers = contains(draft, "mtp");
  }
  const bool has_delta =
      std::any_of(inputs.spec->layers.begin(), inputs.spec->layers.end(), [](const Layer& layer) {
        return !layer.mixers.empty() && std::holds_alternative<GatedDelta>(layer.mixers.front());
      });
  if (has_delta && !row.flag_is("enable_prefix_caching", false))
    cache.state_mode = VllmStateMode::align;
  if (!row.flag_is("skip_mm_profiling", true)) {
    inputs.encoder = vllm_encoder_item(*inputs.spec);
  }
  inputs.workload = {cache.max_model_len, 1};
  return inputs;
}

inline VllmInputs inputs_of(const LogRow& row) {
  VllmInputs inputs = inputs_without_weights(row);
  const std::vector<WeightTensor> tensors = weight_tensors(*inputs.spec);
  VllmModel model;
  model.spec = inputs.spec;
  model.tensors = &tensors;
  model.compute_capability = inputs.device.capability;
  model.storage = storages_of(row, *inputs.spec, tensors, inputs.device.capability);
  if (storage_by_name(row) != VllmStorage{} &&
      preset_config(row.text("preset")).find("quantization_config") == nullptr)
    inputs.weights_basis = Basis::assumed;
  model.host_offload = GiB(row.flag_number("cpu_offload_gb"));
  for (uint64_t stage = 0; stage < inputs.plan.pipeline_stages; ++stage)
    inputs.stage_weights.push_back(
        value_or_throw(load_vllm_weights(model, inputs.plan, {stage, 0, 0}), row.text("id")));
  return inputs;
}

}  // namespace vramgauge::test

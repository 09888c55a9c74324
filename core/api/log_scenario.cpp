#include "api/log_scenario.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "api/models.h"
#include "report/log_observation.h"
#include "specs/scenario.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr std::string_view kCustom = "custom";

/// How a setting's text becomes a field's.
enum class As { same, on_off, cache_type, dtype, speculative, bytes_as_gib, flash_attention };

struct Mapping {
  LogEngine engine;
  std::string_view setting;
  std::string_view field;
  As as = As::same;
};

constexpr LogEngine kVllm = LogEngine::vllm;
constexpr LogEngine kSglang = LogEngine::sglang;
constexpr LogEngine kTrtLlm = LogEngine::tensorrt_llm;
constexpr LogEngine kLlama = LogEngine::llama_cpp;
/// llama.cpp's lines inside Ollama's log are under the same names.
constexpr LogEngine kOllama = LogEngine::ollama;

constexpr Mapping kMappings[] = {
    {kVllm, "version", "engine_version"},
    {kVllm, "dtype", "weight_format", As::dtype},
    {kVllm, "tensor_parallel_size", "tensor_ranks"},
    {kVllm, "pipeline_parallel_size", "pipeline_stages"},
    {kVllm, "data_parallel_size", "data_ranks"},
    {kVllm, "decode_context_parallel_size", "context_ranks"},
    {kVllm, "enable_expert_parallel", "expert_parallel", As::on_off},
    {kVllm, "gpu_memory_utilization", "memory_frac"},
    {kVllm, "kv_cache_memory_bytes", "kv_cache_gib", As::bytes_as_gib},
    {kVllm, "max_model_len", "max_model_len"},
    {kVllm, "max_model_len", "context_tokens"},
    {kVllm, "max_num_batched_tokens", "max_num_batched_tokens"},
    {kVllm, "max_num_seqs", "max_num_seqs"},
    {kVllm, "block_size", "block_tokens"},
    {kVllm, "enforce_eager", "enforce_eager", As::on_off},
    {kVllm, "enable_prefix_caching", "prefix_caching", As::on_off},
    {kVllm, "mamba_cache_mode", "mamba_cache_mode"},
    {kVllm, "kv_cache_dtype", "cache_type_k", As::cache_type},
    {kVllm, "speculative", "speculative", As::speculative},
    {kVllm, "num_speculative_tokens", "draft_tokens"},
    {kVllm, "max_loras", "max_loras"},
    {kVllm, "max_lora_rank", "max_lora_rank"},
    {kVllm, "cpu_offload_gb", "cpu_offload_gib"},
    {kSglang, "version", "engine_version"},
    {kSglang, "dtype", "weight_format", As::dtype},
    {kSglang, "tensor_parallel_size", "tensor_ranks"},
    {kSglang, "pipeline_parallel_size", "pipeline_stages"},
    {kSglang, "data_parallel_size", "data_ranks"},
    {kSglang, "enable_dp_attention", "dp_attention", As::on_off},
    {kSglang, "mem_fraction_static", "memory_frac"},
    {kSglang, "context_length", "max_model_len"},
    {kSglang, "context_length", "context_tokens"},
    {kSglang, "chunked_prefill_size", "max_num_batched_tokens"},
    {kSglang, "max_running_requests", "max_num_seqs"},
    {kSglang, "page_size", "block_tokens"},
    {kSglang, "swa_full_tokens_ratio", "swa_full_tokens_ratio"},
    {kSglang, "cuda_graph_max_bs", "cuda_graph_max_bs"},
    {kSglang, "kv_cache_dtype", "cache_type_k", As::cache_type},
    {kSglang, "speculative", "speculative", As::speculative},
    {kTrtLlm, "version", "engine_version"},
    {kTrtLlm, "max_seq_len", "max_model_len"},
    {kTrtLlm, "max_seq_len", "context_tokens"},
    {kTrtLlm, "max_num_tokens", "max_num_batched_tokens"},
    {kTrtLlm, "max_batch_size", "max_num_seqs"},
    {kTrtLlm, "free_gpu_memory_fraction", "memory_frac"},
    {kTrtLlm, "world_size", "gpu_count"},
    {kLlama, "version", "engine_version"},
    {kLlama, "gpu_count", "gpu_count"},
    {kLlama, "n_batch", "batch_tokens"},
    {kLlama, "n_ubatch", "ubatch_tokens"},
    {kLlama, "flash_attn", "flash_attn", As::flash_attention},
    {kLlama, "type_k", "cache_type_k", As::cache_type},
    {kLlama, "type_v", "cache_type_v", As::cache_type},
    {kOllama, "num_batch", "batch_tokens"},
    {kOllama, "num_batch", "ubatch_tokens"},
    {kOllama, "kv_cache_type", "cache_type_k", As::cache_type},
    {kOllama, "kv_cache_type", "cache_type_v", As::cache_type},
    {kOllama, "flash_attention", "flash_attn", As::flash_attention},
    {kOllama, "gpu_count", "gpu_count"},
};

/// Settings that are used in other ways: what the log is about, and llama.cpp's context.
constexpr std::string_view kUsedElsewhere[] = {
    "model",   "gpu",          "gpu_count",  "architecture", "version", "n_ctx",       "n_seq_max",
    "num_ctx", "num_parallel", "kv_unified", "file_type",    "library", "enable_lora", "num_gpu",
};

bool starts_with(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word;
}

std::string cache_type_of(std::string_view text) {
  if (starts_with(text, "fp8")) return "fp8";
  if (text == "f16" || text == "float16" || text == "half") return "fp16";
  if (text == "f32") return "fp32";
  if (text == "bfloat16") return "bf16";
  return std::string(text);
}

/// 16 bits are 16 bits; only full precision changes what is held.
std::string dtype_of(std::string_view text) {
  return text == "float32" || text == "float" ? "fp32" : std::string(kOwnFormat);
}

std::string speculative_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower.find("mtp") != std::string::npos || lower.find("nextn") != std::string::npos)
    return "mtp";
  if (lower.find("eagle") != std::string::npos) return "eagle";
  return lower.find("ngram") != std::string::npos ? "ngram" : std::string();
}

std::string flash_attention_of(std::string_view text) {
  if (text == "1" || text == "enabled" || text == "Enabled" || text == "true") return "on";
  if (text == "0" || text == "disabled" || text == "Disabled" || text == "false") return "off";
  return "auto";
}

/// Millionths of a GiB, as text.
std::string gib_text(uint64_t bytes) {
  const auto twice = scaled(CheckedU64(bytes), 2 * Decimal::kScale, kGiB).value_or(0);
  return Decimal::from_micros((twice + 1) / 2).text();
}

std::string converted(As as, std::string_view text) {
  switch (as) {
    case As::same: break;
    case As::on_off: return text == "true" ? "on" : "off";
    case As::cache_type: return cache_type_of(text);
    case As::dtype: return dtype_of(text);
    case As::speculative: return speculative_of(text);
    case As::bytes_as_gib: return gib_text(parse_count(text).value_or(0));
    case As::flash_attention: return flash_attention_of(text);
  }
  return std::string(text);
}

/// Collects fields whose values a scenario takes.
class Patch {
 public:
  explicit Patch(const Catalogue& catalogue) : catalogue_(catalogue) {}

  /// False when the field does not take the value.
  bool set(std::string_view key, const std::string& value) {
    const Field* field = find_field(key);
    Scenario scenario;
    if (field == nullptr || value.empty() || !is_listed(*field, value)) return false;
    if (!set_field_text(scenario, *field, value)) return false;
    fields_.set(key, field_json(scenario, *field));
    return true;
  }

  json::Value take() { return std::move(fields_); }

 private:
  bool is_listed(const Field& field, const std::string& value) const {
    const CatalogueList* list =
        field.kind == FieldKind::choice ? catalogue_.list(field.list) : nullptr;
    return list == nullptr || value == kOwnFormat || value == kCustom ||
           list->find(value) != nullptr;
  }

  const Catalogue& catalogue_;
  json::Value fields_ = json::Value::object();
};

/// Words of a checkpoint's name that say how it is quantised, and the commonest such format.
struct QuantizedName {
  std::string_view word;
  std::string_view format;
};
constexpr QuantizedName kQuantizedNames[] = {
    {"-NVFP4", "nvfp4"},
    {"-FP8", "fp8-per-channel"},
    {"-AWQ", "awq-4bit-g128"},
    {"-GPTQ", "gptq-4bit-g128"},
    {"-MXFP4", "mxfp4"},
    {"-bnb-4bit", "bnb-4bit"},
    {"-W4A16", "ct-w4a16-g128"},
    {"-quantized.w4a16", "ct-w4a16-g128"},
    {"-W8A8", "ct-w8-int8"},
    {"-quantized.w8a8", "ct-w8-int8"},
    {"-GGUF", ""},
};

/// The catalogue's model of that name, else of the name without its owner.
const CatalogueEntry* find_model(const Catalogue& catalogue, const std::string& name) {
  const std::string own = name.substr(name.rfind('/') + 1);
  constexpr std::string_view kOwner = "Meta-";
  const CatalogueEntry* entry = catalogue.models().find(name);
  if (entry == nullptr) entry = catalogue.models().find(own);
  if (entry != nullptr || !starts_with(own, kOwner)) return entry;
  return catalogue.models().find(own.substr(kOwner.size()));
}

void set_model(Patch& patch, const EngineLog& log, const Catalogue& catalogue, LogScenario& out) {
  const std::string name(log.flag("model"));
  if (name.empty()) return;
  const CatalogueEntry* entry = find_model(catalogue, name);
  for (const QuantizedName& quantized : kQuantizedNames) {
    const auto at = name.find(quantized.word);
    if (entry != nullptr || at == std::string::npos) continue;
    entry = find_model(catalogue, name.substr(0, at));
    if (entry != nullptr) patch.set("weight_format", std::string(quantized.format));
  }
  if (entry == nullptr) {
    out.unknown_model = name;
  } else {
    patch.set("model", entry->id);
  }
}

/// What a process gets of a card, by the catalogue.
uint64_t usable_bytes(const CatalogueEntry& gpu) {
  for (const std::string_view key : {"usable_bytes", "total_bytes"}) {
    const json::Value* value = gpu.facts.find(key);
    if (value != nullptr && value->as_u64()) return *value->as_u64();
  }
  return 0;
}

/// Whether it is a part of a card (MIG), which logs name.
bool is_slice(const CatalogueEntry& gpu) { return gpu.id.find("-mig-") != std::string::npos; }

/// The only card of that memory, within a third of a per cent; nothing when there are several.
const CatalogueEntry* card_of_memory(const Catalogue& catalogue, uint64_t bytes) {
  const CatalogueEntry* found = nullptr;
  for (const CatalogueEntry& entry : catalogue.gpus().entries()) {
    const uint64_t usable = usable_bytes(entry);
    const uint64_t off = usable > bytes ? usable - bytes : bytes - usable;
    if (off > bytes / 300 || is_slice(entry)) continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

/// The memory of a card as the log states it: all of it, or what was free at the start.
uint64_t card_bytes(const EngineLog& log) {
  const LogFigure* figure = log.find(LogQuantity::gpu_total);
  if (figure == nullptr) figure = log.find(LogQuantity::free_at_start);
  return figure == nullptr ? 0 : static_cast<uint64_t>(std::max<int64_t>(0, figure->value));
}

const CatalogueEntry* named_card(const Catalogue& catalogue, const std::string& name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  const CatalogueEntry* entry = name.empty() ? nullptr : catalogue.gpus().find(name);
  if (entry != nullptr || !starts_with(name, kMaker)) return entry;
  return catalogue.gpus().find(name.substr(kMaker.size()));
}

void set_card(Patch& patch, const EngineLog& log, const Catalogue& catalogue, LogScenario& out) {
  const CatalogueEntry* entry = named_card(catalogue, std::string(log.flag("gpu")));
  const uint64_t bytes = card_bytes(log);
  if (entry == nullptr && bytes > 0 && log.flag("gpu").empty()) {
    entry = card_of_memory(catalogue, bytes);
    out.is_card_by_memory = entry != nullptr;
  }
  if (entry != nullptr) {
    patch.set("gpu", entry->id);
  } else if (bytes > 0) {
    patch.set("gpu", std::string(kCustom));
    patch.set("gpu_memory_gib", gib_text(bytes));
  }
}

/// "Q4_K - Medium" is Q4_K_M.
std::string gguf_format(std::string_view text) {
  std::string format(text.substr(0, text.find(' ')));
  const auto dash = text.find(" - ");
  if (dash == std::string_view::npos || dash + 3 >= text.size()) return format;
  const std::string_view size = text.substr(dash + 3);
  if (starts_with(size, "Small") || starts_with(size, "Medium") || starts_with(size, "Large"))
    format += std::string("_") + size.front();
  return format;
}

/// Cells in all are shared, or split among sequences.
void set_llama_context(Patch& patch, const EngineLog& log) {
  const auto number = [&log](std::string_view name) { return parse_count(log.flag(name)); };
  const auto cells = number("n_ctx") ? number("n_ctx") : number("num_ctx");
  const auto sequences = number("n_seq_max") ? number("n_seq_max") : number("num_parallel");
  const uint64_t requests = std::max<uint64_t>(1, sequences.value_or(1));
  if (cells) patch.set("context_tokens", std::to_string(std::max<uint64_t>(1, *cells / requests)));
  if (sequences) patch.set("num_requests", std::to_string(requests));
  if (const std::string_view unified = log.flag("kv_unified"); !unified.empty())
    patch.set("kv_unified", unified == "true" || unified == "1" ? "on" : "off");
  if (const LogFigure* layers = log.find(LogQuantity::layers_offloaded)) {
    patch.set("gpu_layers", std::to_string(layers->value));
  } else {
    patch.set("gpu_layers", std::string(log.flag("num_gpu")));
  }
  if (!log.flag("file_type").empty())
    patch.set("weight_format", gguf_format(log.flag("file_type")));
}

std::string_view engine_field(LogEngine engine) {
  return engine == LogEngine::ollama ? log_engine_name(LogEngine::llama_cpp)
                                     : log_engine_name(engine);
}

bool applies(const Mapping& mapping, LogEngine engine) {
  return mapping.engine == engine ||
         (engine == LogEngine::ollama && mapping.engine == kLlama && mapping.setting != "version");
}

bool is_used_elsewhere(std::string_view name) {
  return std::find(std::begin(kUsedElsewhere), std::end(kUsedElsewhere), name) !=
         std::end(kUsedElsewhere);
}

void set_settings(Patch& patch, const EngineLog& log, LogScenario& out) {
  for (const LogFlag& flag : log.flags) {
    bool is_carried = is_used_elsewhere(flag.name);
    for (const Mapping& mapping : kMappings) {
      if (mapping.setting == flag.name && applies(mapping, log.engine))
        is_carried |= patch.set(mapping.field, converted(mapping.as, flag.value));
    }
    if (!is_carried) out.not_carried.push_back(flag.name);
  }
}

}  // namespace

LogScenario log_scenario(const EngineLog& log, const Catalogue& catalogue) {
  LogScenario out;
  Patch patch(catalogue);
  patch.set("engine", std::string(engine_field(log.engine)));
  set_card(patch, log, catalogue, out);
  const bool is_llama = log.engine == LogEngine::llama_cpp || log.engine == LogEngine::ollama;
  if (const uint64_t gpus = log_gpu_count(log); gpus != 0)
    patch.set("gpu_count", std::to_string(gpus));
  // A server is sized for one request of its longest length, which it must hold to start.
  if (!is_llama) {
    patch.set("num_requests", "1");
    patch.set("weight_format", std::string(kOwnFormat));
    patch.set("cache_type_k", "auto");
  }
  set_settings(patch, log, out);
  set_model(patch, log, catalogue, out);
  if (is_llama) set_llama_context(patch, log);
  if (const LogFigure* block = log.find(LogQuantity::block_size))
    patch.set("block_tokens", std::to_string(block->value));
  out.patch = patch.take();
  return out;
}

}  // namespace vramgauge::api

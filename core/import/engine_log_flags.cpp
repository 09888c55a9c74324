#include "import/engine_log_flags.h"

#include <algorithm>
#include <string>

namespace vramgauge {
namespace {

/// A key as it is printed, and the setting that it is.
struct Key {
  LogEngine engine;
  std::string_view printed;
  std::string_view name;
};

constexpr LogEngine kVllm = LogEngine::vllm;
constexpr LogEngine kSglang = LogEngine::sglang;

/// vLLM: vllm/config, vllm/engine/arg_utils.py; SGLang: srt/server_args.py. An empty name is the
/// printed one.
constexpr Key kKeys[] = {
    {kVllm, "model", ""},
    {kVllm, "model_tag", "model"},
    {kVllm, "dtype", ""},
    {kVllm, "max_seq_len", "max_model_len"},
    {kVllm, "max_model_len", ""},
    {kVllm, "tensor_parallel_size", ""},
    {kVllm, "pipeline_parallel_size", ""},
    {kVllm, "data_parallel_size", ""},
    {kVllm, "decode_context_parallel_size", ""},
    {kVllm, "enable_expert_parallel", ""},
    {kVllm, "enable_eplb", "eplb"},
    {kVllm, "quantization", ""},
    {kVllm, "enforce_eager", ""},
    {kVllm, "kv_cache_dtype", ""},
    {kVllm, "block_size", ""},
    {kVllm, "enable_prefix_caching", ""},
    {kVllm, "enable_chunked_prefill", "chunked_prefill"},
    {kVllm, "chunked_prefill_enabled", "chunked_prefill"},
    {kVllm, "speculative_config", "speculative"},
    {kVllm, "num_speculative_tokens", ""},
    {kVllm, "num_spec_tokens", "num_speculative_tokens"},
    {kVllm, "gpu_memory_utilization", ""},
    {kVllm, "kv_cache_memory_bytes", ""},
    {kVllm, "kv_cache_memory", "kv_cache_memory_bytes"},
    {kVllm, "max_num_seqs", ""},
    {kVllm, "max_num_batched_tokens", ""},
    {kVllm, "cpu_offload_gb", ""},
    {kVllm, "enable_sleep_mode", ""},
    {kVllm, "enable_lora", ""},
    {kVllm, "max_loras", ""},
    {kVllm, "max_lora_rank", ""},
    {kVllm, "skip_mm_profiling", ""},
    {kVllm, "mamba_cache_mode", ""},
    {kVllm, "mamba_ssm_cache_dtype", ""},
    {kVllm, "disable_hybrid_kv_cache_manager", ""},
    {kSglang, "model_path", "model"},
    {kSglang, "tp_size", "tensor_parallel_size"},
    {kSglang, "pp_size", "pipeline_parallel_size"},
    {kSglang, "dp_size", "data_parallel_size"},
    {kSglang, "ep_size", "expert_parallel_size"},
    {kSglang, "dtype", ""},
    {kSglang, "quantization", ""},
    {kSglang, "kv_cache_dtype", ""},
    {kSglang, "mem_fraction_static", ""},
    {kSglang, "context_length", ""},
    {kSglang, "max_running_requests", ""},
    {kSglang, "max_total_tokens", ""},
    {kSglang, "chunked_prefill_size", ""},
    {kSglang, "page_size", ""},
    {kSglang, "swa_full_tokens_ratio", ""},
    {kSglang, "mamba_full_memory_ratio", ""},
    {kSglang, "cuda_graph_max_bs", ""},
    {kSglang, "disable_cuda_graph", ""},
    {kSglang, "enable_piecewise_cuda_graph", "piecewise_cuda_graph"},
    {kSglang, "piecewise_cuda_graph_max_tokens", ""},
    {kSglang, "speculative_algorithm", "speculative"},
    {kSglang, "enable_dp_attention", ""},
};

constexpr std::string_view::size_type kMaxValue = 256;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const Key* find_key(LogEngine engine, std::string_view printed) {
  for (const Key& key : kKeys) {
    if (key.engine == engine && key.printed == printed) return &key;
  }
  return nullptr;
}

/// Takes the value off the front: a quoted text, something in brackets, or up to a comma. What is
/// inside brackets stays: it may hold keys of its own.
std::string_view take_value(std::string_view& text) {
  constexpr auto kNone = std::string_view::npos;
  const char first = text.empty() ? '\0' : text.front();
  const bool is_quoted = first == '\'' || first == '"';
  const bool is_nested = first == '{' || first == '[' || first == '(';
  auto end = kNone;
  if (is_quoted) {
    end = text.find(first, 1);
  } else if (is_nested) {
    end = text.find_first_of("}])");
  } else {
    end = text.find_first_of(",)}");
  }
  end = std::min(end, text.size());
  const auto begin = std::string_view::size_type{is_quoted ? 1U : 0U};
  const std::string_view value =
      text.substr(begin, std::min(end - std::min(end, begin), kMaxValue));
  const auto taken = is_nested ? std::string_view::size_type{1} : end + (is_quoted ? 1U : 0U);
  text.remove_prefix(std::min(text.size(), taken));
  return value;
}

std::string plain(std::string_view value) {
  if (value == "True") return "true";
  if (value == "False") return "false";
  constexpr std::string_view kTorch = "torch.";
  if (value.substr(0, kTorch.size()) == kTorch) value.remove_prefix(kTorch.size());
  return std::string(value);
}

/// Takes the next key off the front, with what separates it from its value; empty at the end.
std::string_view take_key(std::string_view& text) {
  while (!text.empty()) {
    const auto equals = text.find_first_of("=:");
    if (equals == std::string_view::npos) break;
    auto end = equals;
    if (end > 0 && (text[end - 1] == '\'' || text[end - 1] == '"')) --end;
    auto begin = end;
    while (begin > 0 && is_name(text[begin - 1]))
      --begin;
    const std::string_view key = text.substr(begin, end - begin);
    text.remove_prefix(equals + 1);
    while (!text.empty() && text.front() == ' ')
      text.remove_prefix(1);
    if (!key.empty()) return key;
  }
  text = {};
  return {};
}

}  // namespace

std::vector<LogFlag> log_settings(LogEngine engine, std::string_view text) {
  std::vector<LogFlag> flags;
  while (!text.empty()) {
    const Key* key = find_key(engine, take_key(text));
    if (key == nullptr) continue;
    const std::string_view value = take_value(text);
    const std::string_view name = key->name.empty() ? key->printed : key->name;
    // The first of a name: further ones belong to a draft model.
    const bool is_new = std::none_of(flags.begin(), flags.end(),
                                     [name](const LogFlag& flag) { return flag.name == name; });
    if (is_new && !value.empty() && value != "None")
      flags.push_back({std::string(name), plain(value), 0});
  }
  return flags;
}

}  // namespace vramgauge

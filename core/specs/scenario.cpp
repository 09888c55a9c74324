#include "specs/scenario.h"

#include <algorithm>
#include <iterator>

namespace vramgauge {
namespace {

constexpr uint64_t kMaxTokens = 1'000'000'000;
constexpr uint64_t kMaxRequests = 1'000'000;
constexpr uint64_t kMaxGpus = 4096;
constexpr uint64_t kMaxBlockTokens = 65'536;
constexpr uint64_t kOne = Decimal::kScale;
constexpr std::string_view kLlamaCpp = "llama_cpp";
constexpr std::string_view kVersioned = "llama_cpp,vllm,sglang,tensorrt_llm,transformers";
constexpr std::string_view kServers = "vllm,sglang,tensorrt_llm";
constexpr std::string_view kAdapting = "vllm,sglang";
constexpr std::string_view kDrafting = "llama_cpp,vllm,sglang,tensorrt_llm";
constexpr std::string_view kVllm = "vllm";
constexpr std::string_view kSglang = "sglang";
constexpr uint64_t kMaxRanks = kMaxGpus;
constexpr uint64_t kMaxBatchTokens = 1 << 20;
constexpr std::string_view kSwitch = "on,off";
/// Longest free text, in bytes.
constexpr uint64_t kMaxTextBytes = 1024;

constexpr Field choice(std::string_view key, std::string_view group, std::string_view list,
                       std::string Scenario::*text) {
  Field field;
  field.key = key;
  field.kind = FieldKind::choice;
  field.unit = "none";
  field.group = group;
  field.list = list;
  field.text = text;
  return field;
}

constexpr Field integer(std::string_view key, std::string_view group, std::string_view unit,
                        uint64_t min, uint64_t max, uint64_t Scenario::*number) {
  Field field;
  field.key = key;
  field.unit = unit;
  field.group = group;
  field.min = min;
  field.max = max;
  field.number = number;
  return field;
}

constexpr Field decimal(std::string_view key, std::string_view group, std::string_view unit,
                        uint64_t min, uint64_t max, Decimal Scenario::*member) {
  Field field;
  field.key = key;
  field.kind = FieldKind::decimal;
  field.unit = unit;
  field.group = group;
  field.min = min;
  field.max = max;
  field.decimal = member;
  return field;
}

constexpr Field only_in(std::string_view engines, Field field) {
  field.engines = engines;
  return field;
}

constexpr Field option(std::string_view key, std::string_view group, std::string_view words,
                       std::string Scenario::*text) {
  Field field = choice(key, group, words, text);
  field.kind = FieldKind::option;
  return field;
}

constexpr Field free_text(std::string_view key, std::string_view group,
                          std::string Scenario::*text) {
  Field field = choice(key, group, "", text);
  field.kind = FieldKind::text;
  return field;
}

constexpr Field model_config_field() {
  Field field = choice("model_config", "model", "", &Scenario::model_config);
  field.kind = FieldKind::json;
  return field;
}

constexpr Field kFields[] = {
    choice("model", "model", "models", &Scenario::model),
    model_config_field(),
    choice("weight_format", "weights", "formats", &Scenario::weight_format),
    choice("gpu", "hardware", "gpus", &Scenario::gpu),
    decimal("gpu_memory_gib", "hardware", "gib", 0, 1'000'000 * kOne, &Scenario::gpu_memory_gib),
    integer("gpu_count", "hardware", "gpus", 1, kMaxGpus, &Scenario::gpu_count),
    choice("engine", "engine", "engines", &Scenario::engine),
    choice("cache_type_k", "engine", "cache_types", &Scenario::cache_type_k),
    choice("cache_type_v", "engine", "cache_types", &Scenario::cache_type_v),
    integer("context_tokens", "workload", "tokens", 1, kMaxTokens, &Scenario::context_tokens),
    integer("num_requests", "workload", "requests", 1, kMaxRequests, &Scenario::num_requests),
    only_in("generic", integer("shared_prefix_tokens", "workload", "tokens", 0, kMaxTokens,
                               &Scenario::shared_prefix_tokens)),
    only_in("generic", integer("kv_block_tokens", "engine", "tokens", 1, kMaxBlockTokens,
                               &Scenario::kv_block_tokens)),
    only_in("generic", decimal("gpu_memory_utilization_frac", "engine", "fraction", kOne / 100,
                               kOne, &Scenario::gpu_memory_utilization_frac)),
    only_in("generic", decimal("overhead_factor", "engine", "factor", kOne, 10 * kOne,
                               &Scenario::overhead_factor)),
    only_in("generic", decimal("fixed_gib", "engine", "gib", 0, 1024 * kOne, &Scenario::fixed_gib)),
    only_in("generic",
            decimal("live_buffers", "engine", "factor", 0, 1024 * kOne, &Scenario::live_buffers)),
    only_in("generic", integer("prefill_batch", "workload", "requests", 0, kMaxRequests,
                               &Scenario::prefill_batch)),
    only_in("generic,transformers", integer("prefill_tokens", "workload", "tokens", 0, kMaxTokens,
                                            &Scenario::prefill_tokens)),
    only_in(kLlamaCpp, option("program", "engine", "server,bench,api", &Scenario::program)),
    only_in(kVersioned, free_text("engine_version", "engine", &Scenario::engine_version)),
    only_in(kLlamaCpp, integer("batch_tokens", "engine", "tokens", 1, kMaxBatchTokens,
                               &Scenario::batch_tokens)),
    only_in(kLlamaCpp, integer("ubatch_tokens", "engine", "tokens", 1, kMaxBatchTokens,
                               &Scenario::ubatch_tokens)),
    only_in("llama_cpp,transformers",
            option("flash_attn", "engine", "auto,on,off", &Scenario::flash_attn)),
    only_in(kLlamaCpp, option("swa_full", "engine", kSwitch, &Scenario::swa_full)),
    only_in(kLlamaCpp, option("kv_unified", "engine", kSwitch, &Scenario::kv_unified)),
    only_in(kLlamaCpp, option("kv_offload", "engine", kSwitch, &Scenario::kv_offload)),
    only_in(kLlamaCpp, option("op_offload", "engine", kSwitch, &Scenario::op_offload)),
    only_in(kLlamaCpp, integer("gpu_layers", "engine", "layers", 0, Scenario::kAllGpuLayers,
                               &Scenario::gpu_layers)),
    only_in(kLlamaCpp, integer("cpu_moe_layers", "engine", "layers", 0, Scenario::kAllGpuLayers,
                               &Scenario::cpu_moe_layers)),
    only_in(kLlamaCpp, free_text("more_gpus", "hardware", &Scenario::more_gpus)),
    only_in(kLlamaCpp, free_text("tensor_split", "engine", &Scenario::tensor_split)),
    only_in(kLlamaCpp, free_text("override_tensors", "engine", &Scenario::override_tensors)),
    only_in(kLlamaCpp, decimal("host_ram_gib", "hardware", "gib", 0, 1'000'000 * kOne,
                               &Scenario::host_ram_gib)),
    only_in(kLlamaCpp,
            decimal("projector_gib", "weights", "gib", 0, 1024 * kOne, &Scenario::projector_gib)),
    only_in(kLlamaCpp, decimal("lora_gib", "weights", "gib", 0, 1024 * kOne, &Scenario::lora_gib)),
    only_in(kServers,
            integer("tensor_ranks", "hardware", "gpus", 0, kMaxRanks, &Scenario::tensor_ranks)),
    only_in(kServers, integer("pipeline_stages", "hardware", "gpus", 1, kMaxRanks,
                              &Scenario::pipeline_stages)),
    only_in(kVllm, free_text("stage_layers", "hardware", &Scenario::stage_layers)),
    only_in(kServers,
            integer("data_ranks", "hardware", "gpus", 1, kMaxRanks, &Scenario::data_ranks)),
    only_in(kVllm,
            integer("context_ranks", "hardware", "gpus", 1, kMaxRanks, &Scenario::context_ranks)),
    only_in(kServers, option("expert_parallel", "hardware", kSwitch, &Scenario::expert_parallel)),
    only_in(kSglang, option("dp_attention", "hardware", kSwitch, &Scenario::dp_attention)),
    only_in(kServers,
            decimal("memory_frac", "engine", "fraction", 0, kOne, &Scenario::memory_frac)),
    only_in(kVllm,
            decimal("kv_cache_gib", "engine", "gib", 0, 1024 * kOne, &Scenario::kv_cache_gib)),
    decimal("held_gib", "hardware", "gib", 0, 1024 * kOne, &Scenario::held_gib),
    only_in(kServers,
            integer("max_model_len", "engine", "tokens", 0, kMaxTokens, &Scenario::max_model_len)),
    only_in(kServers, integer("max_num_batched_tokens", "engine", "tokens", 0, kMaxBatchTokens,
                              &Scenario::max_num_batched_tokens)),
    only_in(kServers, integer("max_num_seqs", "engine", "requests", 0, kMaxRequests,
                              &Scenario::max_num_seqs)),
    only_in(kServers, integer("block_tokens", "engine", "tokens", 0, kMaxBlockTokens,
                              &Scenario::block_tokens)),
    only_in(kSglang, integer("cuda_graph_max_bs", "engine", "requests", 0, kMaxRequests,
                             &Scenario::cuda_graph_max_bs)),
    only_in(kVllm, option("enforce_eager", "engine", kSwitch, &Scenario::enforce_eager)),
    only_in(kVllm, option("prefix_caching", "engine", kSwitch, &Scenario::prefix_caching)),
    only_in(kVllm, option("mamba_cache_mode", "engine", "auto,none,align,all",
                          &Scenario::mamba_cache_mode)),
    only_in(kSglang, decimal("swa_full_tokens_ratio", "engine", "factor", 0, kOne,
                             &Scenario::swa_full_tokens_ratio)),
    only_in(kServers,
            option("speculative", "engine", "off,mtp,eagle,ngram,draft", &Scenario::speculative)),
    only_in(kDrafting,
            integer("draft_tokens", "engine", "tokens", 0, 1024, &Scenario::draft_tokens)),
    only_in(kDrafting, choice("draft_model", "weights", "models", &Scenario::draft_model)),
    only_in(kDrafting, choice("draft_format", "weights", "formats", &Scenario::draft_format)),
    only_in(kLlamaCpp, integer("draft_gpu_layers", "engine", "layers", 0, Scenario::kAllGpuLayers,
                               &Scenario::draft_gpu_layers)),
    only_in(kLlamaCpp,
            choice("draft_cache_type", "engine", "cache_types", &Scenario::draft_cache_type)),
    only_in(kAdapting, integer("max_loras", "weights", "none", 0, 1024, &Scenario::max_loras)),
    only_in(kAdapting,
            integer("max_lora_rank", "weights", "none", 1, 4096, &Scenario::max_lora_rank)),
    only_in(kVllm,
            option("language_model_only", "weights", kSwitch, &Scenario::language_model_only)),
    only_in(kVllm, decimal("cpu_offload_gib", "weights", "gib", 0, 1'000'000 * kOne,
                           &Scenario::cpu_offload_gib)),
    only_in("transformers", option("cache_implementation", "engine", "dynamic,static",
                                   &Scenario::cache_implementation)),
    only_in(kVllm, integer("images_per_request", "workload", "none", 0, Scenario::kManyImages,
                           &Scenario::images_per_request)),
    only_in(kVersioned, free_text("calibration", "engine", &Scenario::calibration)),
};

std::string bound_text(const Field& field, uint64_t bound) {
  return field.decimal != nullptr ? Decimal::from_micros(bound).text() : std::to_string(bound);
}

void report_range(const Field& field, std::string value, const std::string& path,
                  Diagnostics& errors) {
  errors.push_back({ErrorCode::value_out_of_range,
                    path,
                    {{"key", field.key},
                     {"value", std::move(value)},
                     {"min", bound_text(field, field.min)},
                     {"max", bound_text(field, field.max)}},
                    std::nullopt});
}

std::string_view expected_name(const Field& field) {
  switch (field.kind) {
    case FieldKind::integer: return "a whole number";
    case FieldKind::decimal: return "a number";
    case FieldKind::choice: return "a name";
    case FieldKind::option: return field.list;
    case FieldKind::text: return "a text";
    case FieldKind::json: return "a configuration";
  }
  return "";
}

/// The number that a text gives for a field, in the field's own unit (millionths for decimals).
std::optional<uint64_t> number_from_text(const Field& field, std::string_view text) {
  if (field.number != nullptr) return parse_count(text);
  const std::optional<Decimal> value = Decimal::parse(text);
  if (!value) return std::nullopt;
  return value->micros();
}

std::optional<uint64_t> number_from_json(const Field& field, const json::Value& value) {
  if (const std::string* text = value.as_string()) return number_from_text(field, *text);
  if (field.number != nullptr) return value.as_u64();
  const json::Number* number = value.as_number();
  const std::optional<Decimal> decimal =
      number == nullptr ? std::nullopt : Decimal::from_double(number->real);
  if (!decimal) return std::nullopt;
  return decimal->micros();
}

void assign(Scenario& scenario, const Field& field, uint64_t number) {
  if (field.number != nullptr) {
    scenario.*field.number = number;
  } else {
    scenario.*field.decimal = Decimal::from_micros(number);
  }
}

bool in_range(const Field& field, uint64_t number) {
  return number >= field.min && number <= field.max;
}

/// Whether a text may be the field's value.
bool is_allowed(const Field& field, std::string_view text) {
  if (field.kind == FieldKind::text) return text.size() <= kMaxTextBytes;
  if (field.kind != FieldKind::option) return true;
  std::string_view rest = field.list;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == text) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

void report_unreadable(const Field& field, const json::Value& value, const std::string& path,
                       Diagnostics& errors) {
  errors.push_back({ErrorCode::value_unreadable,
                    path,
                    {{"key", field.key},
                     {"value", json::write(value).substr(0, 80)},
                     {"expected", expected_name(field)}},
                    std::nullopt});
}

void set_text_json(Scenario& scenario, const Field& field, const json::Value& value,
                   const std::string& path, Diagnostics& errors) {
  if (const std::string* text = value.as_string()) {
    if (!is_allowed(field, *text)) return report_unreadable(field, value, path, errors);
    scenario.*field.text = *text;
  } else if (field.kind == FieldKind::json && value.as_object() != nullptr) {
    scenario.*field.text = json::write(value);
  } else {
    errors.push_back({ErrorCode::json_wrong_type,
                      path,
                      {{"key", field.key},
                       {"expected", expected_name(field)},
                       {"found", std::string(json::kind_name(value.kind()))}},
                      std::nullopt});
  }
}

}  // namespace

const std::vector<Field>& scenario_fields() {
  static const std::vector<Field> fields(std::begin(kFields), std::end(kFields));
  return fields;
}

const Field* find_field(std::string_view key) {
  for (const Field& field : scenario_fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::string field_text(const Scenario& scenario, const Field& field) {
  if (field.text != nullptr) return scenario.*field.text;
  if (field.number != nullptr) return std::to_string(scenario.*field.number);
  return (scenario.*field.decimal).text();
}

json::Value field_json(const Scenario& scenario, const Field& field) {
  if (field.text != nullptr) return json::Value::string(scenario.*field.text);
  if (field.number != nullptr) return json::Value::integer(scenario.*field.number);
  return json::Value::decimal(scenario.*field.decimal);
}

bool set_field_text(Scenario& scenario, const Field& field, std::string_view text) {
  if (field.text != nullptr) {
    if (!is_allowed(field, text)) return false;
    scenario.*field.text = std::string(text);
    return true;
  }
  const std::optional<uint64_t> number = number_from_text(field, text);
  if (!number || !in_range(field, *number)) return false;
  assign(scenario, field, *number);
  return true;
}

void set_field_json(Scenario& scenario, const Field& field, const json::Value& value,
                    const std::string& path, Diagnostics& errors) {
  if (value.is_null()) return;
  if (field.text != nullptr) {
    set_text_json(scenario, field, value, path, errors);
    return;
  }
  const std::optional<uint64_t> number = number_from_json(field, value);
  if (!number) {
    report_unreadable(field, value, path, errors);
  } else if (!in_range(field, *number)) {
    report_range(field, json::write(value), path, errors);
  } else {
    assign(scenario, field, *number);
  }
}

Result<Scenario> read_scenario(const json::Value& value, const std::string& path) {
  Diagnostics errors;
  json::ObjectReader reader(value, path, errors);
  Scenario scenario;
  for (const Field& field : scenario_fields()) {
    if (const json::Value* given = reader.raw(field.key)) {
      set_field_json(scenario, field, *given, reader.path_to(field.key), errors);
    }
  }
  for (const std::string& key : reader.unread_keys()) {
    reader.error(ErrorCode::scenario_unknown_key, key, {{"key", key}});
  }
  if (!errors.empty()) return fail(std::move(errors));
  return scenario;
}

json::Value write_scenario(const Scenario& scenario) {
  json::Value out = json::Value::object();
  for (const Field& field : scenario_fields())
    out.set(field.key, field_json(scenario, field));
  return out;
}

}  // namespace vramgauge

// What is asked: one flat set of fields, described by one table. JSON requests, links, command-line
// flags and the page's form all come from that table, so a field has one name everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/decimal.h"
#include "units/json.h"

namespace vramgauge {

/// A question. Every field has a default, so a link holds only what differs.
struct Scenario {
  std::string model = "meta-llama/Llama-3.3-70B-Instruct";
  /// JSON text of a config.json or of a custom architecture; overrides `model` when not empty.
  std::string model_config;
  std::string weight_format = "Q4_K_M";
  std::string gpu = "nvidia-h100-80gb-hbm3";
  /// Memory of a GPU that is not in the catalogue (gpu = "custom").
  Decimal gpu_memory_gib;
  uint64_t gpu_count = 1;
  std::string engine = "generic";
  std::string cache_type_k = "fp16";
  /// Empty = as cache_type_k.
  std::string cache_type_v;
  uint64_t context_tokens = 65536;
  uint64_t num_requests = 2;
  /// Tokens at the start of every request that are stored once.
  uint64_t shared_prefix_tokens = 0;
  /// Tokens per cache block; 1 = no rounding.
  uint64_t kv_block_tokens = 1;
  Decimal gpu_memory_utilization_frac = Decimal::from_micros(Decimal::kScale);
  // The rule of thumb's own constants.
  Decimal overhead_factor = Decimal::from_micros(1'150'000);
  Decimal fixed_gib = Decimal::from_micros(Decimal::kScale);
  /// 0 = the overhead factor stands for activations.
  Decimal live_buffers;
  /// Requests prefilled at once; 0 = 1.
  uint64_t prefill_batch = 0;
  /// Prompt tokens prefilled at once per request; 0 = context_tokens.
  uint64_t prefill_tokens = 0;
  // llama.cpp; the defaults are its server's.
  /// Which of its programs runs: server, bench, api.
  std::string program = "server";
  /// Build or release such as "b6975" or "0.11.0"; empty = the newest that is known.
  std::string engine_version;
  /// Logical and physical batch.
  uint64_t batch_tokens = 2048;
  uint64_t ubatch_tokens = 512;
  /// auto, on, off
  std::string flash_attn = "auto";
  // on, off:
  std::string swa_full = "off";
  std::string kv_unified = "off";
  std::string kv_offload = "on";
  std::string op_offload = "on";
  /// Layers on GPUs, the output layer counted as one.
  uint64_t gpu_layers = kAllGpuLayers;
  static constexpr uint64_t kAllGpuLayers = 9999;
  /// First layers whose routed experts stay in host memory.
  uint64_t cpu_moe_layers = 0;
  /// Shares of the GPUs, "3,1"; empty = by free memory.
  std::string tensor_split;
  /// PATTERN=BUFFER, separated by commas; a buffer is CPU or CUDA0, CUDA1, ...
  std::string override_tensors;
  /// 0 = not known: no verdict about host memory.
  Decimal host_ram_gib;
  /// Size of a vision or audio projector's file, and of adapters.
  Decimal projector_gib;
  Decimal lora_gib;
  // Server engines; 0 or empty = what the engine itself chooses, by its version and the card.
  /// GPUs that split every layer; 0 = all that stages and replicas leave.
  uint64_t tensor_ranks = 0;
  uint64_t pipeline_stages = 1;
  /// Layers of each stage, "20,22".
  std::string stage_layers;
  /// Replicas of the model, or of its attention alone where dp_attention is on.
  uint64_t data_ranks = 1;
  /// GPUs over which the cached tokens of a request are spread (decode context parallelism).
  uint64_t context_ranks = 1;
  // on, off:
  std::string expert_parallel = "off";
  std::string dp_attention = "off";
  /// Share of the card that the engine takes: of all memory, or for TensorRT-LLM of what is free
  /// once the model is loaded.
  Decimal memory_frac;
  /// Size of the cache itself, in place of a share of the card.
  Decimal kv_cache_gib;
  /// Memory that others hold on each card before the engine starts; 0 = what the system of a
  /// machine with shared memory is taken to, nothing elsewhere.
  Decimal held_gib;
  /// Longest request that is taken; 0 = context_tokens.
  uint64_t max_model_len = 0;
  /// Tokens of one step: vLLM's budget, SGLang's prefill chunk, TensorRT-LLM's max_num_tokens.
  uint64_t max_num_batched_tokens = 0;
  /// Requests in one step.
  uint64_t max_num_seqs = 0;
  /// Tokens of a block or page of the cache.
  uint64_t block_tokens = 0;
  /// Largest batch that is captured as a CUDA graph.
  uint64_t cuda_graph_max_bs = 0;
  /// on = no CUDA graphs.
  std::string enforce_eager = "off";
  std::string prefix_caching = "on";
  /// auto, none, align, all: which recurrent states are kept for prefixes.
  std::string mamba_cache_mode = "auto";
  /// SGLang: tokens of sliding layers per token of full ones.
  Decimal swa_full_tokens_ratio;
  /// off, mtp, eagle, ngram, draft
  std::string speculative = "off";
  /// Tokens drafted per step.
  uint64_t draft_tokens = 0;
  /// Adapters held at once, and their largest rank.
  uint64_t max_loras = 0;
  uint64_t max_lora_rank = 16;
  /// on = vision and audio towers are not loaded.
  std::string language_model_only = "off";
  /// Weights that stay in host memory.
  Decimal cpu_offload_gib;
  /// dynamic, static: the cache of Transformers' generate().
  std::string cache_implementation = "dynamic";
  /// A smaller model that drafts, by its id in the catalogue; empty = none.
  std::string draft_model;
  /// Its weight format; empty = as weight_format for llama.cpp, its checkpoint's own for servers.
  std::string draft_format;
  /// Its layers on GPUs, the output layer counted as one (llama.cpp).
  uint64_t draft_gpu_layers = kAllGpuLayers;
  /// Type of its cache (llama.cpp); servers cache it as the model's own.
  std::string draft_cache_type = "fp16";
  /// Cards of other kinds behind those of gpu and gpu_count: "nvidia-l4,tesla-t4:2".
  std::string more_gpus;
  /// Most images of one request that vLLM takes; its own limit is so high that it is none.
  uint64_t images_per_request = kManyImages;
  static constexpr uint64_t kManyImages = 999;
  /// What a start-up log adds to the terms of each device, in GiB:
  /// "activations=+0.42,runtime=-0.11".
  std::string calibration;
};

enum class FieldKind {
  choice,   ///< id of a catalogue entry
  option,   ///< one of a few fixed words
  text,     ///< free text
  integer,  ///< whole number
  decimal,  ///< decimal number
  json,     ///< JSON text
};

/// One row of the table of fields. Exactly one of the member pointers is set.
struct Field {
  std::string_view key;
  FieldKind kind = FieldKind::integer;
  /// tokens, gib, gpus, requests, factor, none
  std::string_view unit;
  /// model, weights, hardware, engine, workload
  std::string_view group;
  /// Inclusive bounds of an integer, or of a decimal in millionths.
  uint64_t min = 0;
  uint64_t max = 0;
  /// Catalogue list of a choice; the words of an option, separated by commas.
  std::string_view list;
  /// Comma-separated engines that have the field; empty = all.
  std::string_view engines;
  std::string Scenario::*text = nullptr;
  uint64_t Scenario::*number = nullptr;
  Decimal Scenario::*decimal = nullptr;
};

/// All fields, in the order of links and forms.
const std::vector<Field>& scenario_fields();

/// The row of a key, or nothing.
const Field* find_field(std::string_view key);

/// The field's value as text, in the form that set_field_text reads.
std::string field_text(const Scenario& scenario, const Field& field);

/// The field's value as JSON.
json::Value field_json(const Scenario& scenario, const Field& field);

/// Sets a field from text ("64K", "0.9", "Q4_K_M"); false when unreadable or out of range.
[[nodiscard]] bool set_field_text(Scenario& scenario, const Field& field, std::string_view text);

/// Sets a field from JSON (a number, or text as above); reports what is wrong under `path`.
void set_field_json(Scenario& scenario, const Field& field, const json::Value& value,
                    const std::string& path, Diagnostics& errors);

/// Reads a scenario: unknown keys are errors, missing keys keep their defaults.
Result<Scenario> read_scenario(const json::Value& value, const std::string& path);

/// Every field, resolved or not, as a JSON object.
json::Value write_scenario(const Scenario& scenario);

}  // namespace vramgauge

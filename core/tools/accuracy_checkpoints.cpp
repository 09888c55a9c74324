#include "accuracy_checkpoints.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "accuracy_engines.h"
#include "engine/vllm_weights_formats.h"
#include "import/quantization_config.h"
#include "model/checkpoint_resolve.h"

namespace vramgauge::tools {
namespace {

/// Configurations as makers of checkpoints publish them; sources in tests/truth/README.md.
constexpr const char* kAwq =
    R"({"quant_method":"awq","bits":4,"group_size":128,"version":"gemm","zero_point":true,
    "modules_to_not_convert":["visual","vision_tower","embed_vision","multi_modal_projector"]})";
constexpr const char* kGptq =
    R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":false,"sym":true})";
/// Only the experts.
constexpr const char* kGptqExperts = R"({"quant_method":"gptq","bits":4,"group_size":128,
    "desc_act":false,"sym":true,"dynamic":{"-:.*attn.*":{},"-:.*shared_expert.*":{},
    "-:.*mtp.*":{},"-:.*visual.*":{}}})";
constexpr const char* kFp8Blocks = R"({"quant_method":"fp8","weight_block_size":[128,128],
    "modules_to_not_convert":["lm_head","visual","vision_tower","*.in_proj_a","*.in_proj_b",
    "*.in_proj_ba"]})";
constexpr const char* kInt8 = R"({"quant_method":"compressed-tensors","format":"int-quantized",
    "ignore":["lm_head"],"config_groups":{"group_0":{"targets":["Linear"],
    "weights":{"num_bits":8,"type":"int","strategy":"channel","symmetric":true}}}})";
constexpr const char* kFp8Dynamic = R"({"quant_method":"compressed-tensors",
    "format":"float-quantized","ignore":["lm_head"],"config_groups":{"group_0":{
    "targets":["Linear"],"input_activations":{"num_bits":8,"type":"float","dynamic":true},
    "weights":{"num_bits":8,"type":"float","strategy":"channel","symmetric":true}}}})";
constexpr const char* kNf4 = R"({"quant_method":"bitsandbytes","load_in_4bit":true,
    "llm_int8_skip_modules":["lm_head","visual","vision_tower","embed_vision"]})";
/// Unsloth's "dynamic" checkpoint of Qwen2.5-3B-Instruct, as its notebook prints it.
constexpr const char* kNf4But3 = R"({"quant_method":"bitsandbytes","load_in_4bit":true,
    "llm_int8_skip_modules":["lm_head","model.layers.2.mlp","model.layers.3.mlp",
    "model.layers.30.mlp"]})";
/// Every linear layer of the decoder.
constexpr const char* kNvfp4 = R"({"quant_method":"compressed-tensors",
    "format":"nvfp4-pack-quantized","ignore":["lm_head","re:.*vision.*","re:.*visual.*",
    "re:.*mtp.*","re:.*router.*","re:.*mlp.gate$","re:.*mlp.shared_expert_gate$"],
    "config_groups":{"group_0":{"targets":["Linear"],"input_activations":{"num_bits":4,
    "type":"float","group_size":16,"strategy":"tensor_group"},"weights":{"num_bits":4,
    "type":"float","group_size":16,"strategy":"tensor_group"}}}})";
/// llm-compressor's recipe, which leaves linear attention at 16 bits.
constexpr const char* kNvfp4Linear = R"({"quant_method":"compressed-tensors",
    "format":"nvfp4-pack-quantized","ignore":["lm_head","re:.*vision.*","re:.*visual.*",
    "re:.*mtp.*","re:.*router.*","re:.*mlp.gate$","re:.*mlp.shared_expert_gate$",
    "re:.*linear_attn.*"],
    "config_groups":{"group_0":{"targets":["Linear"],"input_activations":{"num_bits":4,
    "type":"float","group_size":16,"strategy":"tensor_group"},"weights":{"num_bits":4,
    "type":"float","group_size":16,"strategy":"tensor_group"}}}})";
/// Routed and shared experts.
constexpr const char* kNvfp4Experts = R"({"quant_method":"modelopt","quant_algo":"NVFP4",
    "group_size":16,"ignore":["lm_head","*self_attn*","*gate","*vision*","*projector*",
    "model.layers.0.*","model.layers.1.*","model.layers.2.*"]})";

/// The first part that a name contains decides.
struct Habit {
  std::string_view part;
  NamedQuantization means;
};
constexpr std::array<Habit, 13> kHabits = {{
    // Some layers stay at 16 bits, which ones is in the checkpoint only.
    {"unsloth-bnb-4bit", {kNf4, false}},
    {"bnb-4bit", {kNf4, true}},
    {"bitsandbytes", {kNf4, true}},
    {"fp8-dynamic", {kFp8Dynamic, true}},
    {"fp8", {kFp8Blocks, true}},
    {"w8a8", {kInt8, true}},
    {"int8", {kInt8, true}},
    {"nvfp4", {kNvfp4, false}},
    {"awq", {kAwq, false}},
    {"gptq", {kGptq, false}},
    {"w4a16", {kGptq, false}},
    {"int4", {kGptq, false}},
    {"4-bit", {kGptq, false}},
}};

const LogFacts kFacts[] = {
    {.id = "qwen25-72b-awq-2gpu", .intermediate_size = 29696},
    {.id = "unsloth-qwen3-8b-fp8-grpo", .adapter_rank = 32, .sampler = VllmSampler::native},
    {.id = "unsloth-llama-fp8-grpo", .adapter_rank = 32, .sampler = VllmSampler::flashinfer},
    {.id = "llmd-h100-mistral-small-3.2-24b-instruct-2506-tp1", .sampler = VllmSampler::flashinfer},
    {.id = "qwen25-05b-24gb", .release = "0.27.1"},
    {.id = "qwen38-27b-bf16-80g", .batched_tokens = 2048, .sequences = 256, .is_rocm = true},
    {.id = "unsloth-qwen3-4b-grpo", .adapter_rank = 32},
    {.id = "unsloth-deepseek-r1-0528-qwen3-8b-grpo", .adapter_rank = 32},
    {.id = "minimax-m3-nvfp4-4gpu", .quantization = kNvfp4Experts, .has_whole_towers = true},
    {.id = "thor-qwen35-122b-nvfp4", .quantization = kNvfp4Linear, .is_text_only = true},
    {.id = "thor-qwen35-122b-nvfp4-nomtp", .quantization = kNvfp4Linear, .is_text_only = true},
    {.id = "autokernel-gemma4-26b-nvfp4-5090-pr3", .quantization = kNvfp4},
    {.id = "gx10-gemma4-26b-nvfp4", .quantization = kNvfp4},
    {.id = "vllm36973-qwen35-35b-gptq-5090-old", .quantization = kGptqExperts},
    {.id = "jethac-qwen36-35b-dflash", .quantization = kNvfp4Linear, .draft_gib = 905.0 / 1024},
    {.id = "vllm12773-dsr1-mi300a", .tensor_ranks = 8, .stages = 4},
    {.id = "mattbucci-devstral-24b-0.92", .quantization = kAwq},
    {.id = "dsv4-flash-0731-600k-eager", .tensor_ranks = 4},
    {.id = "dsv4-flash-0731-600k-dspark", .tensor_ranks = 4},
    {.id = "vllm33544-qwen3-next-nvfp4-gb10", .quantization = kNvfp4Linear},
    {.id = "unsloth-qwen25-3b-grpo", .quantization = kNf4But3},
    {.id = "unsloth-qwen2-5-7b-vl-grpo", .adapter_rank = 64},
    {.id = "trtllm-llama31-8b-5090", .cache_type = "fp8"},
    {.id = "vllm44376-dsv4-flash-2xgh200", .batched_tokens = 16384},
    {.id = "ollama6160-mistral-small-22b-48k", .gguf_format = "Q6_K", .cache_type = "q8_0"},
};

/// A quantization_config as if it stood in a config.json; null when the model's own holds.
Predictable<std::optional<QuantizationConfig>> read_config(const TruthModel& model,
                                                           std::string_view text) {
  if (text.empty()) return predictable(read_quantization(model.config, model.quantization_file()));
  auto parsed = predictable(json::parse(text));
  if (!parsed) return because(parsed.error());
  json::Value config = json::Value::object();
  config.set("quantization_config", std::move(*parsed));
  return predictable(read_quantization(config, nullptr));
}

}  // namespace

NamedQuantization quantization_by_name(const std::string& name) {
  const std::string text = lower_case(name);
  for (const Habit& habit : kHabits) {
    if (contains(text, habit.part)) return habit.means;
  }
  return {};
}

const LogFacts& log_facts(const std::string& id) {
  static const LogFacts kNone{.id = ""};
  const auto* found = std::find_if(std::begin(kFacts), std::end(kFacts),
                                   [&id](const LogFacts& facts) { return id == facts.id; });
  return found == std::end(kFacts) ? kNone : *found;
}

std::vector<std::string> ids_with_facts() {
  std::vector<std::string> ids;
  for (const LogFacts& facts : kFacts)
    ids.emplace_back(facts.id);
  return ids;
}

Predictable<std::vector<VllmStorage>> checkpoint_storage(const TruthModel& model,
                                                         std::string_view quantization,
                                                         std::string_view fallback,
                                                         uint64_t compute_capability) {
  auto config = read_config(model, quantization);
  if (!config) return because(config.error());
  if (!*config && !fallback.empty()) config = read_config(model, fallback);
  if (!config) return because(config.error());
  if (!*config) return std::vector<VllmStorage>(model.tensors.size());
  const ResolvedQuantization resolved = resolve_quantization(model.tensors, model.spec, **config);
  return predictable(vllm_storage(model.tensors, resolved, compute_capability));
}

}  // namespace vramgauge::tools

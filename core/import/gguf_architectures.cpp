#include "import/gguf_architectures.h"

#include <algorithm>
#include <iterator>

namespace vramgauge::gguf {
namespace {

using Rule = WindowRule;

// Names and hard-wired patterns: src/llama-arch.cpp and src/models/ of llama.cpp. For families
// whose window llama.cpp itself ignores (llama, phi3), the rule is that of the original model.
constexpr Architecture kArchitectures[] = {
    {.name = "llama", .model_type = "llama", .window = Rule::all},
    {.name = "llama4",
     .model_type = "llama4_text",
     .window = Rule::chunked,
     .window_period = 4,
     .default_window_tokens = 8192},
    {.name = "deci", .model_type = "nemotron-nas", .has_empty_layers = true},
    {.name = "falcon", .model_type = "falcon"},
    {.name = "grok", .model_type = "grok-1"},
    {.name = "gpt2", .model_type = "gpt2"},
    {.name = "gptj", .model_type = "gptj"},
    {.name = "gptneox", .model_type = "gpt_neox"},
    {.name = "mpt", .model_type = "mpt"},
    {.name = "baichuan", .model_type = "baichuan"},
    {.name = "starcoder", .model_type = "gpt_bigcode"},
    {.name = "refact", .model_type = "gpt_refact"},
    {.name = "bloom", .model_type = "bloom"},
    {.name = "stablelm", .model_type = "stablelm"},
    {.name = "qwen", .model_type = "qwen"},
    {.name = "qwen2", .model_type = "qwen2"},
    {.name = "qwen2moe", .model_type = "qwen2_moe"},
    {.name = "qwen2vl", .model_type = "qwen2_vl"},
    {.name = "qwen3", .model_type = "qwen3"},
    {.name = "qwen3moe", .model_type = "qwen3_moe"},
    {.name = "qwen3next", .model_type = "qwen3_next"},
    {.name = "qwen3vl", .model_type = "qwen3_vl_text"},
    {.name = "qwen3vlmoe", .model_type = "qwen3_vl_moe_text"},
    {.name = "qwen35", .model_type = "qwen3_5_text"},
    {.name = "qwen35moe", .model_type = "qwen3_5_moe_text"},
    {.name = "phi2", .model_type = "phi"},
    {.name = "phi3", .model_type = "phi3", .window = Rule::all},
    {.name = "phimoe", .model_type = "phimoe", .window = Rule::all},
    {.name = "plamo", .model_type = "plamo"},
    {.name = "codeshell", .model_type = "codeshell"},
    {.name = "orion", .model_type = "orion"},
    {.name = "internlm2", .model_type = "internlm2"},
    {.name = "minicpm", .model_type = "minicpm"},
    {.name = "minicpm3", .model_type = "minicpm3"},
    {.name = "gemma", .model_type = "gemma"},
    {.name = "gemma2",
     .model_type = "gemma2",
     .window = Rule::every_nth,
     .window_period = 2,
     .default_window_tokens = 4096},
    {.name = "gemma3", .model_type = "gemma3_text", .window = Rule::every_nth, .window_period = 6},
    {.name = "gemma3n",
     .model_type = "gemma3n_text",
     .window = Rule::every_nth,
     .window_period = 5,
     .first_shared_layer = 20},
    {.name = "gemma4", .model_type = "gemma4_text", .window = Rule::listed},
    {.name = "starcoder2", .model_type = "starcoder2", .window = Rule::all},
    {.name = "mamba", .model_type = "mamba"},
    {.name = "mamba2", .model_type = "mamba2"},
    {.name = "jamba", .model_type = "jamba"},
    {.name = "falcon-h1", .model_type = "falcon_h1"},
    {.name = "xverse", .model_type = "xverse"},
    {.name = "command-r", .model_type = "cohere"},
    {.name = "cohere2", .model_type = "cohere2", .window = Rule::every_nth, .window_period = 4},
    {.name = "dbrx", .model_type = "dbrx"},
    {.name = "olmo", .model_type = "olmo"},
    {.name = "olmo2", .model_type = "olmo2", .window = Rule::every_nth, .window_period = 4},
    {.name = "olmoe", .model_type = "olmoe"},
    {.name = "openelm", .model_type = "openelm"},
    {.name = "arctic", .model_type = "arctic"},
    {.name = "deepseek", .model_type = "deepseek"},
    {.name = "deepseek2", .model_type = "deepseek_v3"},
    {.name = "deepseek32", .model_type = "deepseek_v32"},
    {.name = "chatglm", .model_type = "chatglm"},
    {.name = "glm4", .model_type = "glm4"},
    {.name = "glm4moe", .model_type = "glm4_moe"},
    {.name = "glm-dsa", .model_type = "glm_moe_dsa"},
    {.name = "bitnet", .model_type = "bitnet"},
    {.name = "jais", .model_type = "jais"},
    {.name = "nemotron", .model_type = "nemotron"},
    {.name = "nemotron_h", .model_type = "nemotron_h"},
    {.name = "nemotron_h_moe", .model_type = "nemotron_h"},
    {.name = "exaone", .model_type = "exaone"},
    {.name = "exaone4", .model_type = "exaone4", .window = Rule::every_nth, .window_period = 4},
    {.name = "exaone-moe",
     .model_type = "exaone_moe",
     .window = Rule::every_nth,
     .window_period = 4},
    {.name = "rwkv6", .model_type = "rwkv6"},
    {.name = "rwkv7", .model_type = "rwkv7"},
    {.name = "granite", .model_type = "granite"},
    {.name = "granitemoe", .model_type = "granitemoe"},
    {.name = "granitehybrid", .model_type = "granitemoehybrid"},
    {.name = "chameleon", .model_type = "chameleon"},
    {.name = "plm", .model_type = "plm"},
    {.name = "bailingmoe", .model_type = "bailing_moe"},
    {.name = "bailingmoe2", .model_type = "bailing_moe_v2"},
    {.name = "dots1", .model_type = "dots1"},
    {.name = "arcee", .model_type = "arcee"},
    {.name = "afmoe", .model_type = "afmoe", .window = Rule::every_nth, .window_period = 4},
    {.name = "ernie4_5", .model_type = "ernie4_5"},
    {.name = "ernie4_5-moe", .model_type = "ernie4_5_moe"},
    {.name = "hunyuan-moe", .model_type = "hunyuan_v1_moe"},
    {.name = "hunyuan-dense", .model_type = "hunyuan_v1_dense"},
    {.name = "smollm3", .model_type = "smollm3"},
    {.name = "gpt-oss", .model_type = "gpt_oss", .window = Rule::every_nth, .window_period = 2},
    {.name = "lfm2", .model_type = "lfm2"},
    {.name = "lfm2moe", .model_type = "lfm2_moe"},
    {.name = "smallthinker",
     .model_type = "smallthinker",
     .window = Rule::first_of_period,
     .window_period = 4},
    {.name = "seed_oss", .model_type = "seed_oss"},
    {.name = "grovemoe", .model_type = "grove_moe"},
    {.name = "apertus", .model_type = "apertus"},
    {.name = "minimax-m2", .model_type = "minimax_m2"},
    {.name = "pangu-embedded", .model_type = "PanguEmbedded"},
    {.name = "mistral3", .model_type = "ministral3"},
    {.name = "mistral4", .model_type = "mistral4"},
    {.name = "mimo2", .model_type = "mimo_v2_flash", .window = Rule::listed},
    {.name = "step35", .model_type = "step3p5", .window = Rule::listed},
    {.name = "kimi-linear", .model_type = "kimi_linear"},
};

constexpr std::string_view kEncoders[] = {
    "bert",      "modern-bert",     "nomic-bert",   "nomic-bert-moe",
    "neo-bert",  "jina-bert-v2",    "jina-bert-v3", "eurobert",
    "t5encoder", "gemma-embedding", "llama-embed",  "wavtokenizer-dec",
};

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  const Architecture* end = std::end(kArchitectures);
  const Architecture* found =
      std::find_if(std::begin(kArchitectures), end,
                   [name](const Architecture& row) { return row.name == name; });
  return found == end ? nullptr : found;
}

const Architecture* find_architecture_of(std::string_view model_type) {
  const Architecture* end = std::end(kArchitectures);
  const Architecture* found =
      std::find_if(std::begin(kArchitectures), end,
                   [model_type](const Architecture& row) { return row.model_type == model_type; });
  return found == end ? nullptr : found;
}

bool is_encoder(std::string_view name) {
  return std::find(std::begin(kEncoders), std::end(kEncoders), name) != std::end(kEncoders);
}

}  // namespace vramgauge::gguf

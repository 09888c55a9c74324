// One estimate with llama.cpp's engine, by kind of model and by devices. Printed, never asserted.
#include <iterator>
#include <string>

#include <benchmark/benchmark.h>

#include "engine/llama_cpp.h"
#include "engine/llama_cpp_derived.h"
#include "import/hf_config.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

/// Kinds of layers and how they alternate decide how much is replayed.
constexpr const char* kModels[] = {
    "Qwen__Qwen3-32B",                     // 64 equal layers
    "meta-llama__Llama-3.3-70B-Instruct",  // 80 equal layers
    "Qwen__Qwen3-30B-A3B",                 // experts
    "deepseek-ai__DeepSeek-V3",            // latent attention, experts
    "deepseek-ai__DeepSeek-V3.2",          // an indexer: every layer is replayed
    "google__gemma-3-27b-it",              // windows, a period of six layers
    "Qwen__Qwen3-Next-80B-A3B-Instruct",   // gated delta rule, a period of four
    "ai21labs__AI21-Jamba-1.5-Mini",       // Mamba with experts, a period of eight
    "ibm-granite__granite-4.0-h-small",    // Mamba 2, no period
};

LlamaCppModel model_of(const std::string& preset) {
  const std::string file = std::string(VRAMGAUGE_PRESET_DIR) + "/models/" + preset + ".json";
  const json::Value document = json::parse(testing::read_file(file)).value();
  const ImportedModel imported = import_hf_config(*document.find("config"), nullptr).value();
  WeightFormat format;
  format.id = "Q4_K_M";
  format.layout = GgufMixLayout{GgufMix::q4_k_m};
  return llama_cpp_model(imported.spec, format).value();
}

/// Arguments: index of the model; GPUs; layers on GPUs, below 0 = all.
void EstimateLlamaCpp(benchmark::State& state) {
  const std::string preset = kModels[state.range(0)];
  const LlamaCppModel model = model_of(preset);
  const LlamaCppMachine machine{{static_cast<size_t>(state.range(1)), custom_hardware(GiB(1024))},
                                Bytes()};
  LlamaCppOptions options;
  options.ctx_tokens = 32768;
  options.n_gpu_layers = state.range(2);
  for (auto _ : state)
    benchmark::DoNotOptimize(estimate_llama_cpp(model, options, machine, {}, {}));
  state.SetLabel(preset);
}

void every_model(benchmark::internal::Benchmark* bench) {
  for (int64_t model = 0; model < static_cast<int64_t>(std::size(kModels)); ++model) {
    for (const int64_t gpus : {0, 1, 2})
      bench->Args({model, gpus, -1});
    bench->Args({model, 1, 20});
  }
  bench->ArgNames({"model", "gpus", "ngl"})->Unit(benchmark::kMicrosecond);
}
BENCHMARK(EstimateLlamaCpp)->Apply(every_model);

}  // namespace
}  // namespace vramgauge

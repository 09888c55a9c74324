// llama.cpp's compute buffers from a few layers that stand for all are those of a replay of every
// layer: on every preset with random settings, and where they once were not.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "../truth/models.h"
#include "engine/llama_cpp_compute.h"
#include "engine/llama_cpp_compute_graph.h"
#include "engine/llama_cpp_compute_layers.h"
#include "engine/llama_cpp_derived.h"
#include "random_models.h"

namespace vramgauge {
namespace {

using namespace test;

using Sizes = std::vector<uint64_t>;

constexpr int kCasesPerModel = 10;

LlamaCppModel quantised(const ModelSpec& spec, GgufMix mix) {
  WeightFormat format;
  format.id = "mix";
  format.layout = GgufMixLayout{mix};
  return llama_cpp_model(spec, format).value();
}

/// The graph that stands in for one that is not known is Llama's.
std::string_view graph_of(const LlamaCppModel& model) {
  const std::string_view own = model.architecture;
  return llama_cpp_graph_rules(own) == nullptr ? std::string_view("llama") : own;
}

Sizes from_all_layers(const LlamaCppModel& model, const LlamaCppContext& context,
                      const LlamaCppPlacement& placement, uint32_t num_gpus) {
  LlamaCppGraph graph(model, context, placement, num_gpus, *llama_cpp_graph_rules(graph_of(model)));
  graph.build(llama_cpp_all_layers(model).layers);
  GraphDevices devices;
  devices.num_gpus = num_gpus;
  devices.offloads_operations = context.offload_ops;
  devices.num_copies = placement.is_pipelined ? 4 : 1;
  return graph_buffer_bytes(graph.take_nodes(), devices);
}

Sizes from_few_layers(const LlamaCppModel& model, const LlamaCppContext& context,
                      const LlamaCppPlacement& placement, uint32_t num_gpus) {
  const auto compute = llama_cpp_compute_as(graph_of(model), model, context, placement, num_gpus);
  if (!compute) return {};
  Sizes sizes;
  for (const LlamaCppComputeBytes& gpu : compute->gpus)
    sizes.push_back(gpu.bytes.count());
  sizes.push_back(compute->host.bytes.count());
  return sizes;
}

/// True when there was something to compare: the engine refuses some settings.
bool compare(const std::string& name, const LlamaCppModel& model, const LlamaCppOptions& options) {
  const auto context = llama_cpp_context(model, options);
  const auto placement = llama_cpp_placement(model, options);
  if (!context || !placement) return false;
  const auto num_gpus = static_cast<uint32_t>(options.devices.size());
  const Sizes few = from_few_layers(model, *context, *placement, num_gpus);
  if (few.empty()) return false;
  EXPECT_EQ(few, from_all_layers(model, *context, *placement, num_gpus))
      << name << ", GPUs " << num_gpus << ", layers on GPUs " << options.n_gpu_layers
      << ", physical batch " << options.n_ubatch << ", sequences " << options.n_seq_max
      << ", cache on GPUs " << options.offload_kv;
  return true;
}

void add_gpus(LlamaCppOptions& options, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    options.devices.push_back({"GPU", GiB(24 + 8 * i)});
}

LlamaCppOptions flash_options(uint64_t num_gpus) {
  LlamaCppOptions options;
  add_gpus(options, num_gpus);
  // All tokens of a batch may give output.
  options.program = LlamaCppProgram::api;
  options.ctx_tokens = 4096;
  options.flash_attn = LlamaCppFlashAttention::on;
  return options;
}

LlamaCppOptions random_options(Random& random, uint64_t num_layers) {
  LlamaCppOptions options;
  add_gpus(options, random.between(0, 3));
  options.program = random.once_in(2) ? LlamaCppProgram::api : LlamaCppProgram::server;
  options.ctx_tokens = random.choice(std::vector<uint64_t>{512, 4096, 32'768});
  options.n_seq_max = random.choice(std::vector<uint64_t>{1, 1, 4, 7});
  options.n_ubatch = random.choice(std::vector<uint64_t>{512, 512, 16, 2048});
  options.flash_attn = random.once_in(2) ? LlamaCppFlashAttention::on : LlamaCppFlashAttention::off;
  options.n_outputs_max = random.once_in(4) ? random.between(1, 600) : 0;
  options.offload_kv = !random.once_in(4);
  options.offload_ops = !random.once_in(4);
  if (options.devices.empty()) return options;
  if (random.once_in(2)) options.n_gpu_layers = static_cast<int64_t>(random.between(0, num_layers));
  if (random.once_in(4)) options.n_cpu_moe = random.between(0, num_layers);
  return options;
}

TEST(LlamaCppLayersProperty, FewLayersStandForAll) {
  Random random(20'261'130);
  uint64_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(VRAMGAUGE_PRESET_DIR "/models")) {
    const std::string slug = file.path().stem().string();
    const json::Value preset = read_json(file.path().string());
    const auto imported = import_hf_config(*preset.find("config"), &class_defaults());
    if (!imported) continue;
    const GgufMix mix = random.once_in(2) ? GgufMix::q4_k_m : GgufMix::q8_0;
    WeightFormat format;
    format.layout = GgufMixLayout{mix};
    const auto model = llama_cpp_model(imported->spec, format);
    if (!model) continue;
    for (int i = 0; i < kCasesPerModel; ++i)
      compared += compare(slug, *model, random_options(random, model->num_layers)) ? 1 : 0;
  }
  EXPECT_GE(compared, 3'500U);
}

// Some ten layers pass before the allocator settles.
TEST(LlamaCppLayersProperty, RwkvWithoutAGpu) {
  const LlamaCppModel model = quantised(*preset_model("RWKV__rwkv-6-world-7b"), GgufMix::q8_0);
  LlamaCppOptions options = flash_options(0);
  options.n_ubatch = 2048;
  EXPECT_TRUE(compare("RWKV-6", model, options));
}

// Layers of one size whose weights, which are copied, have others: the allocator comes round after
// nine of them.
TEST(LlamaCppLayersProperty, BloomMostlyInHostMemory) {
  const LlamaCppModel model = quantised(*preset_model("bigscience__bloom"), GgufMix::q4_k_m);
  LlamaCppOptions options = flash_options(1);
  options.ctx_tokens = 8192;
  options.n_gpu_layers = 28;
  EXPECT_TRUE(compare("Bloom", model, options));
}

}  // namespace
}  // namespace vramgauge

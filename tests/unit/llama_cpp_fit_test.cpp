// What llama.cpp's --fit chooses, on Llama 3.1 8B in Q8_0 and a small mixture of experts, both
// described by hand, and what Ollama and LM Studio start it with.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "engine/llama_cpp_fit.h"
#include "engine/llama_cpp_fit_launcher.h"
#include "llama_cpp_models.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using test::llama_8b;
using test::tensor_of;

constexpr uint64_t kCuda = uint64_t{500} << 20;
constexpr uint64_t kMargin = uint64_t{1} << 30;

LlamaCppConstants constants() {
  LlamaCppConstants constants;
  constants.cuda_context = {Bytes(kCuda), MiB(300), MiB(800)};
  return constants;
}

LlamaCppMachine machine_of(const std::vector<uint64_t>& gpu_bytes, Bytes host_ram = Bytes()) {
  LlamaCppMachine machine;
  for (const uint64_t bytes : gpu_bytes)
    machine.gpus.push_back(custom_hardware(Bytes(bytes)));
  machine.host_ram = host_ram;
  return machine;
}

LlamaCppFit fit(const LlamaCppModel& model, const LlamaCppMachine& machine,
                const LlamaCppOptions& options = {}) {
  return fit_llama_cpp(model, options, machine, {}, constants(), {}).value();
}

/// Whether a GPU keeps the margin with these options.
bool keeps_margin(const LlamaCppModel& model, const LlamaCppMachine& machine,
                  const LlamaCppOptions& options, size_t gpu = 0) {
  const auto estimate = estimate_llama_cpp(model, options, machine, {}, constants()).value();
  const DeviceBreakdown& device = estimate.breakdown.devices.at(gpu);
  return device.total.bytes.count() + kMargin <= device.usable.count();
}

// Q8_0: 34 bytes for 32 elements. Embedding and output 4096 x 128256 each; a layer has 4096 x (4096
// + 1024 + 1024 + 4096 + 3 x 14336). Norm and rotary table: 4096 and 64 floats. A token takes 32 x
// 2 x 1024 x 2 bytes of cache. A batch of 512 needs 4 x 512 x (3 x 14336 + 2 x 4096 + 4096), and
// its mask 2 x 512 bytes for each cell.
constexpr uint64_t kMatrix = uint64_t{4096} * 128'256 / 32 * 34;
constexpr uint64_t kLayer = uint64_t{4096} * (2 * 4096 + 2 * 1024 + 3 * 14'336) / 32 * 34;
constexpr uint64_t kWeights = kMatrix + 32 * kLayer + (4096 + 64) * 4;
constexpr uint64_t kBatch =
    uint64_t{4} * 512 * (3 * 14'336 + 2 * 4096 + 4096) + uint64_t{512} * (4 + 8 + 8) + 128;
constexpr uint64_t kPerToken = uint64_t{32} * 2 * 1024 * 2 + 2 * 512;
constexpr uint64_t kTrained = 131'072;
constexpr uint64_t kNeeded = kWeights + kBatch + kTrained * kPerToken;

TEST(LlamaCppFit, NothingChangesWhileTheMarginIsKept) {
  const auto result = fit(llama_8b(), machine_of({kNeeded + kCuda + kMargin}));
  EXPECT_EQ(result.outcome, LlamaCppFitOutcome::unchanged);
  EXPECT_TRUE(result.meets_targets);
  EXPECT_EQ(result.estimate.context.n_ctx, kTrained);
  EXPECT_LT(result.options.n_gpu_layers, 0);
}

TEST(LlamaCppFit, OneByteLessShortensTheContextByOneStep) {
  const auto result = fit(llama_8b(), machine_of({kNeeded + kCuda + kMargin - 1}));
  EXPECT_EQ(result.outcome, LlamaCppFitOutcome::less_context);
  EXPECT_EQ(result.options.ctx_tokens, kTrained - 256);
  EXPECT_TRUE(result.meets_targets);
}

// 16 GiB less 500 MiB and the margin: 15,581,839,360. With 4,096 tokens 8,628,038,016 are needed,
// and 132,096 more for each further token: 52,642 fit, and 4,096 + 52,642 = 221 x 256 + 162.
TEST(LlamaCppFit, TheContextIsAMultipleOf256) {
  EXPECT_EQ(kWeights + kBatch + 4096 * kPerToken, 8'628'038'016U);
  const LlamaCppMachine machine = machine_of({uint64_t{16} << 30});
  const auto result = fit(llama_8b(), machine);
  EXPECT_EQ(result.outcome, LlamaCppFitOutcome::less_context);
  EXPECT_EQ(result.options.ctx_tokens, 221U * 256);
  EXPECT_TRUE(keeps_margin(llama_8b(), machine, result.options));
  LlamaCppOptions longer = result.options;
  longer.ctx_tokens += 256;
  EXPECT_FALSE(keeps_margin(llama_8b(), machine, longer));
}

// 8 GiB and 100 MiB: 7,096,762,368 for use. The output takes 558,186,496, a layer with 4,096 cells
// 248,512,512, and the batch between what it takes when all layers are there (117,440,512) and
// twice that: 25 layers fit, not 26.
TEST(LlamaCppFit, LayersArePlacedFromTheBack) {
  const LlamaCppMachine machine = machine_of({(uint64_t{8} << 30) + (uint64_t{100} << 20)});
  const auto result = fit(llama_8b(), machine);
  EXPECT_EQ(result.outcome, LlamaCppFitOutcome::placed);
  EXPECT_EQ(result.options.ctx_tokens, 4096U);
  EXPECT_EQ(result.options.n_gpu_layers, 26);
  EXPECT_TRUE(result.options.overrides.empty());
  ASSERT_EQ(result.shares.size(), 1U);
  EXPECT_EQ(result.shares[0].num_layers, 26U);
  EXPECT_EQ(result.estimate.placement.layer_device.front(), LlamaCppPlacement::kHost);
  EXPECT_EQ(result.estimate.placement.layer_device.back(), 0U);
}

TEST(LlamaCppFit, WhatTheUserChoseStays) {
  const LlamaCppMachine machine = machine_of({uint64_t{8} << 30});
  LlamaCppOptions options;
  options.n_gpu_layers = 33;
  const auto layers = fit(llama_8b(), machine, options);
  EXPECT_EQ(layers.outcome, LlamaCppFitOutcome::given_up);
  EXPECT_EQ(layers.options.ctx_tokens, 4096U);
  EXPECT_EQ(layers.options.n_gpu_layers, 33);
  EXPECT_FALSE(layers.meets_targets);
  EXPECT_EQ(layers.estimate.breakdown.verdict.state, VerdictState::does_not_fit);
  options = {};
  options.ctx_tokens = 32'768;
  const auto context = fit(llama_8b(), machine, options);
  EXPECT_EQ(context.outcome, LlamaCppFitOutcome::placed);
  EXPECT_EQ(context.options.ctx_tokens, 32'768U);
  EXPECT_TRUE(context.meets_targets);
  options.n_cpu_moe = 1;
  EXPECT_EQ(fit(llama_8b(), machine, options).outcome, LlamaCppFitOutcome::given_up);
}

TEST(LlamaCppFit, TargetsAreArguments) {
  const LlamaCppMachine machine = machine_of({kNeeded + kCuda});
  LlamaCppFitTargets targets;
  targets.margin = Bytes();
  const auto none = fit_llama_cpp(llama_8b(), {}, machine, {}, constants(), targets).value();
  EXPECT_EQ(none.outcome, LlamaCppFitOutcome::unchanged);
  targets = {};
  targets.min_context_tokens = kTrained;
  const auto fixed = fit_llama_cpp(llama_8b(), {}, machine, {}, constants(), targets).value();
  EXPECT_EQ(fixed.outcome, LlamaCppFitOutcome::placed);
  EXPECT_EQ(fixed.estimate.context.n_ctx, kTrained);
}

// Host memory: the weights with the embedding, and the cache, without repacking (Q8_0 has none).
TEST(LlamaCppFit, WithoutAGpuOnlyTheContextChanges) {
  const auto roomy = fit(llama_8b(), machine_of({}, GiB(64)));
  EXPECT_EQ(roomy.outcome, LlamaCppFitOutcome::unchanged);
  const auto narrow = fit(llama_8b(), machine_of({}, GiB(16)));
  EXPECT_EQ(narrow.outcome, LlamaCppFitOutcome::less_context);
  EXPECT_EQ(narrow.options.ctx_tokens % 256, 0U);
  EXPECT_TRUE(narrow.meets_targets);
  const auto hopeless = fit(llama_8b(), machine_of({}, GiB(8)));
  EXPECT_EQ(hopeless.outcome, LlamaCppFitOutcome::given_up);
  EXPECT_FALSE(hopeless.meets_targets);
}

/// Every size of card: the choice fits, and one step more does not.
TEST(LlamaCppFit, OneStepMoreDoesNotFit) {
  const LlamaCppModel model = llama_8b();
  int num_placed = 0;
  for (uint64_t mib = 2900; mib < 27'000; mib += 769) {
    SCOPED_TRACE(mib);
    const LlamaCppMachine machine = machine_of({mib << 20});
    LlamaCppFit result = fit(model, machine);
    EXPECT_TRUE(result.meets_targets);
    EXPECT_TRUE(keeps_margin(model, machine, result.options));
    if (result.outcome == LlamaCppFitOutcome::less_context) {
      result.options.ctx_tokens += 256;
    } else if (result.outcome == LlamaCppFitOutcome::placed) {
      EXPECT_EQ(result.options.ctx_tokens, 4096U);
      ++result.options.n_gpu_layers;
      ++num_placed;
    } else {
      continue;
    }
    EXPECT_FALSE(keeps_margin(model, machine, result.options));
  }
  EXPECT_GE(num_placed, 5);
}

TEST(LlamaCppFit, SeveralGpusAreFilledFromTheLast) {
  const LlamaCppModel model = llama_8b();
  const LlamaCppMachine machine = machine_of({uint64_t{4} << 30, uint64_t{6} << 30});
  LlamaCppOptions options;
  options.ctx_tokens = 8192;
  const auto result = fit(model, machine, options);
  ASSERT_EQ(result.outcome, LlamaCppFitOutcome::placed);
  ASSERT_EQ(result.shares.size(), 2U);
  const std::vector<float> split = {static_cast<float>(result.shares[0].num_layers),
                                    static_cast<float>(result.shares[1].num_layers)};
  EXPECT_EQ(result.options.tensor_split, split);
  EXPECT_EQ(result.options.n_gpu_layers,
            static_cast<int64_t>(result.shares[0].num_layers + result.shares[1].num_layers));
  for (const size_t gpu : {size_t{0}, size_t{1}}) {
    EXPECT_TRUE(keeps_margin(model, machine, result.options, gpu));
    LlamaCppOptions more = result.options;
    ++more.n_gpu_layers;
    more.tensor_split[gpu] += 1;
    EXPECT_FALSE(keeps_margin(model, machine, more, gpu)) << gpu;
  }
}

// Qwen3-30B-A3B's arrangement with sizes of our own: 8 layers, 64 experts of 1024.
LlamaCppModel small_moe() {
  std::vector<LlamaCppTensor> tensors = {
      tensor_of("token_embd.weight", 4096, 128'256, GgmlType::q8_0),
      tensor_of("output.weight", 4096, 128'256, GgmlType::q8_0),
      tensor_of("output_norm.weight", 4096, 1, GgmlType::f32),
  };
  Layer layer = test::attention_layer(32, 8, 128);
  MoeFfn ffn;
  ffn.num_experts = 64;
  ffn.num_experts_per_tok = 4;
  ffn.moe_intermediate_size = 1024;
  layer.ffn = ffn;
  for (int i = 0; i < 8; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    const auto add = [&](const char* name, uint64_t columns, uint64_t rows, uint64_t experts = 1) {
      tensors.push_back(tensor_of(prefix + name + ".weight", columns, rows, GgmlType::q8_0));
      tensors.back().dims[2] = experts;
    };
    add("attn_q", 4096, 4096);
    add("attn_k", 4096, 1024);
    add("attn_v", 4096, 1024);
    add("attn_output", 4096, 4096);
    add("ffn_gate_inp", 4096, 64);
    add("ffn_gate_exps", 4096, 1024, 64);
    add("ffn_up_exps", 4096, 1024, 64);
    add("ffn_down_exps", 1024, 4096, 64);
  }
  return test::model_of("qwen3moe", std::vector<Layer>(8, layer), {}, std::move(tensors));
}

// Q8_0: one expert matrix of a layer 4096 x 1024 x 64 elements; the rest of a layer 4096 x (8192 +
// 2048 + 64). With 4,096 tokens a layer's cache takes 16 MiB.
constexpr uint64_t kExpertMatrix = uint64_t{4096} * 1024 * 64 / 32 * 34;
constexpr uint64_t kDense =
    kMatrix + 8 * ((uint64_t{4096} * (8192 + 2048 + 64) / 32 * 34) + (uint64_t{16} << 20));
/// Compute buffer: the copy of one expert matrix that the CPU holds, and a batch. Half a matrix of
/// doubt changes nothing below.
constexpr uint64_t kMoeBatch = kExpertMatrix + (uint64_t{100} << 20);

TEST(LlamaCppFit, ExpertsComeAfterEverythingElse) {
  const LlamaCppModel model = small_moe();
  // Room for the experts of three layers and half a layer's.
  const LlamaCppMachine machine = machine_of(
      {kCuda + kMargin + kDense + kMoeBatch + 3 * 3 * kExpertMatrix + kExpertMatrix * 3 / 2});
  LlamaCppOptions options;
  options.ctx_tokens = 4096;
  const auto result = fit(model, machine, options);
  EXPECT_EQ(result.outcome, LlamaCppFitOutcome::placed);
  EXPECT_TRUE(result.meets_targets);
  EXPECT_EQ(result.options.n_gpu_layers, 9);
  ASSERT_EQ(result.shares.size(), 1U);
  EXPECT_EQ(result.shares[0].num_layers - result.shares[0].num_partial_layers, 3U);
  ASSERT_FALSE(result.options.overrides.empty());
  EXPECT_EQ(result.options.overrides.back().pattern,
            "blk\\.(4|5|6|7|8)\\.ffn_(up|down|gate_up|gate)_(ch)?exps");
  EXPECT_TRUE(keeps_margin(model, machine, result.options));
  // Layer 3 keeps what fits of it: one matrix of the one and a half that there is room for.
  ASSERT_EQ(result.options.overrides.size(), 2U);
  EXPECT_EQ(result.options.overrides.front().pattern, "blk\\.3\\.ffn_(gate|gate_up|down).*");
  LlamaCppOptions more = result.options;
  more.overrides.erase(more.overrides.begin());
  EXPECT_FALSE(keeps_margin(model, machine, more));
}

TEST(LlamaCppFit, WithoutRoomForAllElseExpertsStayInHostMemory) {
  const LlamaCppModel model = small_moe();
  const LlamaCppMachine machine = machine_of(
      {kCuda + kMargin + kMatrix + kMoeBatch + (kDense - kMatrix) / 2 + 3 * kExpertMatrix});
  LlamaCppOptions options;
  options.ctx_tokens = 4096;
  const auto result = fit(model, machine, options);
  ASSERT_EQ(result.outcome, LlamaCppFitOutcome::placed);
  EXPECT_TRUE(result.meets_targets);
  EXPECT_LT(result.options.n_gpu_layers, 9);
  EXPECT_GT(result.options.n_gpu_layers, 2);
  // The output is counted as the one that is whole; the engine begins with a whole layer for it,
  // whose experts there is room for.
  EXPECT_EQ(result.shares[0].num_partial_layers + 1, result.shares[0].num_layers);
}

TEST(LlamaCppFit, MoreMemoryNeverHoldsLess) {
  const LlamaCppModel model = small_moe();
  LlamaCppOptions options;
  options.ctx_tokens = 4096;
  uint64_t num_layers = 0;
  uint64_t num_whole = 0;
  for (uint64_t mib = 2200; mib < 10'000; mib += 311) {
    SCOPED_TRACE(mib);
    const LlamaCppMachine machine = machine_of({mib << 20});
    const auto result = fit(model, machine, options);
    EXPECT_TRUE(result.meets_targets);
    if (result.outcome == LlamaCppFitOutcome::unchanged) break;
    ASSERT_EQ(result.shares.size(), 1U);
    const LlamaCppFitShare& share = result.shares[0];
    EXPECT_GE(share.num_layers, num_layers);
    EXPECT_GE(share.num_layers - share.num_partial_layers, num_whole);
    num_layers = share.num_layers;
    num_whole = share.num_layers - share.num_partial_layers;
  }
  // All layers, and the experts of all but the last: whole, output counted as one of them.
  EXPECT_EQ(num_layers, 9U);
  EXPECT_GE(num_whole, 7U);
}

TEST(LlamaCppFit, TwoGpusShareExperts) {
  const LlamaCppModel model = small_moe();
  const LlamaCppMachine machine = machine_of({uint64_t{4} << 30, uint64_t{6} << 30});
  LlamaCppOptions options;
  options.ctx_tokens = 4096;
  const auto result = fit(model, machine, options);
  ASSERT_EQ(result.outcome, LlamaCppFitOutcome::placed);
  EXPECT_TRUE(result.meets_targets);
  EXPECT_EQ(result.options.n_gpu_layers, 9);
  for (const LlamaCppFitShare& share : result.shares)
    EXPECT_GT(share.num_layers, share.num_partial_layers);
}

TEST(LlamaCppFit, RefusalsAreHandedOn) {
  LlamaCppOptions options;
  options.n_seq_max = 300;
  const auto refused =
      fit_llama_cpp(llama_8b(), options, machine_of({uint64_t{8} << 30}), {}, constants(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().code, ErrorCode::llama_cpp_refused);
}

LlamaCppLauncher launcher(const std::string& id) {
  std::ifstream file(std::string(VRAMGAUGE_PRESET_DIR "/engines/") + id + ".json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return llama_cpp_launcher(json::parse(text).value()).value();
}

LlamaCppLaunch launch(const std::string& id, const std::vector<uint64_t>& gpu_gib,
                      uint64_t ctx_tokens = 0, const LlamaCppExtras& extras = {}) {
  std::vector<uint64_t> bytes;
  for (const uint64_t gib : gpu_gib)
    bytes.push_back(gib << 30);
  LlamaCppOptions options;
  options.ctx_tokens = ctx_tokens;
  options.n_seq_max = 0;
  return llama_cpp_launch(launcher(id), llama_8b(), options, machine_of(bytes), extras,
                          constants());
}

// Tiers of server/routes.go: 4,096 below 23 GiB, 32,768 below 47, else 262,144; here 131,072, for
// which the model was trained.
TEST(LlamaCppLauncher, OllamaChoosesTheContextByMemory) {
  EXPECT_EQ(launch("ollama", {22}).options.ctx_tokens, 4096U);
  EXPECT_EQ(launch("ollama", {23}).options.ctx_tokens, 32'768U);
  EXPECT_EQ(launch("ollama", {23, 23}).options.ctx_tokens, 32'768U);
  EXPECT_EQ(launch("ollama", {24, 24}).options.ctx_tokens, kTrained);
  EXPECT_EQ(launch("ollama", {24}, 8192).options.ctx_tokens, 8192U);
  EXPECT_EQ(launch("ollama", {24}).options.n_seq_max, 1U);
  EXPECT_FALSE(launch("ollama", {24}).options.kv_unified);
}

// It takes the model for 8,531,886,336 bytes of tensors and 131,072 for each token. With 32,768
// tokens that is 12.8e9, of which 24 GiB less 500 MiB hold three quarters and 768 MiB; 131,072
// tokens make 25.7e9, within 60 % of two such cards less 2 GiB; within 80 % of one that is not.
TEST(LlamaCppLauncher, OllamaChoosesBatchAndGpus) {
  EXPECT_EQ(launch("ollama", {22}).options.n_ubatch, 512U);
  EXPECT_EQ(launch("ollama", {24}).options.n_ubatch, 1024U);
  const auto both = launch("ollama", {24, 24});
  EXPECT_EQ(both.options.n_batch, 2048U);
  EXPECT_EQ(both.machine.gpus.size(), 2U);
  // 8,192 tokens: 9.6e9 is less than 80 % of the larger card alone.
  const auto single = launch("ollama", {12, 24}, 8192);
  ASSERT_EQ(single.machine.gpus.size(), 1U);
  EXPECT_EQ(single.machine.gpus[0].usable, GiB(24));
  EXPECT_EQ(single.options.n_batch, 1024U);
  // 12 GiB less 500 MiB are 12.36e9, three quarters of it 9.27e9: no larger batch.
  EXPECT_EQ(launch("ollama", {12}, 8192).options.n_batch, 512U);
}

TEST(LlamaCppLauncher, OllamaKeepsRoomForAProjector) {
  LlamaCppExtras extras;
  extras.projector = MiB(800);
  EXPECT_EQ(launch("ollama", {24}, 0, extras).targets.margin, MiB(1824));
  EXPECT_EQ(launch("ollama", {24}).targets.margin, GiB(1));
}

TEST(LlamaCppLauncher, LmStudioSharesOneContext) {
  const auto result = launch("lm_studio", {24, 24});
  EXPECT_EQ(result.options.ctx_tokens, 4096U);
  EXPECT_EQ(result.options.n_seq_max, 4U);
  EXPECT_TRUE(result.options.kv_unified);
  EXPECT_EQ(result.options.n_ubatch, 512U);
  EXPECT_EQ(result.machine.gpus.size(), 2U);
}

TEST(LlamaCppLauncher, AMissingConstantIsNamed) {
  const auto read = llama_cpp_launcher(json::parse(R"({"constants": []})").value());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().front().code, ErrorCode::json_missing_key);
}

}  // namespace
}  // namespace vramgauge

// llama.cpp's sizes, caches and placement on models described by hand. What is expected is worked
// out from the rules of its sources in the comments; tests/truth compares with its own accounting.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/llama_cpp_cache.h"
#include "engine/llama_cpp_context.h"
#include "engine/llama_cpp_placement.h"
#include "llama_cpp_models.h"

namespace vramgauge {
namespace {

using test::attention_layer;
using test::llama_8b;
using test::model_of;

constexpr uint64_t kHost = LlamaCppPlacement::kHost;

LlamaCppOptions options_of(uint64_t ctx_tokens) {
  LlamaCppOptions options;
  options.ctx_tokens = ctx_tokens;
  return options;
}

LlamaCppOptions gpu_options(std::vector<uint64_t> free_gib) {
  LlamaCppOptions options = options_of(8192);
  for (const uint64_t gib : free_gib)
    options.devices.push_back({"GPU", GiB(gib)});
  return options;
}

std::string refusal(const LlamaCppModel& model, const LlamaCppOptions& options) {
  const auto context = llama_cpp_context(model, options);
  return context ? "" : std::get<std::string>(context.error().front().args.front().value);
}

uint64_t count_on(const LlamaCppPlacement& placement, uint64_t device) {
  return static_cast<uint64_t>(
      std::count(placement.layer_device.begin(), placement.layer_device.end(), device));
}

TEST(LlamaCppModel, RefusesWhatTheEngineHasNoRulesFor) {
  EXPECT_FALSE(llama_cpp_model("llama", ModelSpec(), {}));
  ModelSpec spec;
  spec.layers.resize(1);
  spec.layers[0].mixers.emplace_back(LinearAttention{});
  const auto refused = llama_cpp_model("minimax", spec, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().code, ErrorCode::model_unsupported);
}

// -c 1000 --parallel 7: n_ctx 1024, each sequence pad(146, 256) = 256 cells, so 1792 in all.
TEST(LlamaCppContext, SplitContextsRoundUp) {
  LlamaCppOptions options = options_of(1000);
  options.n_seq_max = 7;
  const auto context = llama_cpp_context(llama_8b(), options).value();
  EXPECT_EQ(context.n_ctx, 1792U);
  EXPECT_EQ(context.n_ctx_seq, 256U);
  EXPECT_EQ(context.n_streams, 7U);
  // The batch is bounded by the context as it was asked for.
  EXPECT_EQ(context.n_batch, 1000U);
}

TEST(LlamaCppContext, NoContextMeansTheTrainedOne) {
  EXPECT_EQ(llama_cpp_context(llama_8b(), options_of(0)).value().n_ctx, 131'072U);
}

// gemma-3-12b at -c 8192 (window 1024): pad(1024 + 512, 256) = 1536 cells, 3072 with -ub 2048; four
// unified sequences 4 x 1024 + 512 = 4608; --swa-full as many as the context.
TEST(LlamaCppContext, WindowsLeaveRoomForTheBatch) {
  const LlamaCppModel model =
      model_of("gemma3", {attention_layer(16, 8, 256, 1024), attention_layer(16, 8, 256)});
  LlamaCppOptions options = options_of(8192);
  EXPECT_EQ(llama_cpp_context(model, options).value().cells_swa, 1536U);
  options.n_ubatch = 2048;
  EXPECT_EQ(llama_cpp_context(model, options).value().cells_swa, 3072U);
  options.n_ubatch = 512;
  options.n_seq_max = 4;
  options.kv_unified = true;
  EXPECT_EQ(llama_cpp_context(model, options).value().cells_swa, 4608U);
  options.swa_full = true;
  EXPECT_EQ(llama_cpp_context(model, options).value().cells_swa, 8192U);
}

// The architecture "llama" has no code for windows: Mistral 7B pays for the whole context.
TEST(LlamaCppContext, AWindowIsIgnoredWhereTheEngineHasNoCodeForIt) {
  const LlamaCppModel model = model_of("llama", {attention_layer(32, 8, 128, 4096)});
  const auto context = llama_cpp_context(model, options_of(8192)).value();
  EXPECT_EQ(context.memory_class, LlamaCppMemoryClass::kv);
  EXPECT_EQ(context.cells_swa, 0U);
}

TEST(LlamaCppContext, ServersReserveARowPerSlot) {
  LlamaCppOptions options = options_of(8192);
  options.n_seq_max = 4;
  options.n_draft_tokens = 15;
  EXPECT_EQ(llama_cpp_context(llama_8b(), options).value().n_outputs_max, 64U);
  options.n_batch = 40;
  EXPECT_EQ(llama_cpp_context(llama_8b(), options).value().n_outputs_max, 40U);
  options.n_batch = 2048;
  options.program = LlamaCppProgram::bench;
  EXPECT_EQ(llama_cpp_context(llama_8b(), options).value().n_outputs_max, 2048U);
}

TEST(LlamaCppContext, RefusesInTheEnginesWords) {
  LlamaCppOptions options = options_of(4096);
  options.type_v = GgmlType::q8_0;
  options.flash_attn = LlamaCppFlashAttention::off;
  EXPECT_EQ(refusal(llama_8b(), options), "quantized V cache requires flash_attn to be enabled");
  options = options_of(4096);
  options.type_k = GgmlType::q8_0;
  EXPECT_EQ(refusal(model_of("llama", {attention_layer(32, 32, 80)}), options),
            "K cache type q8_0 with block size 32 does not divide n_embd_head_k=80");
  options = options_of(4096);
  options.n_seq_max = 257;
  EXPECT_EQ(refusal(llama_8b(), options), "n_seq_max must be <= 256");
  options = options_of(4096);
  options.n_batch = options.n_ubatch = 0;
  EXPECT_EQ(refusal(llama_8b(), options), "n_batch and n_ubatch cannot both be zero");
}

TEST(LlamaCppContext, AHugeContextIsOutOfRange) {
  const auto context = llama_cpp_context(llama_8b(), options_of(uint64_t{1} << 40));
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().front().code, ErrorCode::value_out_of_range);
}

// CUDA runs heads of 128, but 192/128 only where 8 queries share a key; on the CPU everything runs.
TEST(LlamaCppContext, FlashAttentionFollowsTheDevice) {
  LlamaCppModel odd = model_of("deepseek2", {attention_layer(16, 16, 192)});
  odd.layers[0].head_dim_v = 128;
  EXPECT_TRUE(llama_cpp_context(odd, options_of(4096)).value().flash_attn);
  EXPECT_FALSE(llama_cpp_context(odd, gpu_options({80})).value().flash_attn);
  EXPECT_TRUE(llama_cpp_context(llama_8b(), gpu_options({80})).value().flash_attn);
  LlamaCppOptions mixed = gpu_options({80});
  mixed.type_k = GgmlType::q8_0;
  EXPECT_FALSE(llama_cpp_context(llama_8b(), mixed).value().flash_attn);
}

// Keys and values of 1024 elements in Q8_0 (34 bytes per 32): 1088 bytes each per cell.
TEST(LlamaCppCache, RowsOfBlocks) {
  LlamaCppOptions options = options_of(4096);
  options.type_k = options.type_v = GgmlType::q8_0;
  const auto context = llama_cpp_context(llama_8b(), options).value();
  const auto bytes = llama_cpp_layer_bytes(llama_8b(), context, 0, true);
  EXPECT_EQ(bytes.full.get(), 4096U * 2 * 1088);
}

// A row of 3 x 64 = 192 elements misses 320 of 512; CUDA adds one row of 320 in Q8_0 = 340 bytes,
// and aligns to 128: 256 x 204 + 340 = 52,564 -> 52,608. The CPU aligns to 32: 52,224.
TEST(LlamaCppCache, QuantisedRowsArePaddedOnAGpu) {
  const LlamaCppModel model = model_of("llama", {attention_layer(3, 3, 64)});
  LlamaCppOptions options = options_of(256);
  options.type_k = options.type_v = GgmlType::q8_0;
  const auto context = llama_cpp_context(model, options).value();
  EXPECT_EQ(llama_cpp_layer_bytes(model, context, 0, true).full.get(), 2U * 52'608);
  EXPECT_EQ(llama_cpp_layer_bytes(model, context, 0, false).full.get(), 2U * 52'224);
}

// Without flash attention the values of the narrow layer are as wide as those of the other.
TEST(LlamaCppCache, TransposedValuesAreAsWideAsTheWidest) {
  const LlamaCppModel model =
      model_of("gemma4", {attention_layer(16, 8, 256, 1024), attention_layer(16, 2, 512)});
  LlamaCppOptions options = options_of(1024);
  options.flash_attn = LlamaCppFlashAttention::off;
  const auto context = llama_cpp_context(model, options).value();
  EXPECT_EQ(llama_cpp_layer_bytes(model, context, 1, false).full.get(),
            1024U * 2 * (2 * 512 + 8 * 256));
}

// The memory of glm4moe counts every layer of the file, that of qwen35 only the decoder's.
TEST(LlamaCppCache, LayersThatPredictFurtherTokens) {
  const std::vector<Layer> tail = {attention_layer(32, 8, 128)};
  for (const auto& [architecture, counts] :
       {std::pair<const char*, bool>{"glm4moe", true}, {"qwen35", false}}) {
    const LlamaCppModel model = model_of(architecture, {attention_layer(32, 8, 128)}, tail);
    const auto context = llama_cpp_context(model, options_of(1024)).value();
    EXPECT_EQ(llama_cpp_layer_bytes(model, context, 1, false).full.get(),
              counts ? 1024U * 2 * 2 * 1024 : 0U)
        << architecture;
  }
}

// A convolution of 3 x (2 x 16 x 128 + 32 x 128) and a state of 32 x 128 x 128 floats per sequence;
// drafts of 4 tokens keep four earlier ones beside it, where the architecture can go back.
TEST(LlamaCppCache, EarlierStatesWhereTheyCanBeTakenBack) {
  GatedDelta delta;
  delta.num_k_heads = 16;
  delta.num_v_heads = 32;
  delta.k_head_dim = delta.v_head_dim = 128;
  delta.d_conv = 4;
  Layer layer;
  layer.mixers.emplace_back(delta);
  constexpr uint64_t kState = (3 * (2 * 16 * 128 + 32 * 128) + 32 * 128 * 128) * 4;
  for (const auto& [architecture, states] :
       {std::pair<const char*, uint64_t>{"qwen35", 5}, {"qwen3next", 1}}) {
    const LlamaCppModel model = model_of(architecture, {layer, attention_layer(16, 2, 256)});
    LlamaCppOptions options = options_of(1024);
    options.n_seq_max = 2;
    options.n_rs_seq = 4;
    const auto context = llama_cpp_context(model, options).value();
    EXPECT_EQ(context.memory_class, LlamaCppMemoryClass::hybrid);
    EXPECT_EQ(llama_cpp_layer_bytes(model, context, 0, true).state.get(), 2 * states * kState)
        << architecture;
  }
}

// 33 slots, the output being the last: -ngl 32 leaves the first layer on the CPU.
TEST(LlamaCppPlacement, TheOutputCountsAsALayer) {
  LlamaCppOptions options = gpu_options({80});
  options.n_gpu_layers = 32;
  const auto placement = llama_cpp_placement(llama_8b(), options).value();
  EXPECT_EQ(placement.layer_device[0], kHost);
  EXPECT_EQ(count_on(placement, 0), 31U);
  EXPECT_EQ(placement.output_device, 0U);
}

// Slot i of 33 goes to the first device whose share exceeds i / 33: 24 / 33 < 0.75 < 25 / 33.
TEST(LlamaCppPlacement, LayersAreDividedByShares) {
  LlamaCppOptions options = gpu_options({24, 8});
  const auto by_memory = llama_cpp_placement(llama_8b(), options).value();
  EXPECT_EQ(count_on(by_memory, 0), 25U);
  EXPECT_EQ(count_on(by_memory, 1), 7U);
  EXPECT_EQ(by_memory.output_device, 1U);
  options.tensor_split = {1, 3};
  const auto by_split = llama_cpp_placement(llama_8b(), options).value();
  EXPECT_EQ(count_on(by_split, 0), 9U);
}

TEST(LlamaCppPlacement, InputsAreKeptFourTimesOnlyWhenAllIsOffloaded) {
  LlamaCppOptions options = gpu_options({24, 24});
  EXPECT_TRUE(llama_cpp_placement(llama_8b(), options).value().is_pipelined);
  options.offload_kv = false;
  EXPECT_FALSE(llama_cpp_placement(llama_8b(), options).value().is_pipelined);
  options.offload_kv = true;
  options.n_gpu_layers = 32;
  EXPECT_FALSE(llama_cpp_placement(llama_8b(), options).value().is_pipelined);
  options.n_gpu_layers = 99;
  options.overrides = {{"ffn_up", kHost}};
  EXPECT_FALSE(llama_cpp_placement(llama_8b(), options).value().is_pipelined);
}

uint64_t pinned_bytes(const LlamaCppModel& model, const LlamaCppOptions& options) {
  const auto context = llama_cpp_context(model, options).value();
  const auto placement = llama_cpp_placement(model, options).value();
  return llama_cpp_stored(model, context, placement, options.devices.size())
      .weights.pinned.value_or(0);
}

// With a pattern each weight is looked at by itself, without one they are summed by layer: one that
// finds nothing changes nothing.
TEST(LlamaCppPlacement, SumsByLayerAreThoseOfEveryWeight) {
  const LlamaCppModel model = llama_8b();
  for (LlamaCppOptions options : {options_of(4096), gpu_options({80}), gpu_options({24, 8})}) {
    for (const int64_t layers : {-1, 20, 0}) {
      options.n_gpu_layers = layers;
      options.overrides.clear();
      const auto by_layer = llama_cpp_placement(model, options).value();
      options.overrides = {{"no_such_tensor", kHost}};
      const auto one_by_one = llama_cpp_placement(model, options).value();
      ASSERT_EQ(one_by_one.weight_device.size(), model.weights.size());
      const auto context = llama_cpp_context(model, options).value();
      const auto num_gpus = options.devices.size();
      const auto sums = llama_cpp_stored(model, context, by_layer, num_gpus).weights;
      const auto expected = llama_cpp_stored(model, context, one_by_one, num_gpus).weights;
      EXPECT_EQ(sums.cpu, expected.cpu);
      EXPECT_EQ(sums.cpu_repack, expected.cpu_repack);
      EXPECT_EQ(sums.pinned, expected.pinned);
      EXPECT_EQ(sums.gpus, expected.gpus);
      EXPECT_EQ(by_layer.has_host_weights(model), one_by_one.has_host_weights(model));
      for (size_t i = 0; i < model.weights.size(); ++i)
        EXPECT_EQ(by_layer.device_of(model, i), one_by_one.device_of(model, i)) << i;
    }
  }
}

// The embedding is always there: 4096 x 128256 in Q8_0. Patterns are looked for anywhere in a name.
TEST(LlamaCppPlacement, PatternsMoveTensors) {
  constexpr uint64_t kEmbedding = uint64_t{4096} * 128'256 / 32 * 34;
  constexpr uint64_t kUp = uint64_t{4096} * 14'336 / 32 * 34;
  LlamaCppOptions options = gpu_options({80});
  EXPECT_EQ(pinned_bytes(llama_8b(), options), kEmbedding);
  options.overrides = {{"blk\\.[0-3]\\.ffn_(up|gate)", kHost}};
  EXPECT_EQ(pinned_bytes(llama_8b(), options), kEmbedding + 8 * kUp);
  options.overrides = {{"\\.3\\.ffn_up", 0}, {"ffn_up", kHost}};
  EXPECT_EQ(pinned_bytes(llama_8b(), options), kEmbedding + 31 * kUp);
  options.overrides = {{"(?<name>x)", kHost}};
  const auto refused = llama_cpp_placement(llama_8b(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().code, ErrorCode::llama_cpp_bad_pattern);
  options.overrides = {{"ffn_up", 1}};
  EXPECT_FALSE(llama_cpp_placement(llama_8b(), options));
}

TEST(LlamaCppPlacement, ExpertsOfTheFirstLayersStayOnTheHost) {
  std::vector<LlamaCppTensor> tensors;
  for (const char* name : {"blk.0.ffn_up_exps.weight", "blk.0.ffn_gate_inp.weight",
                           "blk.1.ffn_down_exps.weight", "blk.2.ffn_up_exps.weight"}) {
    tensors.push_back(test::tensor_of(name, 4096, 64, GgmlType::f16));
  }
  const LlamaCppModel model =
      model_of("qwen3moe", std::vector<Layer>(3, attention_layer(32, 4, 128)), {}, tensors);
  LlamaCppOptions options = gpu_options({80});
  options.n_cpu_moe = 2;
  EXPECT_EQ(pinned_bytes(model, options), 2U * 4096 * 64 * 2);
}

TEST(LlamaCppPlacement, CachesFollowTheirLayersUnlessTheyAreKeptAway) {
  LlamaCppOptions options = gpu_options({80});
  options.n_gpu_layers = 17;  // the output and 16 layers
  const LlamaCppModel model = llama_8b();
  const auto context = llama_cpp_context(model, options).value();
  const auto kv = [&] {
    return llama_cpp_stored(model, context, llama_cpp_placement(model, options).value(), 1).kv_full;
  };
  constexpr uint64_t kLayer = uint64_t{8192} * 2 * 2 * 1024;
  EXPECT_EQ(kv().gpus[0].get(), 16 * kLayer);
  EXPECT_EQ(kv().cpu.get(), 16 * kLayer);
  options.offload_kv = false;
  EXPECT_EQ(kv().gpus[0].get(), 0U);
  EXPECT_EQ(kv().cpu.get(), 32 * kLayer);
}

}  // namespace
}  // namespace vramgauge

// What llama.cpp takes of each device, on Llama 3.1 8B in Q8_0 described by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "engine/llama_cpp.h"
#include "llama_cpp_models.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using test::llama_8b;

LlamaCppConstants constants() {
  LlamaCppConstants constants;
  constants.cuda_context = {MiB(500), MiB(300), MiB(800)};
  constants.prompt_cache = MiB(8192);
  constants.context_checkpoints = 32;
  return constants;
}

HardwareSpec gpu_of(uint64_t gib) {
  HardwareSpec gpu = custom_hardware(GiB(gib));
  gpu.name = "GPU";
  return gpu;
}

LlamaCppMachine machine_of(std::vector<uint64_t> gpu_gib, uint64_t host_gib = 0) {
  LlamaCppMachine machine;
  for (const uint64_t gib : gpu_gib)
    machine.gpus.push_back(gpu_of(gib));
  machine.host_ram = GiB(host_gib);
  return machine;
}

LlamaCppOptions options_of(uint64_t ctx_tokens) {
  LlamaCppOptions options;
  options.ctx_tokens = ctx_tokens;
  return options;
}

LlamaCppEstimate estimate(const LlamaCppMachine& machine, const LlamaCppOptions& options,
                          const LlamaCppExtras& extras = {}) {
  return estimate_llama_cpp(llama_8b(), options, machine, extras, constants()).value();
}

const Term& term_of(const LlamaCppEstimate& estimate, size_t device, TermId id) {
  const auto& terms = estimate.breakdown.devices.at(device).terms;
  return *std::find_if(terms.begin(), terms.end(),
                       [id](const Term& term) { return term.id == id; });
}

uint64_t bytes_of_term(const LlamaCppEstimate& estimate, size_t device, TermId id) {
  return term_of(estimate, device, id).bytes.count();
}

// Per element 34 / 32 bytes. Embedding and output 4096 x 128256 each; a layer has 4096 x (4096 +
// 1024 + 1024 + 4096 + 3 x 14336). Norms and rotary table: 4096 and 64 floats.
constexpr uint64_t kEmbedding = uint64_t{4096} * 128'256 / 32 * 34;
constexpr uint64_t kLayer = uint64_t{4096} * (2 * 4096 + 2 * 1024 + 3 * 14'336) / 32 * 34;
constexpr uint64_t kFloats = (4096 + 64) * 4;

TEST(LlamaCppEstimate, OneGpuHoldsAllButTheEmbedding) {
  const auto result = estimate(machine_of({24}), options_of(8192));
  ASSERT_EQ(result.breakdown.devices.size(), 2U);
  EXPECT_EQ(bytes_of_term(result, 0, TermId::weights), kEmbedding + 32 * kLayer + kFloats);
  EXPECT_EQ(bytes_of_term(result, 1, TermId::weights), kEmbedding);
  // 32 layers x 8192 cells x 2 x 1024 elements x 2 bytes.
  EXPECT_EQ(bytes_of_term(result, 0, TermId::kv_cache), uint64_t{32} * 8192 * 4096);
  EXPECT_EQ(bytes_of_term(result, 1, TermId::kv_cache), 0U);
  EXPECT_EQ(result.breakdown.cache.bytes_per_token.count(), uint64_t{32} * 4096);
  EXPECT_EQ(bytes_of_term(result, 0, TermId::runtime), MiB(500).count());
  // A row of logits for the one slot lies in host memory, beside the host's compute buffer.
  EXPECT_EQ(bytes_of_term(result, 1, TermId::activations),
            uint64_t{4} * 128'256 + result.compute.host.bytes.count());
}

TEST(LlamaCppEstimate, WithoutAGpuTheHostHoldsAll) {
  const auto result = estimate(machine_of({}, 32), options_of(8192));
  ASSERT_EQ(result.breakdown.devices.size(), 1U);
  EXPECT_EQ(bytes_of_term(result, 0, TermId::weights), 2 * kEmbedding + 32 * kLayer + kFloats);
  // The server's prompt cache may grow to 8 GiB, which only the upper bound counts.
  const Term& runtime = term_of(result, 0, TermId::runtime);
  EXPECT_EQ(runtime.bytes, Bytes());
  EXPECT_EQ(runtime.high, MiB(8192));
  EXPECT_EQ(result.breakdown.verdict.state, VerdictState::fits);
}

TEST(LlamaCppEstimate, OnlyTheServerKeepsPrompts) {
  LlamaCppOptions options = options_of(8192);
  options.program = LlamaCppProgram::bench;
  const auto result = estimate(machine_of({}, 32), options);
  EXPECT_EQ(term_of(result, 0, TermId::runtime).high, Bytes());
}

TEST(LlamaCppEstimate, TheWorstDeviceDecides) {
  const auto fits = estimate(machine_of({24}, 64), options_of(8192));
  EXPECT_EQ(fits.breakdown.verdict.state, VerdictState::fits);
  const auto small_gpu = estimate(machine_of({8}, 64), options_of(8192));
  EXPECT_EQ(small_gpu.breakdown.verdict.state, VerdictState::does_not_fit);
  EXPECT_EQ(small_gpu.breakdown.verdict.worst_device, 0U);
  // 0.5 GiB of embedding fits in 1 GiB of host memory, but the prompt cache will not.
  const auto small_host = estimate(machine_of({24}, 1), options_of(8192));
  EXPECT_EQ(small_host.breakdown.verdict.state, VerdictState::tight);
  EXPECT_EQ(small_host.breakdown.verdict.worst_device, 1U);
}

TEST(LlamaCppEstimate, AnUnknownHostGetsNoVerdict) {
  const auto result = estimate(machine_of({24}), options_of(8192));
  EXPECT_EQ(result.breakdown.verdict.state, VerdictState::fits);
  EXPECT_EQ(result.breakdown.verdict.worst_device, 0U);
}

TEST(LlamaCppEstimate, UnlikeGpusAreFilledByTheirFreeMemory) {
  // Free: 24 GiB and 8 GiB less 500 MiB each, 76 % on the first; 33 slots: 25.2, so 26 layers.
  const auto result = estimate(machine_of({24, 8}), options_of(8192));
  EXPECT_EQ(bytes_of_term(result, 0, TermId::kv_cache), uint64_t{26} * 8192 * 4096);
  EXPECT_EQ(bytes_of_term(result, 1, TermId::kv_cache), uint64_t{6} * 8192 * 4096);
}

TEST(LlamaCppEstimate, ProjectorsAndAdaptersAreModelled) {
  LlamaCppExtras extras;
  extras.projector = MiB(800);
  const auto plain = estimate(machine_of({24}), options_of(8192));
  const auto seeing = estimate(machine_of({24}), options_of(8192), extras);
  EXPECT_EQ(bytes_of_term(seeing, 0, TermId::weights),
            bytes_of_term(plain, 0, TermId::weights) + MiB(800).count());
  EXPECT_EQ(term_of(plain, 0, TermId::weights).basis, Basis::exact);
  EXPECT_EQ(term_of(seeing, 0, TermId::weights).basis, Basis::modelled);
  extras.projector = Bytes();
  extras.lora = MiB(100);
  const auto adapted = estimate(machine_of({24}), options_of(8192), extras);
  const uint64_t added =
      bytes_of_term(adapted, 0, TermId::weights) - bytes_of_term(plain, 0, TermId::weights) +
      bytes_of_term(adapted, 1, TermId::weights) - bytes_of_term(plain, 1, TermId::weights);
  // Rounded down on each device.
  EXPECT_NEAR(static_cast<double>(added), static_cast<double>(MiB(100).count()), 2);
}

TEST(LlamaCppEstimate, ADraftModelComesOnTop) {
  const LlamaCppModel draft = llama_8b();
  LlamaCppExtras extras;
  extras.draft = &draft;
  extras.draft_options = options_of(8192);
  const auto plain = estimate(machine_of({48}), options_of(8192));
  const auto both = estimate(machine_of({48}), options_of(8192), extras);
  EXPECT_EQ(bytes_of_term(both, 0, TermId::weights), 2 * bytes_of_term(plain, 0, TermId::weights));
  EXPECT_EQ(bytes_of_term(both, 0, TermId::kv_cache),
            2 * bytes_of_term(plain, 0, TermId::kv_cache));
}

TEST(LlamaCppEstimate, AnswersAreTheLargestThatFit) {
  LlamaCppOptions options = options_of(8192);
  const LlamaCppMachine machine = machine_of({16});
  const Answers answers = llama_cpp_answers(llama_8b(), options, machine, {}, constants());
  ASSERT_TRUE(answers.max_context_tokens);
  ASSERT_TRUE(answers.max_requests);
  options.ctx_tokens = *answers.max_context_tokens;
  EXPECT_NE(estimate(machine, options).breakdown.verdict.state, VerdictState::does_not_fit);
  options.ctx_tokens += 256;
  EXPECT_EQ(estimate(machine, options).breakdown.verdict.state, VerdictState::does_not_fit);
  options.n_seq_max = *answers.max_requests;
  options.ctx_tokens = 8192 * options.n_seq_max;
  EXPECT_NE(estimate(machine, options).breakdown.verdict.state, VerdictState::does_not_fit);
}

TEST(LlamaCppEstimate, TheContextAnsweredIsThatOfEachSequence) {
  LlamaCppOptions options = options_of(4 * 8192);
  options.n_seq_max = 4;
  const LlamaCppMachine machine = machine_of({16});
  const Answers answers = llama_cpp_answers(llama_8b(), options, machine, {}, constants());
  options.ctx_tokens = 4 * *answers.max_context_tokens;
  EXPECT_NE(estimate(machine, options).breakdown.verdict.state, VerdictState::does_not_fit);
  options.ctx_tokens += 4 * 256;
  EXPECT_EQ(estimate(machine, options).breakdown.verdict.state, VerdictState::does_not_fit);
}

// A graph that is not known is taken for Llama's, which is said, with a band of 4/5 to 5/4.
TEST(LlamaCppEstimate, UnknownGraphsAreAssumed) {
  LlamaCppModel model = llama_8b();
  model.architecture = "nobody-knows";
  const auto result =
      estimate_llama_cpp(model, options_of(8192), machine_of({24}), {}, constants()).value();
  const auto known = estimate(machine_of({24}), options_of(8192));
  const Term& term = term_of(result, 0, TermId::activations);
  EXPECT_EQ(term.bytes, term_of(known, 0, TermId::activations).bytes);
  EXPECT_EQ(term.basis, Basis::assumed);
  EXPECT_EQ(term.low.count(), term.bytes.count() * 4 / 5);
  EXPECT_EQ(term.high.count(), term.bytes.count() * 5 / 4);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].code, ErrorCode::model_not_exact);
  EXPECT_EQ(term_of(known, 0, TermId::activations).basis, Basis::modelled);
  EXPECT_TRUE(known.notes.empty());
}

TEST(LlamaCppEstimate, RefusalsAreHandedOn) {
  LlamaCppOptions options = options_of(8192);
  options.n_seq_max = 300;
  const auto refused = estimate_llama_cpp(llama_8b(), options, machine_of({24}), {}, constants());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().code, ErrorCode::llama_cpp_refused);
}

json::Value engine_entry() {
  std::ifstream file(VRAMGAUGE_PRESET_DIR "/engines/llama_cpp.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return json::parse(text).value();
}

TEST(LlamaCppProfile, ConstantsAreReadFromThePreset) {
  const LlamaCppConstants read = llama_cpp_profile(engine_entry()).value().constants;
  EXPECT_EQ(read.cuda_context.value, MiB(500));
  EXPECT_EQ(read.cuda_context.low, MiB(300));
  EXPECT_EQ(read.cuda_context.high, MiB(800));
  EXPECT_EQ(read.prompt_cache, MiB(8192));
  EXPECT_EQ(read.context_checkpoints, 32U);
}

TEST(LlamaCppProfile, AMissingConstantIsNamed) {
  const auto read = llama_cpp_profile(json::parse(R"({"constants": []})").value());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().front().code, ErrorCode::json_missing_key);
}

TEST(LlamaCppProfile, BuildsAreNumbersOfReleases) {
  EXPECT_EQ(llama_cpp_build("b6975"), 6975U);
  for (const char* text : {"", "b", "6975", "b69x", "b-1"})
    EXPECT_EQ(llama_cpp_build(text), std::nullopt) << text;
}

LlamaCppContext context_of(const LlamaCppModel& model, uint64_t build, LlamaCppOptions options) {
  options.rules = llama_cpp_profile(engine_entry(), build).value().rules;
  return llama_cpp_context(model, options).value();
}

// b5429 gave windows a cache of their own, with room for the logical batch; b5554 for the physical
// one; b6868 stopped rounding cells, and b6975 rounds all of them to 256.
TEST(LlamaCppProfile, WindowsByBuild) {
  const LlamaCppModel model = test::model_of("gemma3", {test::attention_layer(16, 8, 256, 1000)});
  EXPECT_EQ(context_of(model, 5428, options_of(8192)).cells_swa, 8192U);
  EXPECT_EQ(context_of(model, 5429, options_of(8192)).cells_swa, 3072U);
  EXPECT_EQ(context_of(model, 5554, options_of(8192)).cells_swa, 1536U);
  EXPECT_EQ(context_of(model, 6868, options_of(8192)).cells_swa, 1512U);
  EXPECT_EQ(context_of(model, 6975, options_of(8192)).cells_swa, 1536U);
}

TEST(LlamaCppProfile, CellsByBuild) {
  LlamaCppOptions options = options_of(1000);
  options.flash_attn = LlamaCppFlashAttention::off;
  EXPECT_EQ(context_of(llama_8b(), 6867, options).cells, 1024U);
  options.ctx_tokens = 1030;
  EXPECT_EQ(context_of(llama_8b(), 6867, options).cells, 1056U);
  EXPECT_EQ(context_of(llama_8b(), 6868, options).cells, 1030U);
  EXPECT_EQ(context_of(llama_8b(), 6975, options).cells, 1280U);
  options.n_seq_max = 4;
  EXPECT_EQ(context_of(llama_8b(), 5912, options).n_streams, 1U);
  EXPECT_EQ(context_of(llama_8b(), 5913, options).n_streams, 4U);
}

TEST(LlamaCppProfile, OutputRowsByBuild) {
  EXPECT_EQ(context_of(llama_8b(), 9459, options_of(8192)).n_outputs_max, 2048U);
  EXPECT_EQ(context_of(llama_8b(), 9460, options_of(8192)).n_outputs_max, 1U);
}

}  // namespace
}  // namespace vramgauge

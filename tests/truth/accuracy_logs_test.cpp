// How rows of logs and runs are read: what they may leave out, what is not known, other columns.
#include <gtest/gtest.h>

#include <algorithm>

#include "accuracy_checkpoints.h"
#include "accuracy_logs.h"
#include "accuracy_vllm_runs.h"
#include "truth_context.h"

namespace vramgauge::test {
namespace {

using tools::Scores;

tools::QuantityScore scored(const std::string& lines, std::string_view name) {
  Scores scores;
  tools::score_engine_logs(given(tools::read_engine_logs(lines)), truth_context(), scores);
  return quantity(scores, name);
}

/// A row of Llama-3.1-8B on a card, with what else it holds.
std::string row_on(const std::string& gpu, const std::string& comparable,
                   const std::string& measured) {
  return R"({"id":"row","engine":"vllm","engine_version":"0.11.0","gpu":")" + gpu +
         R"(","gpu_count":1,"preset":"meta-llama__Llama-3.1-8B-Instruct","model":"llama",)"
         R"("flags":{"max_model_len":8192},"comparable":[)" +
         comparable + R"(],"measured":{)" + measured + "}}";
}

TEST(EngineLogRows, LinesMayEndAsTheyLike) {
  const std::string row = row_on("H100", "", "");
  const auto rows = given(tools::read_engine_logs("\r\n" + row + "\r\n\n" + row));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name().line, 2U);
  EXPECT_EQ(rows[1].name().line, 4U);
  EXPECT_TRUE(tools::is_engine_logs("\r\n" + row));
  EXPECT_FALSE(tools::is_engine_logs("status,model\nok,x\n"));
  EXPECT_FALSE(tools::is_engine_logs(""));
}

TEST(EngineLogRows, WhatIsNoRowIsRefusedWithItsLine) {
  const auto rows = tools::read_engine_logs(row_on("H100", "", "") + "\n{\"engine\":1}\n");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error(), "line 2 is no row");
}

TEST(EngineLogRows, AnUnknownCardIsListedAndFails) {
  const auto pool = scored(row_on("Frobnicator 9", "\"kv_cache_gib\",\"outcome\"",
                                  "\"kv_cache_gib\":10.5,\"outcome\":\"fits\""),
                           "kv_gib");
  EXPECT_EQ(pool.rows, 1U);
  EXPECT_EQ(pool.unpredicted, 1U);
  EXPECT_EQ(pool.unpredicted_rows.front().reason, "GPU Frobnicator 9 is not known");
}

TEST(EngineLogRows, AnUnknownModelIsListedAndFails) {
  std::string row = row_on("H100", "\"outcome\"", "\"outcome\":\"fits\"");
  row.replace(row.find("meta-llama__Llama-3.1-8B-Instruct"), 33, "nobody__nothing");
  const auto outcome = scored(row, "outcome");
  EXPECT_EQ(outcome.unpredicted, 1U);
  EXPECT_EQ(outcome.right, 0U);
}

TEST(EngineLogRows, FiguresOfRowsThatListNothingCountApart) {
  Scores scores;
  const std::string row = row_on("H100", "", "\"kv_cache_gib\":50.5,\"outcome\":\"fits\"");
  tools::score_engine_logs(given(tools::read_engine_logs(row)), truth_context(), scores);
  EXPECT_EQ(quantity(scores, "kv_gib (others)").rows, 1U);
  EXPECT_FALSE(has_quantity(scores, "outcome"));
}

TEST(StatedRelease, NumbersDatesAndStyles) {
  const auto number = [](std::string_view text) { return tools::vllm_release(text).number; };
  EXPECT_EQ(number("0.11.0"), 11'000U);
  EXPECT_EQ(number("0.17.1rc1.dev88"), 17'001U);
  EXPECT_EQ(number("V1 (Oct 2025)"), 11'000U);
  EXPECT_EQ(number("0.8.4/0.8.5 (V1)"), 8'004U);
  EXPECT_EQ(number("no version at all"), 22'000U);
  EXPECT_TRUE(tools::vllm_release("0.8.2 (V0)").is_first_engine);
  EXPECT_FALSE(tools::vllm_release("V1 (Jan 2025)").is_first_engine);
}

TEST(TruthCards, NamesSizesAndSharesOfThem) {
  const auto total = [](const std::string& name, uint64_t count = 1) {
    return given(engine_presets().card(name, count)).total_gib;
  };
  EXPECT_DOUBLE_EQ(total("H100-80GB"), 79.19);
  EXPECT_DOUBLE_EQ(total("A100"), 39.5);
  EXPECT_DOUBLE_EQ(total("A100-SXM4-80GB"), 79.2);
  EXPECT_DOUBLE_EQ(total("80GB-class?"), 79.2);
  EXPECT_DOUBLE_EQ(total("2 GPUs, 64 GB total", 2), 31.4);
  // From the catalogue: 24,210 MiB.
  EXPECT_NEAR(total("NVIDIA GeForce RTX 3090 Ti"), 23.58, 0.01);
  EXPECT_FALSE(engine_presets().card("", 1));
  EXPECT_FALSE(engine_presets().card("some accelerator", 1));
}

TEST(NamedQuantization, HabitsOfPublishers) {
  const auto method = [](const std::string& name) {
    const auto found = tools::quantization_by_name(name).config;
    return std::string(found.substr(0, found.find(',')));
  };
  EXPECT_EQ(method("org/Model-AWQ"), R"({"quant_method":"awq")");
  EXPECT_EQ(method("org/Model-FP8"), R"({"quant_method":"fp8")");
  EXPECT_EQ(method("org/Model-FP8-dynamic"), R"({"quant_method":"compressed-tensors")");
  EXPECT_EQ(method("org/model bitsandbytes"), R"({"quant_method":"bitsandbytes")");
  EXPECT_EQ(method("org/Model-Instruct"), "");
}

// The first run of the campaign in other columns: 61.66 GiB of cache, 126,256 tokens.
TEST(VllmRuns, OtherColumnsInAnotherOrder) {
  const auto table =
      tools::TruthTable::parse(
          "extra,kv_cache_memory_gib,pp,tp,model,gpu,gpu_memory_utilization,max_model_len,"
          "init_total_memory_gib,kv_cache_tokens,dtype,quantization\r\n"
          "x,61.66,1,1,codellama/CodeLlama-7b-hf,H100-80GB,0.95,8192,79.19,126256,"
          "torch.bfloat16,None\r\n"
          "x,1.5,1,1,nobody/nothing,H100-80GB,0.95,8192,79.19,16,torch.bfloat16,None\r\n"
          "x,1.5,1,1,codellama/CodeLlama-7b-hf,Frobnicator 9,0.95,8192,,16,torch.bfloat16,None\r\n")
          .value();
  ASSERT_TRUE(tools::is_vllm_runs_table(table));
  Scores scores;
  tools::score_vllm_runs(table, truth_context(), scores);
  const auto pool = quantity(scores, "kv_gib");
  EXPECT_EQ(pool.rows, 3U);
  EXPECT_EQ(pool.unpredicted, 2U);
  EXPECT_LE(pool.max_pct, 0.2);
  EXPECT_EQ(quantity(scores, "tokens").unpredicted_rows.size(), 2U);
  EXPECT_EQ(quantity(scores, "outcome").right, 1U);
}

TEST(ModelStore, FoldersHoldBareConfigurations) {
  json::Value document = json::Value::object();
  document.set("class_defaults", read_json(VRAMGAUGE_PRESET_DIR "/class_defaults.json"));
  tools::ModelStore presets(document, {VRAMGAUGE_PRESET_DIR "/models"});
  const auto* preset = given(presets.find("meta-llama/Llama-3.1-8B-Instruct"));
  const auto bare = given(tools::read_truth_model(preset->config, &class_defaults()));
  EXPECT_EQ(bare.spec.layers.size(), preset->spec.layers.size());
  EXPECT_EQ(bare.tensors.size(), preset->tensors.size());
  EXPECT_FALSE(presets.find("../class_defaults"));
  EXPECT_FALSE(presets.find("nobody/nothing"));
  const auto* wide =
      given(presets.find_with("meta-llama__Llama-3.1-8B-Instruct", "intermediate_size", 16384));
  EXPECT_GT(wide->tensors.size(), 0U);
  EXPECT_NE(wide, preset);
}

}  // namespace
}  // namespace vramgauge::test

// Scenarios of vLLM through the facade: every field takes effect, and what the engine or the model
// cannot take has a code of its own.
#include <gtest/gtest.h>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

api::Session& session() {
  static api::Session loaded;
  static const std::string envelope =
      loaded.load_catalogue(testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  EXPECT_EQ(envelope.rfind("{\"ok\":true", 0), 0U) << envelope;
  return loaded;
}

constexpr const char* kLlama =
    R"("model":"meta-llama/Llama-3.1-8B-Instruct","weight_format":"bf16")";
constexpr const char* kHybrid = R"("model":"Qwen/Qwen3.5-9B","weight_format":"bf16")";

json::Value estimate(const std::string& model, const std::string& fields) {
  const bool has_context = fields.find("context_tokens") != std::string::npos;
  const std::string request = "{\"scenario\":{\"engine\":\"vllm\"," +
                              std::string(has_context ? "" : "\"context_tokens\":8192,") + model +
                              (fields.empty() ? "" : ",") + fields + "}}";
  auto answer = json::parse(session().call("estimate", request));
  return answer ? std::move(*answer) : json::Value::null();
}

/// The part of an answer that the engine makes, as text; the errors of a refused one.
std::string made_of(const json::Value& answer) {
  const json::Value* result = answer.find("result");
  if (result == nullptr) return json::write(answer);
  std::string text;
  for (const char* key : {"verdict", "devices", "cache", "answers", "engine"})
    text += json::write(*result->find(key));
  return text;
}

bool names(const json::Value& answer, const char* list, const std::string& code) {
  const json::Value* items = answer.find(list);
  if (items == nullptr || items->as_array() == nullptr) return false;
  for (const json::Value& item : *items->as_array()) {
    if (*item.find("code")->as_string() == code) return true;
  }
  return false;
}

std::string fact(const json::Value& answer, const std::string& key) {
  for (const json::Value& item : *answer.find("result")->find("engine")->as_array()) {
    if (*item.find("id")->as_string() == key) return json::write(*item.find("value"));
  }
  return {};
}

struct Effect {
  const char* model;
  const char* base;
  const char* changed;
};

class VllmField : public ::testing::TestWithParam<Effect> {};

TEST_P(VllmField, TakesEffect) {
  const json::Value base = estimate(GetParam().model, GetParam().base);
  const json::Value changed = estimate(GetParam().model, GetParam().changed);
  EXPECT_NE(base.find("result"), nullptr) << json::write(base);
  EXPECT_NE(changed.find("result"), nullptr) << json::write(changed);
  EXPECT_NE(made_of(base), made_of(changed));
}

constexpr const char* kTwo = R"("gpu_count":2)";
constexpr Effect kEffects[] = {
    {kLlama, "", R"("engine_version":"0.11.0")"},
    {kLlama, kTwo, R"("gpu_count":2,"pipeline_stages":2)"},
    {kLlama, kTwo, R"("gpu_count":2,"data_ranks":2,"num_requests":64)"},
    {kLlama, R"("gpu_count":4,"tensor_ranks":4)",
     R"("gpu_count":4,"tensor_ranks":2,"pipeline_stages":2)"},
    {kLlama, R"("gpu_count":2,"pipeline_stages":2)",
     R"("gpu_count":2,"pipeline_stages":2,"stage_layers":"10,22")"},
    {R"("model":"deepseek-ai/DeepSeek-V3.1","weight_format":"auto")", R"("gpu_count":8)",
     R"("gpu_count":8,"context_ranks":8)"},
    {R"("model":"Qwen/Qwen3-30B-A3B","weight_format":"bf16")",
     R"("gpu_count":3,"tensor_ranks":1,"data_ranks":3)",
     R"("gpu_count":3,"tensor_ranks":1,"data_ranks":3,"expert_parallel":"on")"},
    {kLlama, "", R"("memory_frac":0.5)"},
    {kLlama, "", R"("kv_cache_gib":4)"},
    {kLlama, "", R"("held_gib":10)"},
    {kLlama, "", R"("max_model_len":131072)"},
    {kLlama, "", R"("max_num_batched_tokens":32768)"},
    {kLlama, "", R"("max_num_seqs":16)"},
    {kLlama, "", R"("block_tokens":64)"},
    {kLlama, "", R"("enforce_eager":"on")"},
    {kHybrid, "", R"("prefix_caching":"off")"},
    {kHybrid, "", R"("mamba_cache_mode":"all")"},
    {kHybrid, "", R"("mamba_cache_mode":"none")"},
    {kHybrid, "", R"("speculative":"ngram","draft_tokens":4)"},
    {kHybrid, "", R"("speculative":"mtp")"},
    {kLlama, "", R"("speculative":"eagle","draft_tokens":3)"},
    {kLlama, "", R"("max_loras":4)"},
    {kLlama, R"("max_loras":4)", R"("max_loras":4,"max_lora_rank":64)"},
    {kHybrid, "", R"("language_model_only":"on")"},
    {kHybrid, "", R"("images_per_request":0)"},
    {R"("model":"google/gemma-3-4b-it","weight_format":"bf16")", R"("max_num_seqs":2)",
     R"("max_num_seqs":2,"images_per_request":1)"},
    {kLlama, R"("speculative":"ngram","draft_tokens":3)",
     R"("speculative":"draft","draft_model":"meta-llama/Llama-3.2-1B","draft_tokens":3)"},
    {kLlama, R"("speculative":"draft","draft_model":"meta-llama/Llama-3.2-1B","draft_tokens":3)",
     R"("speculative":"draft","draft_model":"meta-llama/Llama-3.2-1B","draft_tokens":3,
        "draft_format":"fp8-per-tensor")"},
    {kLlama, "", R"("cpu_offload_gib":4)"},
    {kLlama, "", R"("cache_type_k":"fp8")"},
    {kLlama, "", R"("num_requests":100)"},
    {kLlama, "", R"("gpu":"nvidia-a100-sxm4-80gb")"},
};
INSTANTIATE_TEST_SUITE_P(Fields, VllmField, ::testing::ValuesIn(kEffects));

struct Refused {
  const char* model;
  const char* fields;
  const char* code;
  const char* path;
};

class VllmRefused : public ::testing::TestWithParam<Refused> {};

TEST_P(VllmRefused, HasItsCodeAndPlace) {
  const json::Value answer = estimate(GetParam().model, GetParam().fields);
  ASSERT_TRUE(names(answer, "errors", GetParam().code)) << json::write(answer);
  EXPECT_EQ(*answer.find("errors")->as_array()->front().find("path")->as_string(),
            std::string("/scenario") + GetParam().path);
}

constexpr Refused kRefused[] = {
    {kLlama, R"("gpu_count":4,"tensor_ranks":2)", "engine.plan_mismatch", "/gpu_count"},
    {kLlama, R"("gpu_count":3)", "engine.not_divisible", "/tensor_ranks"},
    {kLlama, R"("gpu_count":2,"pipeline_stages":2,"stage_layers":"10,20")", "engine.not_divisible",
     "/stage_layers"},
    {kLlama, R"("gpu_count":2,"pipeline_stages":2,"stage_layers":"ten")", "value.unreadable",
     "/stage_layers"},
    {kLlama, R"("gpu_count":2,"context_ranks":3)", "engine.not_divisible", "/context_ranks"},
    {kLlama, R"("gpu_count":8,"context_ranks":2)", "value.out_of_range", "/context_ranks"},
    {kLlama, R"("max_loras":1,"max_lora_rank":17)", "value.not_a_choice", "/max_lora_rank"},
    {kLlama, R"("cache_type_k":"q8_0")", "engine.cache_type_not_served", "/cache_type_k"},
    {kLlama, R"("cache_type_k":"fp8","cache_type_v":"fp16")", "value.not_a_choice",
     "/cache_type_v"},
    {kLlama, R"("block_tokens":17)", "value.not_a_choice", "/block_tokens"},
    {kLlama, R"("max_model_len":4096)", "value.out_of_range", "/max_model_len"},
    {kLlama, R"("max_num_batched_tokens":64,"max_num_seqs":128)", "value.out_of_range",
     "/max_num_batched_tokens"},
    {kLlama, R"("speculative":"mtp")", "engine.no_draft_layers", "/speculative"},
    {kLlama, R"("speculative":"ngram")", "json.missing_key", "/draft_tokens"},
    {kLlama, R"("speculative":"draft","draft_tokens":3)", "json.missing_key", "/draft_model"},
    {kLlama, R"("speculative":"draft","draft_model":"meta-llama/Llama-3.2-1B")", "json.missing_key",
     "/draft_tokens"},
    {kLlama, R"("speculative":"draft","draft_model":"no such model","draft_tokens":3)",
     "catalogue.unknown_model", "/draft_model"},
    {kLlama,
     R"("speculative":"draft","draft_model":"meta-llama/Llama-3.2-1B","draft_format":"none",
        "draft_tokens":3)",
     "catalogue.unknown_format", "/draft_format"},
    {kLlama, R"("speculative":"draft","draft_model":"google/gemma-3n-E4B-it","draft_tokens":3)",
     "model.unsupported", "/draft_model"},
    {kLlama, R"("engine_version":"newest")", "value.unreadable", "/engine_version"},
    {kLlama, R"("gpu":"apple-m4-max-128-gb")", "engine.device_not_served", "/gpu"},
    {kLlama, R"("gpu":"tesla-p40")", "engine.device_not_served", "/gpu"},
    {R"("model":"meta-llama/Llama-3.1-8B-Instruct","weight_format":"mlx-4bit-g64")", "",
     "engine.format_not_served", "/weight_format"},
    {R"("model":"meta-llama/Llama-3.1-8B-Instruct","weight_format":"pure-TQ1_0")", "",
     "engine.format_not_served", "/weight_format"},
};
INSTANTIATE_TEST_SUITE_P(Values, VllmRefused, ::testing::ValuesIn(kRefused));

/// A start that the engine refuses is an answer, with its reason beside it.
TEST(VllmScenario, RefusalsStandBesideTheVerdict) {
  const json::Value none =
      estimate(R"("model":"meta-llama/Llama-3.3-70B-Instruct","weight_format":"bf16")", "");
  EXPECT_TRUE(names(none, "warnings", "vllm.no_memory"));
  EXPECT_EQ(fact(none, "refusal"), "\"no_memory\"");
  const json::Value lacking = estimate(kLlama, R"("memory_frac":0.5,"held_gib":70)");
  EXPECT_TRUE(names(lacking, "warnings", "vllm.lacks_free_memory"));
  EXPECT_EQ(*lacking.find("result")->find("verdict")->find("state")->as_string(), "does_not_fit");
  const json::Value longer =
      estimate(kLlama, R"("gpu":"nvidia-geforce-rtx-4090","max_model_len":131072)");
  EXPECT_TRUE(names(longer, "warnings", "vllm.too_long"));
  EXPECT_EQ(fact(longer, "refusal"), "\"too_long\"");
}

/// A limit of no images and videos is that of no inputs but text (multimodal limits all 0).
TEST(VllmScenario, WithoutImagesTheTowerIsLeftOut) {
  EXPECT_EQ(made_of(estimate(kHybrid, R"("images_per_request":0)")),
            made_of(estimate(kHybrid, R"("language_model_only":"on")")));
}

TEST(VllmScenario, DraftModelsThatCannotDraftAreNamed) {
  EXPECT_TRUE(names(estimate(kLlama, R"("speculative":"draft","draft_model":"Qwen/Qwen3-0.6B",
                                        "draft_tokens":3)"),
                    "warnings", "engine.draft_vocabulary"));
  EXPECT_TRUE(names(estimate(kLlama, R"("draft_model":"meta-llama/Llama-3.2-1B")"), "warnings",
                    "engine.draft_unused"));
}

/// The draft is on the last stage, beside its part of the model; its layers are cached there.
TEST(VllmScenario, ADraftModelIsOnTheLastStage) {
  // Parameters and tables; the allocator's rounding stands behind them.
  const auto weights = [](const json::Value& answer, std::size_t device) {
    const json::Value& found = (*answer.find("result")->find("devices")->as_array())[device];
    const json::Value& term = found.find("terms")->as_array()->front();
    uint64_t sum = 0;
    for (const std::size_t line : {0, 1})
      sum += (*term.find("lines")->as_array())[line].find("result")->as_u64().value_or(0);
    return sum;
  };
  const json::Value plain = estimate(kLlama, R"("gpu_count":2,"pipeline_stages":2)");
  const json::Value drafted =
      estimate(kLlama, R"("gpu_count":2,"pipeline_stages":2,"speculative":"draft",
                          "draft_model":"meta-llama/Llama-3.2-1B","draft_tokens":3)");
  EXPECT_EQ(weights(drafted, 0), weights(plain, 0));
  // 1,235,814,400 parameters of 2 B and a rotary table of 131,072 x 64 x 2 B.
  EXPECT_EQ(weights(drafted, 1) - weights(plain, 1), 2488406016U);
}

/// What does not fit is short of something, also where the terms are within the share.
TEST(VllmScenario, WhatDoesNotFitIsShort) {
  for (const char* fields : {R"("memory_frac":0.5,"held_gib":70)", R"("kv_cache_gib":0.5)",
                             R"("kv_cache_gib":4,"num_requests":5)"}) {
    const json::Value answer = estimate(kLlama, fields);
    const json::Value* verdict = answer.find("result")->find("verdict");
    EXPECT_EQ(*verdict->find("state")->as_string(), "does_not_fit") << fields;
    EXPECT_LT(verdict->find("margin_bytes")->as_number()->real, 0) << fields;
  }
}

/// Surprises 11, 22 and 62 of the public collection: heads are replicated past their number;
/// a window costs its chunk at short lengths; replicas hold weights and caches of their own.
TEST(VllmScenario, KnownSurprises) {
  EXPECT_TRUE(names(estimate(kLlama, R"("gpu_count":16)"), "warnings", "engine.heads_replicated"));
  const json::Value replicas = estimate(kLlama, R"("gpu_count":2,"data_ranks":2)");
  const json::Value one = estimate(kLlama, "");
  EXPECT_EQ(fact(replicas, "pool"), fact(one, "pool"));
  EXPECT_TRUE(
      names(estimate(kHybrid, R"("engine_version":"0.19.0")"), "warnings", "vllm.token_line"));
  EXPECT_TRUE(
      names(estimate(kLlama, R"("max_num_batched_tokens":131072)"), "warnings", "vllm.large_step"));
  EXPECT_TRUE(names(estimate(kLlama, R"("max_model_len":262144)"), "warnings",
                    "engine.context_beyond_model"));
  EXPECT_TRUE(names(estimate(kLlama, R"("held_gib":4)"), "warnings", "vllm.shared_card"));
  EXPECT_TRUE(names(estimate(kLlama, R"("memory_frac":0.995)"), "warnings", "vllm.outside_budget"));
  EXPECT_TRUE(names(estimate(R"("model":"Qwen/Qwen3-30B-A3B","weight_format":"bf16")",
                             R"("gpu_count":2,"expert_parallel":"on")"),
                    "warnings", "vllm.expert_copies"));
  EXPECT_TRUE(
      names(estimate(R"("model":"nvidia/NVIDIA-Nemotron-Nano-9B-v2","weight_format":"bf16")",
                     R"("engine_version":"0.10.1")"),
            "warnings", "vllm.states_profiled"));
}

/// The lines of the cache's arithmetic: label and numbers.
std::string cache_lines(const json::Value& answer) {
  const json::Value& device = answer.find("result")->find("devices")->as_array()->front();
  for (const json::Value& term : *device.find("terms")->as_array()) {
    if (*term.find("id")->as_string() == "kv_cache") return json::write(*term.find("lines"));
  }
  return {};
}

/// A window costs its step as well, so at 128 tokens (22) it has 9 blocks of 16 where full
/// attention has 8.
TEST(VllmScenario, WindowsCostMoreThanTheySaveAtShortLengths) {
  const json::Value answer = estimate(R"("model":"google/gemma-3-27b-it","weight_format":"bf16")",
                                      R"("context_tokens":128,"num_requests":1)");
  const std::string lines = cache_lines(answer);
  const auto windowed = lines.find("windowed_caches");
  ASSERT_NE(windowed, std::string::npos) << lines;
  EXPECT_NE(lines.find(" \xC3\x97 9 \xC3\x97 ", windowed), std::string::npos) << lines;
  EXPECT_NE(lines.find(" \xC3\x97 8 \xC3\x97 "), std::string::npos) << lines;
}

/// Of a hybrid each request holds states whatever its length (19), so that many short requests
/// need more than one long one of as many tokens.
TEST(VllmScenario, StatesCostEachRequest) {
  const auto cache = [](const json::Value& answer, const char* key) {
    return answer.find("result")->find("cache")->find(key)->as_u64().value_or(0);
  };
  const json::Value one = estimate(kHybrid, R"("context_tokens":32768,"num_requests":1)");
  const json::Value many = estimate(kHybrid, R"("context_tokens":1024,"num_requests":32)");
  EXPECT_GT(cache(one, "fixed_bytes_per_request"), 0U);
  EXPECT_GT(cache(many, "total_bytes"), 2 * cache(one, "total_bytes"));
}

/// 48 layers of 4 heads of 128 are 49,152 B per token at 8 bits (34).
TEST(VllmScenario, TheNeedFollowsTheCacheType) {
  const json::Value answer = estimate(R"("model":"Qwen/Qwen3-30B-A3B","weight_format":"bf16")",
                                      R"("cache_type_k":"fp8","max_model_len":221184)");
  EXPECT_EQ(fact(answer, "one_request_needs"), std::to_string(49'152ULL * 221'184));
}

/// The default budget follows the card (58): A100 2,048 tokens, H100 8,192.
TEST(VllmScenario, DefaultsFollowTheCard) {
  EXPECT_EQ(fact(estimate(kLlama, ""), "max_num_batched_tokens"), "8192");
  EXPECT_EQ(fact(estimate(kLlama, R"("gpu":"nvidia-a100-sxm4-80gb")"), "max_num_batched_tokens"),
            "2048");
}

/// Qwen3-Next names no dtype for its states, so they have the model's: 32 x 128 x 128 x 2 B and a
/// convolution's tail of (2 x 16 + 32) x 128 x 3 x 2 B are 1,097,728 B, for which a layer's block
/// of 2 heads x 256 x 2 x 2 B per token is raised to 544 tokens. Qwen3.5 names fp32.
TEST(VllmScenario, StatesHaveTheModelsOwnDtype) {
  EXPECT_EQ(
      fact(estimate(R"("model":"Qwen/Qwen3-Next-80B-A3B-Instruct","weight_format":"bf16")", ""),
           "raised_block_tokens"),
      "544");
  EXPECT_EQ(fact(estimate(R"("model":"Qwen/Qwen3.6-35B-A3B","weight_format":"bf16")", ""),
                 "raised_block_tokens"),
            "1056");
}

/// Own scales for the cache, not the weights' width, make it 8 bits wide.
TEST(VllmScenario, TheCheckpointsOwnCacheType) {
  const auto per_token = [](const json::Value& answer) {
    return answer.find("result")->find("cache")->find("bytes_per_token")->as_u64().value_or(0);
  };
  const std::string auto_cache = R"("cache_type_k":"auto")";
  const std::string scaled = R"("model":"nvidia/Qwen3.6-27B-NVFP4","weight_format":"auto")";
  const std::string plain = R"("model":"nvidia/Qwen3.6-27B-NVFP4","weight_format":"bf16")";
  EXPECT_GT(per_token(estimate(plain, auto_cache)), per_token(estimate(scaled, auto_cache)));
}

}  // namespace
}  // namespace vramgauge

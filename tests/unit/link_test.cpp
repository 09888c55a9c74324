#include "api/link.h"

#include <random>

#include <gtest/gtest.h>

namespace vramgauge::api {
namespace {

bool has_warning(const DecodedLink& decoded, ErrorCode code, std::string_view path) {
  for (const Diagnostic& warning : decoded.warnings) {
    if (warning.code == code && warning.path == path) return true;
  }
  return false;
}

DecodedLink decoded(std::string_view link) {
  Result<DecodedLink> result = decode_link(link);
  EXPECT_TRUE(result.has_value()) << link;
  return result ? std::move(*result) : DecodedLink{{}, json::Value::object(), {}};
}

TEST(Link, HoldsOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(encode_link({}), "v=1");
  Scenario scenario;
  scenario.context_tokens = 8192;
  scenario.gpu_memory_utilization_frac = *Decimal::parse("0.9");
  EXPECT_EQ(encode_link(scenario), "v=1&context_tokens=8192&gpu_memory_utilization_frac=0.9");
}

// Fields that came after version 1's first: links written before them mean these values.
constexpr const char* kLaterDefaults =
    R"(,"program":"server","engine_version":"","batch_tokens":2048,"ubatch_tokens":512,)"
    R"("flash_attn":"auto","swa_full":"off","kv_unified":"off","kv_offload":"on",)"
    R"("op_offload":"on","gpu_layers":9999,"cpu_moe_layers":0,"more_gpus":"","tensor_split":"",)"
    R"("override_tensors":"","host_ram_gib":0,"projector_gib":0,"lora_gib":0,)"
    R"("tensor_ranks":0,"pipeline_stages":1,"stage_layers":"","data_ranks":1,"context_ranks":1,)"
    R"("expert_parallel":"off","dp_attention":"off","memory_frac":0,"kv_cache_gib":0,)"
    R"("held_gib":0,"max_model_len":0,"max_num_batched_tokens":0,"max_num_seqs":0,)"
    R"("block_tokens":0,"cuda_graph_max_bs":0,"enforce_eager":"off","prefix_caching":"on",)"
    R"("mamba_cache_mode":"auto","swa_full_tokens_ratio":0,"speculative":"off","draft_tokens":0,)"
    R"("draft_model":"","draft_format":"","draft_gpu_layers":9999,"draft_cache_type":"fp16",)"
    R"("max_loras":0,"max_lora_rank":16,"language_model_only":"off","cpu_offload_gib":0,)"
    R"("cache_implementation":"dynamic","images_per_request":999,"calibration":""})";

// Written by version 1: its meaning never changes.
TEST(Link, OfVersion1IsFrozen) {
  const DecodedLink link = decoded(
      "https://example.org/gauge/#v=1&model=Qwen/"
      "Qwen3-30B-A3B&weight_format=awq-4bit-g128&gpu=custom"
      "&gpu_memory_gib=23.5&gpu_count=2&cache_type_k=q8_0&cache_type_v=q4_0&context_tokens=32768"
      "&num_requests=7&shared_prefix_tokens=1000&kv_block_tokens=16"
      "&gpu_memory_utilization_frac=0.92&overhead_factor=1.2&fixed_gib=0.5&live_buffers=4"
      "&prefill_batch=3&prefill_tokens=2048");
  EXPECT_TRUE(link.warnings.empty());
  EXPECT_EQ(json::write(write_scenario(link.scenario)),
            R"({"model":"Qwen/Qwen3-30B-A3B","model_config":"","weight_format":"awq-4bit-g128",)"
            R"("gpu":"custom","gpu_memory_gib":23.5,"gpu_count":2,"engine":"generic",)"
            R"("cache_type_k":"q8_0","cache_type_v":"q4_0","context_tokens":32768,)"
            R"("num_requests":7,"shared_prefix_tokens":1000,"kv_block_tokens":16,)"
            R"("gpu_memory_utilization_frac":0.92,"overhead_factor":1.2,"fixed_gib":0.5,)"
            R"("live_buffers":4,"prefill_batch":3,"prefill_tokens":2048)" +
                std::string(kLaterDefaults));
}

// The defaults that a bare link means are frozen with it.
TEST(Link, OfVersion1HasFrozenDefaults) {
  EXPECT_EQ(json::write(write_scenario(decoded("v=1").scenario)),
            R"({"model":"meta-llama/Llama-3.3-70B-Instruct","model_config":"",)"
            R"("weight_format":"Q4_K_M","gpu":"nvidia-h100-80gb-hbm3","gpu_memory_gib":0,)"
            R"("gpu_count":1,"engine":"generic","cache_type_k":"fp16","cache_type_v":"",)"
            R"("context_tokens":65536,"num_requests":2,"shared_prefix_tokens":0,)"
            R"("kv_block_tokens":1,"gpu_memory_utilization_frac":1,"overhead_factor":1.15,)"
            R"("fixed_gib":1,"live_buffers":0,"prefill_batch":0,"prefill_tokens":0)" +
                std::string(kLaterDefaults));
}

TEST(Link, SaysWhatItDidNotUnderstand) {
  const DecodedLink link =
      decoded("v=1&colour=red&context_tokens=many&num_requests=3&num_requests=4&gpu=%4");
  EXPECT_TRUE(has_warning(link, ErrorCode::link_unknown_key, "/colour"));
  EXPECT_TRUE(has_warning(link, ErrorCode::link_bad_value, "/context_tokens"));
  EXPECT_TRUE(has_warning(link, ErrorCode::link_duplicate_key, "/num_requests"));
  EXPECT_TRUE(has_warning(link, ErrorCode::link_bad_escape, "/gpu"));
  EXPECT_EQ(link.scenario.num_requests, 3U);
  EXPECT_EQ(link.scenario.context_tokens, Scenario{}.context_tokens);
}

TEST(Link, AnOptionIsOneOfItsWords) {
  const DecodedLink link = decoded("v=1&flash_attn=maybe&program=bench");
  EXPECT_TRUE(has_warning(link, ErrorCode::link_bad_value, "/flash_attn"));
  EXPECT_EQ(link.scenario.flash_attn, "auto");
  EXPECT_EQ(link.scenario.program, "bench");
}

TEST(Link, RefusesWhatItMustNotGuess) {
  EXPECT_EQ(decode_link("v=2&context_tokens=1").error().front().code,
            ErrorCode::link_newer_version);
  EXPECT_EQ(decode_link("").error().front().code, ErrorCode::link_no_fragment);
  EXPECT_EQ(decode_link("https://example.org/").error().front().code, ErrorCode::link_no_fragment);
  EXPECT_EQ(decode_link(std::string(50U << 20, 'a')).error().front().code,
            ErrorCode::link_too_long);
}

TEST(Link, WithoutAVersionIsReadWithAWarning) {
  EXPECT_TRUE(has_warning(decoded("context_tokens=8k"), ErrorCode::link_missing_version, "/v"));
}

/// One of the words of an option; any text for other fields.
std::string random_text(const Field& field, std::mt19937_64& random) {
  if (field.kind == FieldKind::option)
    return std::string(field.list.substr(0, field.list.find(',')));
  std::string text;
  for (uint64_t i = random() % 12; i > 0; --i)
    text += static_cast<char>(' ' + random() % 95);
  return text;
}

Scenario random_scenario(std::mt19937_64& random) {
  Scenario scenario;
  for (const Field& field : scenario_fields()) {
    if (random() % 2 == 0) continue;
    if (field.text != nullptr) {
      scenario.*field.text = random_text(field, random);
    } else {
      const uint64_t value = field.min + random() % (field.max - field.min + 1);
      if (field.number != nullptr) scenario.*field.number = value;
      if (field.decimal != nullptr) scenario.*field.decimal = Decimal::from_micros(value);
    }
  }
  return scenario;
}

TEST(Link, WriteThenReadIsTheIdentity) {
  std::mt19937_64 random(20261129);
  for (int round = 0; round < 2000; ++round) {
    const Scenario scenario = random_scenario(random);
    const std::string link = encode_link(scenario);
    const DecodedLink read = decoded(link);
    EXPECT_TRUE(read.warnings.empty()) << link;
    ASSERT_EQ(json::write(write_scenario(read.scenario)), json::write(write_scenario(scenario)))
        << link;
  }
}

}  // namespace
}  // namespace vramgauge::api

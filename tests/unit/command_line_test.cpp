// Command lines of engines as scenarios, and the other way.
#include "import/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/tools.h"
#include "command_line_cases.h"
#include "report/command_line.h"

namespace vramgauge {
namespace {

json::Value call(std::string_view method, const json::Value& request) {
  const auto reply = json::parse(api::Tools().call(method, json::write(request)));
  return reply ? *reply : json::Value::null();
}

json::Value parse(std::string_view text) {
  json::Value request = json::Value::object();
  request.set("text", text);
  return call("parse_command", request);
}

std::string text_at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

/// What of a patch is not the scenario's default; the engine always is there.
json::Value changes(const json::Value& patch) {
  json::Value out = json::Value::object();
  for (const json::Member& member : *patch.as_object()) {
    const Field* field = find_field(member.key);
    if (field == nullptr) continue;
    const bool is_usual = json::write(field_json({}, *field)) == json::write(member.value);
    if (!is_usual) out.set(member.key, member.value);
  }
  return out;
}

/// An expected patch with its keys in the order of the fields and the defaults left out.
json::Value expected_changes(std::string_view text) {
  const auto given = json::parse(text);
  json::Value out = json::Value::object();
  for (const Field& field : scenario_fields()) {
    const json::Value* value = given ? given->find(field.key) : nullptr;
    if (value != nullptr) out.set(field.key, *value);
  }
  EXPECT_EQ(out.as_object()->size(), given->as_object()->size()) << text;
  return out;
}

json::Value in_field_order(const json::Value& patch) {
  json::Value out = json::Value::object();
  for (const Field& field : scenario_fields()) {
    if (const json::Value* value = patch.find(field.key)) out.set(field.key, *value);
  }
  return out;
}

std::vector<std::string> names(const json::Value& result, std::string_view list) {
  std::vector<std::string> out;
  for (const json::Value& item : *result.find(list)->as_array())
    out.push_back(text_at(item, "flag"));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> sorted_words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty())
    out.emplace_back(take_part(text, ' '));
  std::sort(out.begin(), out.end());
  return out;
}

class PublishedCommand : public testing::TestWithParam<CommandCase> {};

TEST_P(PublishedCommand, MeansThisScenario) {
  const CommandCase& given = GetParam();
  const json::Value reply = parse(given.text);
  const json::Value* result = reply.find("result");
  ASSERT_NE(result, nullptr) << json::write(reply);
  EXPECT_EQ(json::write(in_field_order(changes(*result->find("scenario_patch")))),
            json::write(expected_changes(given.patch)));
  EXPECT_EQ(text_at(*result->find("model"), "text"), given.model);
  EXPECT_EQ(names(*result, "unknown"), sorted_words(given.unknown));
  EXPECT_EQ(names(*result, "not_modelled"), sorted_words(given.not_modelled));
}

INSTANTIATE_TEST_SUITE_P(Documentation, PublishedCommand, testing::ValuesIn(kCommandCases),
                         [](const auto& each) { return std::string(each.param.name); });

json::Value patch_of(std::string_view text) {
  const json::Value reply = parse(text);
  const json::Value* result = reply.find("result");
  return result == nullptr ? json::Value::object() : *result->find("scenario_patch");
}

std::string patched(std::string_view text, std::string_view key) {
  const json::Value patch = patch_of(text);
  const json::Value* value = patch.find(key);
  return value == nullptr ? std::string("none") : json::write(*value);
}

TEST(CommandLine, VllmNumbersHaveSuffixes) {
  // vllm/engine/arg_utils.py, human_readable_int: 1k is 1,000, 1K is 1,024, 25.6k is 25,600.
  EXPECT_EQ(patched("vllm serve m --max-model-len 8k", "max_model_len"), "8000");
  EXPECT_EQ(patched("vllm serve m --max-model-len=32K", "max_model_len"), "32768");
  EXPECT_EQ(patched("vllm serve m --max-model-len 25.6k", "max_model_len"), "25600");
  EXPECT_EQ(patched("vllm serve m --kv-cache-memory-bytes 2G", "kv_cache_gib"), "2");
  EXPECT_EQ(patched("vllm serve m --max-model-len auto", "max_model_len"), "none");
  // SGLang's are plain.
  EXPECT_EQ(patched("sglang serve --model-path m --context-length 8k", "max_model_len"), "none");
}

TEST(CommandLine, SpellingsOfSwitches) {
  EXPECT_EQ(patched("vllm serve m --no-enable-prefix-caching", "prefix_caching"), "\"off\"");
  EXPECT_EQ(patched("vllm serve m --enable-prefix-caching=False", "prefix_caching"), "\"off\"");
  EXPECT_EQ(patched("vllm serve m --enforce-eager", "enforce_eager"), "\"on\"");
  EXPECT_EQ(patched("llama-server -m m.gguf -nkvo", "kv_offload"), "\"off\"");
  EXPECT_EQ(patched("llama-bench -m m.gguf -nkvo 0", "kv_offload"), "\"on\"");
  EXPECT_EQ(patched("llama-bench -m m.gguf -nkvo 1", "kv_offload"), "\"off\"");
}

TEST(CommandLine, ContextOfLlamaCppIsSharedByItsRequests) {
  const std::string text = "llama-server -m m.gguf -c 32768 -np 4";
  EXPECT_EQ(patched(text, "context_tokens"), "8192");
  EXPECT_EQ(patched(text, "num_requests"), "4");
  EXPECT_EQ(patched(text, "kv_unified"), "\"off\"");
}

TEST(CommandLine, RepeatedOverridesAllCount) {
  EXPECT_EQ(patched("llama-server -m m.gguf -ot a=CPU -ot b=CUDA1", "override_tensors"),
            "\"a=CPU,b=CUDA1\"");
}

TEST(CommandLine, LeftToTheEngineIsLeftOut) {
  const json::Value patch = patch_of("llama-server -m m-Q4_K_M.gguf");
  EXPECT_EQ(patch.find("context_tokens"), nullptr);
  EXPECT_EQ(patch.find("gpu_layers"), nullptr);
  EXPECT_EQ(patch.find("gpu_count"), nullptr);
}

// llama.cpp's common/arg.cpp as of 2026-06-07: the newer spellings and those that they replaced.
TEST(CommandLine, DraftModelsOfLlamaCpp) {
  const std::string text =
      "llama-server -m Qwen3-8B-Q4_K_M.gguf -md Qwen3-0.6B-Q8_0.gguf --spec-type draft-simple "
      "-ngld 20 --draft-max 8 -ctkd q8_0 -ctvd q8_0";
  const json::Value reply = parse(text);
  const json::Value& result = *reply.find("result");
  EXPECT_EQ(text_at(*result.find("draft_model"), "text"), "Qwen3-0.6B-Q8_0.gguf");
  EXPECT_EQ(patched(text, "draft_format"), "\"Q8_0\"");
  EXPECT_EQ(patched(text, "draft_gpu_layers"), "20");
  EXPECT_EQ(patched(text, "draft_tokens"), "8");
  EXPECT_EQ(patched(text, "draft_cache_type"), "\"q8_0\"");
  EXPECT_TRUE(names(result, "not_modelled").empty());
  EXPECT_EQ(patched("llama-server -m a-Q8_0.gguf --spec-draft-model b-Q8_0.gguf "
                    "--spec-draft-n-max 5 --spec-draft-ngl all",
                    "draft_tokens"),
            "5");
  // As the model's own.
  EXPECT_EQ(patched("llama-server -m a-Q8_0.gguf -md b-Q8_0.gguf", "draft_format"), "\"\"");
}

TEST(CommandLine, OtherWaysOfDraftingAreNotModelled) {
  const auto not_modelled = [](std::string_view text) {
    const json::Value reply = parse(text);
    return names(*reply.find("result"), "not_modelled");
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(not_modelled("llama-server -m m.gguf --spec-type draft-mtp"), Names{"--spec-type"});
  // The scenario has one type for keys and values.
  EXPECT_EQ(not_modelled("llama-server -m m.gguf -md d.gguf -ctkd q8_0"), Names{"-ctvd"});
  EXPECT_EQ(not_modelled("llama-server -m m.gguf -md d.gguf -ctkd q8_0 -ctvd q4_0"),
            Names{"-ctvd"});
}

TEST(CommandLine, DraftModelsOfServers) {
  const std::string vllm =
      R"(vllm serve Qwen/Qwen3-8B --speculative-config '{"model":"Qwen/Qwen3-0.6B",)"
      R"("num_speculative_tokens":5}')";
  EXPECT_EQ(patched(vllm, "speculative"), "\"draft\"");
  EXPECT_EQ(patched(vllm, "draft_tokens"), "5");
  EXPECT_EQ(text_at(*parse(vllm).find("result")->find("draft_model"), "text"), "Qwen/Qwen3-0.6B");
  EXPECT_EQ(patched(R"(vllm serve m --speculative-config '{"method":"draft_model","model":"d"}')",
                    "speculative"),
            "\"draft\"");
  // Of a head that drafts no catalogue knows the size.
  const json::Value eagle =
      parse(R"(vllm serve m --speculative-config '{"method":"eagle3","model":"a/b-EAGLE3"}')");
  EXPECT_EQ(eagle.find("result")->find("draft_model"), nullptr);
  EXPECT_EQ(patched("sglang serve --model-path m --speculative-algorithm STANDALONE "
                    "--speculative-draft-model-path d --speculative-num-draft-tokens 4",
                    "speculative"),
            "\"draft\"");
}

// vllm/engine/arg_utils.py: JSON, or pairs as they were written once.
TEST(CommandLine, ImagesOfARequest) {
  const auto images = [](const std::string& limit) {
    return patched("vllm serve m --limit-mm-per-prompt '" + limit + "'", "images_per_request");
  };
  EXPECT_EQ(images(R"({"image":2})"), "2");
  EXPECT_EQ(images("image=2,video=0"), "2");
  EXPECT_EQ(images(R"({"image":{"count":3,"width":512}})"), "3");
  EXPECT_EQ(images(R"({"image":0,"video":0})"), "0");
  EXPECT_EQ(images(R"({"video":1})"), "999");
  EXPECT_EQ(patched("vllm serve m", "images_per_request"), "999");
  // The tower stays for videos.
  EXPECT_EQ(images(R"({"image":0})"), "999");
}

TEST(CommandLine, ListsWhatIsNotUnderstood) {
  const json::Value reply =
      parse("vllm serve m --frobnicate 3 --max-num-seqs many --api-key secret");
  const json::Value& result = *reply.find("result");
  EXPECT_EQ(names(result, "unknown"), std::vector<std::string>{"--frobnicate"});
  EXPECT_EQ(text_at(result.find("unknown")->as_array()->front(), "value"), "3");
  EXPECT_EQ(names(result, "ignored"), std::vector<std::string>{"--api-key"});
  EXPECT_EQ(json::write(reply).find("secret"), std::string::npos);
  const json::Value& warning = reply.find("warnings")->as_array()->front();
  EXPECT_EQ(text_at(warning, "code"), "command.value_skipped");
}

TEST(CommandLine, BadTextsAreErrors) {
  const auto code = [](std::string_view text) {
    const json::Value reply = parse(text);
    const json::Value* errors = reply.find("errors");
    return errors == nullptr ? std::string() : text_at(errors->as_array()->front(), "code");
  };
  EXPECT_EQ(code("vllm serve 'm"), "command.unreadable");
  EXPECT_EQ(code("ls -l"), "command.not_found");
  EXPECT_EQ(code(""), "command.not_found");
  EXPECT_EQ(code(std::string((1 << 20) + 1, 'x')), "command.unreadable");
}

TEST(CommandLine, NamesOfModels) {
  const auto names_of = [](std::string_view text) { return model_name(text).candidates; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of("Qwen/Qwen3-8B"), (Names{"Qwen/Qwen3-8B", "Qwen3-8B"}));
  EXPECT_EQ(names_of("/hub/models--Qwen--Qwen3-8B/snapshots/abc").front(), "Qwen/Qwen3-8B");
  EXPECT_EQ(names_of("bartowski/meta-llama_Llama-3.3-70B-Instruct-GGUF:Q8_0")[1],
            "meta-llama/Llama-3.3-70B-Instruct");
  EXPECT_EQ(model_name("a/Qwen3-8B-UD-Q4_K_XL.gguf").weight_format, "");
  EXPECT_EQ(model_name("a/Qwen3-8B-UD-IQ4_XS.gguf").weight_format, "IQ4_XS");
  EXPECT_EQ(model_name("Qwen3-8B.Q6_K.gguf").candidates.front(), "Qwen3-8B");
  EXPECT_EQ(ollama_model_name("llama3.3:70b-instruct-q4_K_M").candidates,
            (Names{"llama3.3 70b-instruct", "llama3.3 70b"}));
  EXPECT_EQ(ollama_model_name("qwen3").weight_format, "");
}

json::Value write(std::string_view scenario, std::string_view launcher = "") {
  json::Value request = json::Value::object();
  request.set("scenario", *json::parse(scenario));
  request.set("launcher", launcher);
  return call("command", request);
}

std::string line(const json::Value& reply, std::string_view program) {
  const json::Value* result = reply.find("result");
  if (result == nullptr) return json::write(reply);
  for (const json::Value& each : *result->find("lines")->as_array()) {
    if (text_at(each, "program") == program) return text_at(each, "text");
  }
  return {};
}

TEST(CommandLine, WritesOnlyWhatDiffers) {
  EXPECT_EQ(line(write(R"({"engine":"vllm","model":"Qwen/Qwen3-8B","weight_format":"auto",
                           "context_tokens":32768,"gpu_count":2})"),
                 "vllm"),
            "vllm serve Qwen/Qwen3-8B \\\n  --tensor-parallel-size 2 \\\n  --max-model-len 32768");
  EXPECT_EQ(line(write(R"({"engine":"llama_cpp","model":"Qwen/Qwen3-8B","weight_format":"Q4_K_M",
                           "context_tokens":8192,"num_requests":4,"cache_type_k":"q8_0"})"),
                 "llama-server"),
            "llama-server -m Qwen/Qwen3-8B-Q4_K_M.gguf \\\n  -c 32768 \\\n  -np 4 \\\n  -ngl 9999 "
            "\\\n  -ctk q8_0 \\\n  -ctv q8_0");
}

TEST(CommandLine, OptionsWithoutASwitchGoIntoAFile) {
  const json::Value reply =
      write(R"({"engine":"tensorrt_llm","model":"Qwen/Qwen3-8B","weight_format":"auto",
                "cache_type_k":"fp8","block_tokens":64})");
  EXPECT_EQ(line(reply, "extra_llm_api_options.yaml"),
            "cat > extra_llm_api_options.yaml <<'EOF'\nkv_cache_config:\n  dtype: fp8\n  "
            "tokens_per_block: 64\nEOF");
  EXPECT_EQ(line(reply, "trtllm-serve"),
            "trtllm-serve Qwen/Qwen3-8B \\\n  --extra_llm_api_options extra_llm_api_options.yaml "
            "\\\n  --max_seq_len 65536");
}

TEST(CommandLine, NamesWhatACommandCannotSay) {
  const json::Value reply = write(R"({"engine":"vllm","weight_format":"awq-4bit-g128",
                                      "num_requests":7,"held_gib":2})");
  EXPECT_EQ(json::write(*reply.find("result")->find("not_carried")),
            R"(["weight_format","num_requests","held_gib"])");
  EXPECT_EQ(text_at(reply.find("warnings")->as_array()->front(), "code"),
            "command.needs_checkpoint");
  EXPECT_EQ(text_at(write(R"({"engine":"generic"})").find("errors")->as_array()->front(), "code"),
            "command.no_program");
  EXPECT_EQ(text_at(write(R"({"engine":"vllm","gpu_count":3,"data_ranks":2})")
                        .find("errors")
                        ->as_array()
                        ->front(),
                    "code"),
            "engine.not_divisible");
}

}  // namespace
}  // namespace vramgauge

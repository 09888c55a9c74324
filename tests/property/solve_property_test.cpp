// Answers of `solve` over random scenarios: what it says fits is estimated to fit, and one step
// more is not, unless the answer names another bound.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using testing::read_file;

constexpr uint64_t kScenarios = 5000;
/// How often the method `estimate` is what an answer is held against.
constexpr uint64_t kFullEvery = 10;

class Random {
 public:
  uint64_t below(uint64_t end) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % end;
  }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(list.size()))];
  }

 private:
  uint64_t state_ = 88172645463325252U;
};

struct Engine {
  std::string id;
  std::vector<std::string> formats;
  std::vector<std::string> cache_types;
  std::vector<std::string> targets;
  /// Of a hundred scenarios; an estimate of llama.cpp takes some fifty times that of the rule.
  uint64_t share = 0;
};

const std::vector<Engine>& engines() {
  static const std::vector<std::string> server_targets = {"num_requests", "context_tokens",
                                                          "prefill_budget"};
  static const std::vector<Engine> list = {
      {"generic",
       {"bf16", "Q4_K_M", "fp8-per-tensor", "awq-4bit-g128"},
       {"fp16", "fp8", "q8_0"},
       {"num_requests", "context_tokens", "prefill_budget"},
       75},
      {"llama_cpp",
       {"Q4_K_M", "Q8_0", "F16"},
       {"fp16", "q8_0", "q4_0"},
       {"num_requests", "context_tokens", "prefill_budget", "gpu_layers", "cpu_moe_layers"},
       4},
      {"vllm", {"bf16", "fp8-per-tensor"}, {"fp16", "fp8"}, server_targets, 8},
      {"sglang", {"bf16", "fp8-per-tensor"}, {"fp16", "fp8"}, server_targets, 5},
      {"tensorrt_llm", {"bf16", "fp8-per-tensor"}, {"fp16", "fp8"}, server_targets, 5},
      {"transformers", {"bf16"}, {"fp16"}, {"num_requests", "context_tokens"}, 3},
  };
  return list;
}

const std::vector<std::string> kModels = {
    "meta-llama/Llama-3.1-8B-Instruct",
    "Qwen/Qwen2.5-7B-Instruct",
    "google/gemma-2-9b",
    "deepseek-ai/DeepSeek-V2-Lite",
    "Qwen/Qwen3-30B-A3B",
    "mistralai/Mistral-7B-v0.1",
    "openai/gpt-oss-20b",
    "meta-llama/Llama-3.3-70B-Instruct",
    "ai21labs/AI21-Jamba-1.5-Mini",
};
const std::vector<std::string> kGpus = {"tesla-t4", "nvidia-geforce-rtx-4090", "nvidia-l40s",
                                        "nvidia-h100-80gb-hbm3", "nvidia-h200"};

class Solver {
 public:
  Solver() {
    session_.load_catalogue(read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  }

  json::Value call(const char* method, const json::Value& request) {
    auto reply = json::parse(session_.call(method, json::write(request)));
    EXPECT_TRUE(reply.has_value());
    return reply ? std::move(*reply) : json::Value();
  }

  /// Whether an estimate fits, asked for by itself or, which is faster, as a sweep of one point;
  /// nothing where it is refused.
  std::optional<bool> fits(const json::Value& scenario, bool is_full) {
    json::Value request = json::Value::object();
    request.set("scenario", scenario);
    const json::Value reply = call(is_full ? "estimate" : "sweep", request);
    const json::Value* result = reply.find("result");
    if (result == nullptr) return std::nullopt;
    if (is_full) return *result->find("verdict")->find("state")->as_string() != "does_not_fit";
    const std::string states = *result->find("states")->as_string();
    return states == "-" ? std::nullopt : std::optional<bool>(states != "n");
  }

 private:
  api::Session session_;
};

json::Value random_scenario(Random& random, const Engine& engine) {
  json::Value scenario = json::Value::object();
  scenario.set("engine", engine.id);
  scenario.set("model", random.of(kModels));
  scenario.set("gpu", random.of(kGpus));
  scenario.set("weight_format", random.of(engine.formats));
  scenario.set("cache_type_k", random.of(engine.cache_types));
  scenario.set("gpu_count", uint64_t{1} << random.below(3));
  scenario.set("context_tokens", 1 + random.below(uint64_t{1} << (10 + random.below(7))));
  scenario.set("num_requests", 1 + random.below(uint64_t{1} << random.below(7)));
  if (engine.id == "generic") {
    scenario.set("kv_block_tokens", uint64_t{1} << random.below(5));
    scenario.set("live_buffers", random.below(3));
  }
  return scenario;
}

json::Value with(const json::Value& scenario, const std::string& field, uint64_t value) {
  json::Value at = scenario;
  at.set(field, value);
  return at;
}

std::string word(const json::Value& object, const char* key) {
  const json::Value* found = object.find(key);
  return found == nullptr || found->as_string() == nullptr ? "" : *found->as_string();
}

TEST(SolveProperty, TheAnswerFitsAndTheNextDoesNot) {
  Solver solver;
  Random random;
  std::vector<uint64_t> answered(engines().size());
  for (uint64_t i = 0; i < kScenarios; ++i) {
    std::size_t which = 0;
    for (uint64_t dice = random.below(100); dice >= engines()[which].share; ++which)
      dice -= engines()[which].share;
    const Engine& engine = engines()[which];
    const json::Value scenario = random_scenario(random, engine);
    json::Value request = json::Value::object();
    request.set("scenario", scenario);
    request.set("for", random.of(engine.targets));
    const json::Value reply = solver.call("solve", request);
    const json::Value* result = reply.find("result");
    if (result == nullptr) continue;
    const std::string about = json::write(request) + "\n" + json::write(*result);
    const std::string field = word(*result, "field");
    const auto value = result->find("value")->as_u64();
    const bool is_full = i % kFullEvery == 0;
    const auto fits = [&](uint64_t number) {
      return solver.fits(with(scenario, field, number), is_full);
    };
    if (!value) {
      EXPECT_NE(fits(*result->find("at")->find("value")->as_u64()), true) << about;
      continue;
    }
    ++answered[which];
    EXPECT_EQ(fits(*value), true) << about;
    const std::string binding = word(*result->find("binding"), "kind");
    if (binding == "none" || binding == "model_context") continue;
    const uint64_t next = *result->find("next")->find("value")->as_u64();
    EXPECT_EQ(next, word(request, "for") == "cpu_moe_layers" ? *value - 1 : *value + 1) << about;
    EXPECT_NE(fits(next), true) << about;
    if (HasFailure()) break;
  }
  for (std::size_t i = 0; i < answered.size(); ++i)
    RecordProperty(engines()[i].id, static_cast<int>(answered[i]));
  EXPECT_GT(answered[0], 2000U);
  EXPECT_GT(answered[1], 100U);
  for (std::size_t i = 2; i < engines().size(); ++i)
    EXPECT_GT(answered[i], 50U) << engines()[i].id;
}

TEST(SearchProperty, RowsOfTheWholeCatalogueAreEstimates) {
  constexpr const char* kScenario =
      R"({"context_tokens":8192,"num_requests":3,"held_gib":1.5,"gpu_memory_utilization_frac":0.9})";
  Solver solver;
  json::Value request = json::Value::object();
  request.set("scenario", *json::parse(kScenario));
  request.set("over", "all");
  request.set("query", "27b");
  request.set("sort", "margin");
  request.set("limit", uint64_t{200});
  const json::Value reply = solver.call("search", request);
  const json::Value::Array& rows = *reply.find("result")->find("rows")->as_array();
  ASSERT_EQ(rows.size(), 200U);
  for (std::size_t i = 0; i < rows.size(); i += 9) {
    json::Value one = json::Value::object();
    one.set("scenario", *json::parse(kScenario));
    json::Value scenario = *one.find("scenario");
    for (const char* key : {"model", "gpu", "weight_format"})
      scenario.set(key, *rows[i].find(key));
    one.set("scenario", scenario);
    const json::Value estimate = solver.call("estimate", one);
    const json::Value& verdict = *estimate.find("result")->find("verdict");
    for (const char* key : {"state", "needed_bytes", "usable_bytes", "margin_bytes"})
      EXPECT_EQ(json::write(*rows[i].find(key)), json::write(*verdict.find(key)))
          << json::write(rows[i]);
  }
}

// Sizes of models are kept from one search to the next.
TEST(SearchProperty, ASecondSearchAnswersAsAFirst) {
  const auto request = [](uint64_t context_tokens) {
    json::Value scenario = json::Value::object();
    scenario.set("context_tokens", context_tokens);
    json::Value out = json::Value::object();
    out.set("scenario", std::move(scenario));
    out.set("over", "all");
    out.set("query", "gemma");
    return out;
  };
  Solver used;
  const json::Value short_context = used.call("search", request(4096));
  const json::Value second = used.call("search", request(131'072));
  Solver fresh;
  EXPECT_EQ(json::write(second), json::write(fresh.call("search", request(131'072))));
  EXPECT_NE(json::write(second), json::write(short_context));
}

}  // namespace
}  // namespace vramgauge

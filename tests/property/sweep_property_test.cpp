// A point of a sweep is what the method `estimate` says of the same scenario: what an engine
// keeps from one point to the next changes no answer.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/session.h"
#include "support/files.h"
#include "units/index.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Engine {
  std::string id;
  std::string format;
  /// How the GPUs share the work: each a case of its own.
  std::vector<Fields> spreads;
  /// A setting of its own, which moves more than the workload, with its values.
  std::string setting;
  std::vector<uint64_t> values;
};

const Fields kOneGpu = {};
const Fields kTensorRanks = {{"gpu_count", "4"}};
const Fields kStages = {{"gpu_count", "4"}, {"pipeline_stages", "2"}};
const Fields kReplicas = {{"gpu_count", "8"}, {"data_ranks", "4"}};
const Fields kExperts = {{"gpu_count", "8"}, {"expert_parallel", "on"}};

const std::vector<Engine>& engines() {
  static const std::vector<Engine> list = {
      {"generic", "Q4_K_M", {kOneGpu, kTensorRanks}, "live_buffers", {0, 2, 5}},
      {"llama_cpp", "Q4_K_M", {kOneGpu, kTensorRanks}, "ubatch_tokens", {128, 512, 2048}},
      {"vllm",
       "bf16",
       {kOneGpu, kTensorRanks, kStages, kReplicas, kExperts},
       "max_num_batched_tokens",
       {2048, 8192, 32768}},
      {"sglang",
       "bf16",
       {kOneGpu, kTensorRanks, kStages, kReplicas},
       "max_num_batched_tokens",
       {2048, 8192, 16384}},
      {"tensorrt_llm",
       "bf16",
       {kOneGpu, kTensorRanks, kStages},
       "max_num_batched_tokens",
       {2048, 8192, 16384}},
      {"transformers", "bf16", {kOneGpu, kTensorRanks}, "prefill_tokens", {0, 512, 4096}},
  };
  return list;
}

/// Dense, windows, latents, experts, states of several kinds, towers.
const std::vector<std::string> kModels = {
    "meta-llama/Llama-3.1-8B-Instruct",
    "google/gemma-2-9b",
    "deepseek-ai/DeepSeek-V2-Lite",
    "openai/gpt-oss-20b",
    "ai21labs/AI21-Jamba-1.5-Mini",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "Qwen/Qwen2.5-VL-7B-Instruct",
};

const std::vector<uint64_t> kContexts = {512, 8192, 100'000};
const std::vector<uint64_t> kRequests = {1, 5, 64};

/// Points that were compared, by their state.
using Tally = std::map<char, uint64_t>;

class Sweeper {
 public:
  Sweeper() {
    session_.load_catalogue(testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  }

  /// Compares points of a sweep over two fields.
  void compare(const json::Value& scenario, const std::string& x, const std::vector<uint64_t>& xs,
               const std::string& y, const std::vector<uint64_t>& ys, Tally& tally) {
    json::Value request = json::Value::object();
    request.set("scenario", scenario);
    request.set("x", axis(x, xs));
    request.set("y", axis(y, ys));
    request.set("terms", json::Value::boolean(true));
    const json::Value reply = call("sweep", request);
    const json::Value* swept = reply.find("result");
    // What is refused whatever the numbers are is refused at the first.
    if (swept == nullptr) return;
    // Three by three points: the corners and the middle.
    for (std::size_t i = 0; i < xs.size() * ys.size(); i += 2) {
      json::Value at = scenario;
      at.set(x, xs[i % xs.size()]);
      at.set(y, ys[i / xs.size()]);
      SCOPED_TRACE(json::write(at));
      ++tally[compare_point(*swept, i, at)];
    }
  }

 private:
  static json::Value axis(const std::string& field, const std::vector<uint64_t>& values) {
    json::Value list = json::Value::array();
    for (const uint64_t value : values)
      list.push(json::Value::integer(value));
    json::Value out = json::Value::object();
    out.set("field", field);
    out.set("values", std::move(list));
    return out;
  }

  json::Value call(const char* method, const json::Value& request) {
    auto reply = json::parse(session_.call(method, json::write(request)));
    EXPECT_TRUE(reply.has_value());
    return reply ? std::move(*reply) : json::Value();
  }

  static uint64_t number(const json::Value& list, std::size_t index) {
    const json::Value::Array& items = *list.as_array();
    return items[items.size() == 1 ? 0 : index].as_u64().value();
  }

  char compare_point(const json::Value& swept, std::size_t index, const json::Value& scenario) {
    const char state = (*swept.find("states")->as_string())[index];
    json::Value request = json::Value::object();
    request.set("scenario", scenario);
    const json::Value reply = call("estimate", request);
    const json::Value* result = reply.find("result");
    EXPECT_EQ(result == nullptr, state == '-');
    if (result == nullptr || state == '-') return state;
    const json::Value& verdict = *result->find("verdict");
    const std::map<std::string, char> letters = {
        {"fits", 'f'}, {"tight", 't'}, {"does_not_fit", 'n'}};
    EXPECT_EQ(letters.at(*verdict.find("state")->as_string()), state);
    EXPECT_EQ(verdict.find("needed_bytes")->as_u64(), number(*swept.find("needed_bytes"), index));
    EXPECT_EQ(verdict.find("usable_bytes")->as_u64(), number(*swept.find("usable_bytes"), index));
    const std::size_t worst = index_of(verdict.find("worst_device")->as_u64().value());
    for (const json::Value& term :
         *(*result->find("devices")->as_array())[worst].find("terms")->as_array()) {
      const std::string& id = *term.find("id")->as_string();
      EXPECT_EQ(term.find("bytes")->as_u64(), number(*swept.find("terms")->find(id), index)) << id;
    }
    return state;
  }

  api::Session session_;
};

class SweepEqualsEstimate : public ::testing::TestWithParam<Engine> {};

TEST_P(SweepEqualsEstimate, AtItsPoints) {
  const Engine& engine = GetParam();
  Sweeper sweeper;
  Tally tally;
  for (const std::string& model : kModels) {
    for (const Fields& spread : engine.spreads) {
      json::Value scenario = json::Value::object();
      scenario.set("engine", engine.id);
      scenario.set("model", model);
      scenario.set("weight_format", engine.format);
      for (const auto& [field, value] : spread)
        scenario.set(field, value);
      sweeper.compare(scenario, "context_tokens", kContexts, "num_requests", kRequests, tally);
      sweeper.compare(scenario, "num_requests", kRequests, engine.setting, engine.values, tally);
      sweeper.compare(scenario, engine.setting, engine.values, "context_tokens", kContexts, tally);
    }
  }
  EXPECT_GT(tally['f'], 15U);
  EXPECT_GT(tally['n'], 15U);
}

INSTANTIATE_TEST_SUITE_P(Engines, SweepEqualsEstimate, ::testing::ValuesIn(engines()),
                         [](const auto& test) { return test.param.id; });

}  // namespace
}  // namespace vramgauge

// A calibration as text, in a scenario, and from a log: what is predicted with it is what the log
// measured.
#include "specs/calibration.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using testing::names_in;
using testing::read_file;

constexpr int64_t kGiB = int64_t{1} << 30;
const std::string kLogs = std::string(VRAMGAUGE_TEST_DIR) + "/data/logs/";

api::Session& session() {
  static api::Session loaded;
  static const std::string envelope =
      loaded.load_catalogue(read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  EXPECT_EQ(envelope.rfind("{\"ok\":true", 0), 0U) << envelope;
  return loaded;
}

/// A member by its path, "result/rows"; null when there is none.
const json::Value& at(const json::Value& value, std::string_view path) {
  static const json::Value kNone;
  const json::Value* found = &value;
  while (found != nullptr && !path.empty()) {
    const std::string_view key = path.substr(0, path.find('/'));
    const json::Value::Array* list = found->as_array();
    if (list != nullptr) {
      const auto index = static_cast<std::size_t>(key.front() - '0');
      found = index < list->size() ? &(*list)[index] : nullptr;
    } else {
      found = found->find(key);
    }
    path.remove_prefix(std::min(key.size() + 1, path.size()));
  }
  return found == nullptr ? kNone : *found;
}

std::string text_at(const json::Value& value, std::string_view path) {
  const std::string* text = at(value, path).as_string();
  return text == nullptr ? std::string() : *text;
}

int64_t number_at(const json::Value& value, std::string_view path) {
  const json::Number* number = at(value, path).as_number();
  return number == nullptr ? 0 : static_cast<int64_t>(number->real);
}

json::Value ask(std::string_view method, const json::Value& request) {
  return json::parse(session().call(method, json::write(request))).value_or(json::Value());
}

/// Of Llama 3.1 8B on an H100.
json::Value estimate(std::string_view engine, std::string_view calibration,
                     std::string_view format = "bf16") {
  json::Value scenario = json::Value::object();
  scenario.set("engine", engine);
  scenario.set("model", std::string_view("meta-llama/Llama-3.1-8B-Instruct"));
  scenario.set("weight_format", format);
  scenario.set("context_tokens", uint64_t{8192});
  scenario.set("num_requests", uint64_t{1});
  scenario.set("calibration", calibration);
  json::Value request = json::Value::object();
  request.set("scenario", std::move(scenario));
  return ask("estimate", request);
}

std::string code_of(const json::Value& envelope) { return text_at(envelope, "errors/0/code"); }

TEST(Calibration, IsReadAndWritten) {
  const auto read = Calibration::parse("runtime=-0.11,activations=0.42");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), "activations=+0.42,runtime=-0.11");
  EXPECT_EQ(read->added_bytes(TermId::activations), (42 * kGiB + 50) / 100);
  EXPECT_EQ(read->added_bytes(TermId::runtime), -(11 * kGiB + 50) / 100);
  EXPECT_FALSE(read->added_bytes(TermId::weights));
  EXPECT_TRUE(Calibration::parse("")->is_empty());
}

TEST(Calibration, WhatIsWrongIsNamed) {
  const auto code = [](std::string_view text) {
    const auto read = Calibration::parse(text);
    return read ? std::string_view() : error_info(read.error().front().code).name;
  };
  for (const char* text : {"activations", "activations=", "activations=x", "=1", ",", "runtime=1,",
                           "runtime=1,runtime=1", "runtime=1025", "runtime=+-1", "runtime=1e3"})
    EXPECT_TRUE(code(text) == "value.unreadable" || code(text) == "value.not_a_choice") << text;
  EXPECT_EQ(code("graphs=+1"), "value.not_a_choice");
  EXPECT_EQ(code("kv_cache=+1"), "calibration.exact_term");
  const auto unknown = Calibration::parse("graphs=+1");
  EXPECT_NE(message_of(unknown.error().front()).find("graphs"), std::string::npos);
}

TEST(Calibration, EveryEngineTakesIt) {
  for (const char* engine : {"vllm", "sglang", "tensorrt_llm", "transformers", "llama_cpp"}) {
    const std::string_view format = std::string_view(engine) == "llama_cpp" ? "Q4_K_M" : "bf16";
    const json::Value without = estimate(engine, "", format);
    const json::Value with = estimate(engine, "activations=+0.5,runtime=-0.125", format);
    ASSERT_TRUE(at(with, "ok").as_boolean() != nullptr && *at(with, "ok").as_boolean())
        << engine << json::write(with).substr(0, 400);
    const auto term = [](const json::Value& envelope, std::string_view key) -> const json::Value& {
      return at(envelope, "result/devices/0/terms/" + std::string(key));
    };
    EXPECT_EQ(number_at(term(with, "2"), "bytes"),
              number_at(term(without, "2"), "bytes") + kGiB / 2)
        << engine;
    EXPECT_EQ(number_at(term(with, "3"), "bytes"),
              number_at(term(without, "3"), "bytes") - kGiB / 8)
        << engine;
    EXPECT_EQ(text_at(term(with, "2"), "basis"), "measured") << engine;
    EXPECT_EQ(number_at(term(with, "2"), "high_bytes") - number_at(term(with, "2"), "low_bytes"),
              2 * (kGiB / 100))
        << engine;
    EXPECT_EQ(number_at(with, "result/devices/0/total/bytes"),
              number_at(without, "result/devices/0/total/bytes") + kGiB / 2 - kGiB / 8)
        << engine;
    const json::Value::Array* lines = term(with, "2").find("lines")->as_array();
    EXPECT_EQ(text_at(lines->back(), "label"), "calibrated") << engine;
    EXPECT_EQ(text_at(term(with, "2"), "source"), "calibrated from a log") << engine;
    EXPECT_NE(json::write(at(with, "warnings")).find("calibration.in_force"), std::string::npos)
        << engine;
  }
}

TEST(Calibration, WhatIsExactOrWouldBeNegativeIsRefused) {
  EXPECT_EQ(code_of(estimate("llama_cpp", "weights=+1", "Q4_K_M")), "calibration.exact_term");
  EXPECT_EQ(code_of(estimate("vllm", "runtime=-500")), "value.out_of_range");
  EXPECT_EQ(code_of(estimate("vllm", "kv_cache=+1")), "calibration.exact_term");
  EXPECT_EQ(code_of(estimate("sglang", "x=+1")), "value.not_a_choice");
  EXPECT_EQ(text_at(estimate("sglang", "x=+1"), "errors/0/path"), "/scenario/calibration");
}

json::Value check(const std::string& text, std::string_view calibration) {
  json::Value scenario = json::Value::object();
  if (!calibration.empty()) scenario.set("calibration", calibration);
  json::Value request = json::Value::object();
  request.set("text", text);
  request.set("scenario", std::move(scenario));
  return ask("check_log", request);
}

/// Rows that a calibration moves.
bool is_moved(const json::Value& row, const std::string& calibration) {
  const std::string quantity = text_at(row, "quantity");
  const bool is_gpu_buffer = quantity == "compute_buffer" && text_at(row, "where") == "0";
  return calibration.find((is_gpu_buffer ? "activations" : quantity) + "=") != std::string::npos;
}

// For every log at hand: predicted with what it teaches is what it measured.
TEST(Calibration, AfterALogThePredictionIsWhatItMeasured) {
  int num_terms = 0;
  for (const std::string& name : names_in(kLogs, ".log")) {
    const std::string text = read_file(kLogs + name);
    const json::Value first = check(text, "");
    const std::string calibration = text_at(first, "result/calibration/text");
    if (calibration.empty()) continue;
    const json::Value again = check(text, calibration);
    EXPECT_EQ(text_at(again, "result/calibration/text"), calibration) << name;
    for (const json::Value& row : *at(again, "result/rows").as_array()) {
      if (!is_moved(row, calibration) || row.find("predicted") == nullptr) continue;
      ++num_terms;
      EXPECT_LE(std::abs(number_at(row, "residual")), kGiB / 10'000)
          << name << " " << text_at(row, "quantity");
    }
    EXPECT_NE(text_at(first, "result/calibration/link").find("calibration="), std::string::npos);
  }
  EXPECT_GE(num_terms, 8);
}

}  // namespace
}  // namespace vramgauge

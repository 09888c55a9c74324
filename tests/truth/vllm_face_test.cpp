// The runs of vllm_h100_v019.csv asked as a user would ask them: scenarios through the facade.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using Row = std::map<std::string, std::string>;

constexpr double kBytesPerGib = 1073741824.0;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, ',');)
    fields.push_back(field);
  return fields;
}

/// Rows that started.
std::vector<Row> started_rows() {
  std::istringstream text(
      testing::read_file(std::string(VRAMGAUGE_TEST_DIR) + "/truth/vllm_h100_v019.csv"));
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> columns = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(text, line)) {
    if (line.rfind("ok,", 0) != 0) continue;
    const std::vector<std::string> fields = fields_of(line);
    Row row;
    for (std::size_t i = 0; i < fields.size(); ++i)
      row[columns[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

std::string weight_format(const Row& row) {
  if (row.at("dtype") == "torch.float32") return "fp32";
  if (row.at("quantization") == "fp8") return "fp8-per-tensor";
  return row.at("quantization") == "None" ? "bf16" : "auto";
}

std::string scenario_of(const Row& row) {
  const std::string gpus = std::to_string(std::stoull(row.at("tp")) * std::stoull(row.at("pp")));
  return R"({"engine":"vllm","engine_version":"0.19.0","gpu":"nvidia-h100-80gb-hbm3","model":")" +
         row.at("model") + R"(","weight_format":")" + weight_format(row) + R"(","gpu_count":)" +
         gpus + R"(,"pipeline_stages":)" + row.at("pp") + R"(,"memory_frac":)" +
         row.at("gpu_memory_utilization") + R"(,"context_tokens":)" + row.at("max_model_len") +
         R"(,"num_requests":1,"cache_type_k":")" + row.at("kv_cache_dtype") + "\"}";
}

double fact(const json::Value& result, const std::string& id) {
  for (const json::Value& item : *result.find("engine")->as_array()) {
    if (*item.find("id")->as_string() == id) return item.find("value")->as_number()->real;
  }
  ADD_FAILURE() << "no " << id;
  return 0;
}

/// Mean and largest relative error.
struct Errors {
  double sum = 0;
  double worst = 0;
  int count = 0;

  void add(double predicted, double measured) {
    const double error = std::fabs(predicted / measured - 1);
    sum += error;
    worst = std::max(worst, error);
    ++count;
  }
  double mean() const { return sum / count; }
};

TEST(VllmFace, RunsOfTheCampaign) {
  api::Session session;
  session.load_catalogue(testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  Errors pool;
  Errors tokens;
  int missing = 0;
  for (const Row& row : started_rows()) {
    const auto answer =
        json::parse(session.call("estimate", R"({"scenario":)" + scenario_of(row) + "}"));
    ASSERT_TRUE(answer.has_value());
    const json::Value* result = answer->find("result");
    if (result == nullptr) {
      std::printf("%s: %s\n", row.at("model").c_str(), json::write(*answer).substr(0, 300).c_str());
      ++missing;
      continue;
    }
    const double kv = fact(*result, "pool") / kBytesPerGib;
    std::printf("%-50s tp %s pp %s: pool %.2f %s, tokens %.0f %s\n", row.at("model").c_str(),
                row.at("tp").c_str(), row.at("pp").c_str(), kv,
                row.at("kv_cache_memory_gib").c_str(), fact(*result, "logged_tokens"),
                row.at("kv_cache_tokens").c_str());
    pool.add(kv, std::stod(row.at("kv_cache_memory_gib")));
    tokens.add(fact(*result, "logged_tokens"), std::stod(row.at("kv_cache_tokens")));
  }
  std::printf("pool mean %.3f %% max %.3f %%, tokens mean %.3f %%\n", 100 * pool.mean(),
              100 * pool.worst, 100 * tokens.mean());
  EXPECT_EQ(missing, 0);
  EXPECT_LE(pool.mean(), 0.01);
  EXPECT_LE(pool.worst, 0.04);
  EXPECT_LE(tokens.mean(), 0.012);
}

}  // namespace
}  // namespace vramgauge

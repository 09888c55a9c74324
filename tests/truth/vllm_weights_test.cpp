// Weights as vLLM 0.19 loads them on H100s, against the line "Model loading took" of the first
// worker in 43 logged runs (vllm_h100_v019.csv).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "engine/vllm_weights.h"
#include "model/weights.h"
#include "models.h"

namespace vramgauge::test {
namespace {

using Row = std::map<std::string, std::string>;

/// Fields of a line; a quoted field may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<Row> vllm_runs() {
  std::istringstream text(read_text(VRAMGAUGE_TEST_DIR "/truth/vllm_h100_v019.csv"));
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> columns = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> fields = fields_of(line);
    Row row;
    for (size_t i = 0; i < columns.size() && i < fields.size(); ++i)
      row[columns[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

std::string slug_of(std::string model) {
  model.replace(model.find('/'), 1, "__");
  return model;
}

/// What a preset's quantization_config says under `key`.
const json::Value* quantization_key(const Row& row, const char* key) {
  static std::map<std::string, json::Value> presets;
  const std::string slug = slug_of(row.at("model"));
  if (presets.count(slug) == 0)
    presets[slug] = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + slug + ".json");
  const json::Value* quantization = presets[slug].find("config")->find("quantization_config");
  return quantization == nullptr ? nullptr : quantization->find(key);
}

/// How a run's own columns and its checkpoint's configuration say that linear layers are stored.
VllmStorage linear_storage(const Row& row) {
  VllmStorage storage;
  const std::string& method = row.at("quantization");
  if (method == "fp8") {
    storage.bits = 8;
    storage.has_matrix_scale = true;
  } else if (method == "compressed-tensors") {
    // Both checkpoints of the campaign: 8-bit floats with a scale per output channel.
    storage.bits = 8;
    storage.has_row_scales = true;
  } else if (method == "gptq_marlin") {
    storage.bits = quantization_key(row, "bits")->as_u64().value();
    storage.group_size = quantization_key(row, "group_size")->as_u64().value();
    storage.has_act_order = *quantization_key(row, "desc_act")->as_boolean();
    storage.is_symmetric = *quantization_key(row, "sym")->as_boolean();
    storage.has_zeros = true;
    storage.is_packed = true;
  }
  return storage;
}

/// The projections of decoder layers; the embedding, the output and towers stay plain.
bool is_quantised(const WeightTensor& tensor) { return tensor.layer >= 0 && tensor.is_matrix; }

VllmLoadedWeights loaded(const Row& row) {
  const ModelSpec spec = preset_model(slug_of(row.at("model"))).value();
  const std::vector<WeightTensor> tensors = weight_tensors(spec);
  VllmModel model;
  model.spec = &spec;
  model.tensors = &tensors;
  model.compute_capability = 90;
  model.dtype_bytes = row.at("dtype") == "torch.float32" ? 4 : 2;
  for (const WeightTensor& tensor : tensors)
    model.storage.push_back(is_quantised(tensor) ? linear_storage(row) : VllmStorage{});
  ParallelPlan plan;
  plan.tensor_ranks = std::stoull(row.at("tp"));
  plan.pipeline_stages = std::stoull(row.at("pp"));
  const auto weights = load_vllm_weights(model, plan, PlanRank{});
  if (!weights) throw std::runtime_error(row.at("model") + ": " + first_message(weights.error()));
  return *weights;
}

double gib(Bytes bytes) { return static_cast<double>(bytes.count()) / (1U << 30U); }

TEST(VllmWeights, LoadedBytesOfEveryRun) {
  double sum = 0;
  double worst = 0;
  int count = 0;
  for (const Row& row : vllm_runs()) {
    if (row.at("status") != "ok") continue;
    const VllmLoadedWeights weights = loaded(row);
    const double measured = std::stod(row.at("weight_memory_gib"));
    const double error = gib(weights.allocated) / measured - 1;
    std::printf("%-58s tp %s pp %s %-14s %-18s %8.3f %8.2f %+6.3f %%\n", row.at("model").c_str(),
                row.at("tp").c_str(), row.at("pp").c_str(), row.at("dtype").c_str(),
                row.at("quantization").c_str(), gib(weights.allocated), measured, 100 * error);
    sum += std::fabs(error);
    worst = std::max(worst, std::fabs(error));
    ++count;
  }
  std::printf("%d runs: mean error %.3f %%, largest %.3f %%\n", count, 100 * sum / count,
              100 * worst);
  EXPECT_EQ(count, 38);
  EXPECT_LE(sum / count, 0.0015);
  EXPECT_LE(worst, 0.006);
}

}  // namespace
}  // namespace vramgauge::test

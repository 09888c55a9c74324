// vLLM 0.19 on H100s: what its start-up log says of 38 runs (vllm_h100_v019.csv), from settings and
// configuration alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "vllm_engine_support.h"

namespace vramgauge::test {
namespace {

std::string slug_of(std::string model) {
  model.replace(model.find('/'), 1, "__");
  return model;
}

const json::Value* quantization_key(const std::string& slug, const char* key) {
  const json::Value* quantization = preset_config(slug).find("quantization_config");
  return quantization == nullptr ? nullptr : quantization->find(key);
}

/// How a run's own columns and its checkpoint's configuration say that linear layers are stored.
VllmStorage linear_storage(const CsvRow& row) {
  VllmStorage storage;
  const std::string slug = slug_of(row.at("model"));
  const std::string& method = row.at("quantization");
  if (method == "fp8") {
    storage.bits = 8;
    storage.has_matrix_scale = true;
  } else if (method == "compressed-tensors") {
    storage.bits = 8;
    storage.has_row_scales = true;
  } else if (method == "gptq_marlin") {
    storage.bits = quantization_key(slug, "bits")->as_u64().value();
    storage.group_size = quantization_key(slug, "group_size")->as_u64().value();
    storage.has_act_order = *quantization_key(slug, "desc_act")->as_boolean();
    storage.is_symmetric = *quantization_key(slug, "sym")->as_boolean();
    storage.has_zeros = true;
    storage.is_packed = true;
  }
  return storage;
}

VllmModel vllm_model(const CsvRow& row, const ModelSpec& spec,
                     const std::vector<WeightTensor>& tensors, uint64_t dtype_bytes) {
  VllmModel model;
  model.spec = &spec;
  model.tensors = &tensors;
  model.compute_capability = 90;
  model.dtype_bytes = dtype_bytes;
  for (const WeightTensor& tensor : tensors) {
    const bool is_quantised = tensor.layer >= 0 && tensor.is_matrix;
    model.storage.push_back(is_quantised ? linear_storage(row) : VllmStorage{});
  }
  return model;
}

VllmEstimate estimate_of(const CsvRow& row, const VllmProfile& profile) {
  const std::string slug = slug_of(row.at("model"));
  VllmInputs inputs;
  inputs.spec = &preset_spec(slug);
  inputs.dtype_bytes = row.at("dtype") == "torch.float32" ? 4 : 2;
  inputs.plan.tensor_ranks = std::stoull(row.at("tp"));
  inputs.plan.pipeline_stages = std::stoull(row.at("pp"));
  inputs.device.name = row.at("gpu");
  inputs.device.total = bytes_from_gib(std::stod(row.at("init_total_memory_gib")));
  inputs.flags.gpu_memory_utilization = Decimal::parse(row.at("gpu_memory_utilization"));
  const std::string element = row.at("kv_cache_dtype") == "fp8" ? "fp8" : "fp16";
  inputs.cache.cache_type = cache_type_named(inputs.dtype_bytes == 4 ? "fp32" : element);
  inputs.cache.max_model_len = std::stoull(row.at("max_model_len"));
  inputs.workload = {inputs.cache.max_model_len, 1};
  inputs.encoder = vllm_encoder_item(*inputs.spec);
  const std::vector<WeightTensor> tensors = weight_tensors(*inputs.spec);
  const VllmModel model = vllm_model(row, *inputs.spec, tensors, inputs.dtype_bytes);
  for (uint64_t stage = 0; stage < inputs.plan.pipeline_stages; ++stage)
    inputs.stage_weights.push_back(
        value_or_throw(load_vllm_weights(model, inputs.plan, {stage, 0, 0}), slug));
  return value_or_throw(estimate_vllm(inputs, profile), slug);
}

/// Errors of one quantity over rows.
struct Errors {
  double sum = 0;
  double worst = 0;
  int count = 0;

  void add(double error) {
    sum += std::fabs(error);
    worst = std::max(worst, std::fabs(error));
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / count; }
};

/// The quantities of one half of the models, or of all.
struct Score {
  Errors kv;
  Errors tokens;
  Errors concurrency;
  Errors activation;
  Errors non_torch;

  void print(const char* what) const {
    std::printf(
        "%-12s %2d rows: KV mean %.3f %% max %.3f %%; tokens mean %.3f %%; concurrency mean %.3f "
        "%%; activation mean %.3f max %.3f GiB; non-torch mean %.3f max %.3f GiB\n",
        what, kv.count, 100 * kv.mean(), 100 * kv.worst, 100 * tokens.mean(),
        100 * concurrency.mean(), activation.mean(), activation.worst, non_torch.mean(),
        non_torch.worst);
  }
};

bool is_text_granite(const CsvRow& row) {
  return row.at("model").find("granite-3") != std::string::npos;
}

void add_row(Score& score, const CsvRow& row, const VllmEstimate& estimate) {
  const auto measured = [&row](const char* key) { return std::stod(row.at(key)); };
  const VllmStage& stage = estimate.stages.front();
  const double tokens = static_cast<double>(estimate.pool.token_line);
  const double concurrency = static_cast<double>(estimate.pool.concurrency_hundredths()) / 100;
  const double kv = gib(stage.pool);
  const double activation = gib(stage.activation.peak);
  const double non_torch = gib(stage.runtime.bytes);
  std::printf(
      "%-50s tp %s pp %s len %5s | act %5.2f %5.2f | non-torch %5.2f %5.2f | KV %6.2f "
      "%6.2f %+6.2f %% | tokens %8.0f %8.0f %+6.2f %% | x %7.2f %7.2f\n",
      row.at("model").c_str(), row.at("tp").c_str(), row.at("pp").c_str(),
      row.at("max_model_len").c_str(), activation, measured("activation_memory_gib"), non_torch,
      measured("non_torch_forward_gib"), kv, measured("kv_cache_memory_gib"),
      100 * (kv / measured("kv_cache_memory_gib") - 1), tokens, measured("kv_cache_tokens"),
      100 * (tokens / measured("kv_cache_tokens") - 1), concurrency, measured("max_concurrency"));
  score.kv.add(kv / measured("kv_cache_memory_gib") - 1);
  score.tokens.add(tokens / measured("kv_cache_tokens") - 1);
  score.concurrency.add(concurrency / measured("max_concurrency") - 1);
  score.activation.add(activation - measured("activation_memory_gib"));
  if (!is_text_granite(row)) score.non_torch.add(non_torch - measured("non_torch_forward_gib"));
}

std::vector<CsvRow> runs() {
  std::vector<CsvRow> rows = csv_rows(VRAMGAUGE_TEST_DIR "/truth/vllm_h100_v019.csv");
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const CsvRow& row) { return row.at("status") != "ok"; }),
             rows.end());
  return rows;
}

/// What the campaign's own constants come to in some of its runs, over what is derived.
void fit(VllmProfile& profile, const std::vector<CsvRow>& rows) {
  profile.profile_extra_gib.value = Decimal();
  double extra = 0;
  std::map<std::string, std::pair<double, int>> non_torch;
  for (const CsvRow& row : rows) {
    const VllmEstimate estimate = estimate_of(row, profile);
    extra +=
        std::stod(row.at("activation_memory_gib")) - gib(estimate.stages.front().activation.peak);
    if (is_text_granite(row)) continue;
    auto& [sum, count] = non_torch[row.at("tp") + " " + row.at("pp")];
    sum += std::stod(row.at("non_torch_forward_gib"));
    ++count;
  }
  profile.profile_extra_gib.value =
      Decimal::from_double(std::max(extra / static_cast<double>(rows.size()), 0.0)).value();
  const auto set = [&non_torch](BandedDecimal& constant, const char* spread) {
    const auto [sum, count] = non_torch[spread];
    if (count > 0) constant.value = Decimal::from_double(sum / count).value();
  };
  set(profile.non_torch.one_gib, "1 1");
  set(profile.non_torch.two_gib, "2 1");
  set(profile.non_torch.four_gib, "4 1");
}

TEST(VllmEngine, ConstantsOfHalfTheModelsHoldForTheOtherHalf) {
  std::vector<std::string> models;
  for (const CsvRow& row : runs()) {
    if (std::find(models.begin(), models.end(), row.at("model")) == models.end())
      models.push_back(row.at("model"));
  }
  std::vector<CsvRow> halves[2];
  for (const CsvRow& row : runs()) {
    const auto place = std::find(models.begin(), models.end(), row.at("model")) - models.begin();
    halves[place % 2].push_back(row);
  }
  for (const int fitted : {0, 1}) {
    VllmProfile profile = vllm_profile_named("0.19.0");
    fit(profile, halves[fitted]);
    std::printf(
        "extra %.3f, non-torch %.3f / %.3f / %.3f GiB\n",
        profile.profile_extra_gib.value.to_double(), profile.non_torch.one_gib.value.to_double(),
        profile.non_torch.two_gib.value.to_double(), profile.non_torch.four_gib.value.to_double());
    Score scores[2];
    for (const int half : {fitted, 1 - fitted}) {
      for (const CsvRow& row : halves[half])
        add_row(scores[half], row, estimate_of(row, profile));
      scores[half].print(half == fitted ? "fitted half" : "other half");
    }
    const Score& other = scores[1 - fitted];
    EXPECT_LE(other.kv.mean(), 0.010);
    EXPECT_LE(other.kv.worst, 0.04);
    EXPECT_LE(other.tokens.mean(), 0.012);
    EXPECT_LE(other.concurrency.mean(), 0.012);
    EXPECT_LE(other.activation.mean(), 0.15);
    EXPECT_LE(other.activation.worst, 0.6);
    EXPECT_LE(other.non_torch.worst, 0.1);
  }
}

TEST(VllmEngine, EveryRunOfTheCampaign) {
  const VllmProfile profile = vllm_profile_named("0.19.0");
  Score all;
  for (const CsvRow& row : runs())
    add_row(all, row, estimate_of(row, profile));
  all.print("all");
  EXPECT_EQ(all.kv.count, 38);
  EXPECT_LE(all.kv.mean(), 0.010);
  EXPECT_LE(all.kv.worst, 0.04);
  EXPECT_LE(all.tokens.mean(), 0.012);
  EXPECT_LE(all.concurrency.mean(), 0.012);
  EXPECT_LE(all.activation.mean(), 0.15);
  EXPECT_LE(all.activation.worst, 0.6);
  EXPECT_LE(all.non_torch.worst, 0.1);
}

}  // namespace
}  // namespace vramgauge::test
